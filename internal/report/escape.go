package report

import "github.com/mvpcheck/mvpcheck/internal/text"

// What stands in a report from elsewhere goes through these. They have names of their own, as much here is called text.

// Printable is s with all that does not print made visible.
func Printable(s string) string { return text.Printable(s) }

func appendEscaped(dst []byte, s string) []byte { return text.AppendPrintable(dst, s) }
func textColumns(s string) int                  { return text.Columns(s) }
func countOf(n int, noun string) string         { return text.Count(n, noun) }
func plural(n int, noun string) string          { return text.Plural(n, noun, noun+"s") }
