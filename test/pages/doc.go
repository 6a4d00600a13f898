// Package pages has the tests that read mvpcheck's reports as their readers do: the pages of -o html in a browser, and
// -o markdown by a renderer that is not ours. It is a module of its own, so that what these need is no dependency of mvpcheck.
package pages
