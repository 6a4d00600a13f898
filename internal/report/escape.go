package report

import "github.com/mvpcheck/mvpcheck/internal/text"

// What stands in a report from elsewhere goes through these.

func appendEscaped(dst []byte, s string) []byte { return text.AppendPrintable(dst, s) }
func textColumns(s string) int                  { return text.Columns(s) }
func shellQuote(s string) string                { return text.ShellWord(s) }
func shellFile(name string) string              { return text.ShellFile(name) }

// Printable is s with all that does not print made visible.
func Printable(s string) string { return text.Printable(s) }
