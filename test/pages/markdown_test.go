package pages

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	renderer "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"
)

// render reads a report as GitHub does, raw HTML included, as far as goldmark has it.
func render(t *testing.T, markdown string) *html.Node {
	t.Helper()
	var out bytes.Buffer
	md := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote), goldmark.WithRendererOptions(renderer.WithUnsafe()))
	if err := md.Convert([]byte(markdown), &out); err != nil {
		t.Fatal(err)
	}
	doc, err := html.Parse(&out)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// What a report has: nothing else may come of what it quotes.
var allowed = map[string]bool{
	"html": true, "head": true, "body": true, "p": true, "strong": true, "code": true, "pre": true, "ul": true, "li": true, "a": true,
	"table": true, "thead": true, "tbody": true, "tr": true, "th": true, "td": true, "details": true, "summary": true,
}

// What GitHub makes links, pings and pictures of in text that is no code.
var live = regexp.MustCompile(`@[A-Za-z0-9]|#[0-9]|\bGH-[0-9]|://|www\.|\b[0-9a-f]{7,40}\b|:[a-z0-9_+-]+:|\$`)

func checkMarkdown(t *testing.T, markdown string) (text string) {
	t.Helper()
	if n := len(markdown); n > 65536 {
		t.Errorf("%d bytes: GitHub takes 65,536", n)
	}
	var all strings.Builder
	var walk func(n *html.Node, code bool)
	walk = func(n *html.Node, code bool) {
		switch n.Type {
		case html.ElementNode:
			if !allowed[n.Data] {
				t.Errorf("an element %s", n.Data)
			}
			if n.Data == "a" && !strings.HasPrefix(attribute(n, "href"), "https://github.com/mvpcheck/mvpcheck/blob/main/docs/rules/MVP") {
				t.Errorf("a link to %q", attribute(n, "href"))
			}
			if n.Data == "table" {
				checkTable(t, n)
			}
			code = code || n.Data == "code" || n.Data == "pre"
		case html.CommentNode:
			t.Errorf("a comment %q", n.Data)
		case html.TextNode:
			all.WriteString(n.Data)
			if found := live.FindString(n.Data); !code && found != "" {
				t.Errorf("%q is no code in %q", found, n.Data)
			}
			if !code && strings.Contains(n.Data, "[MVP") {
				t.Errorf("a link without an address: %q", n.Data)
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c, code)
		}
	}
	walk(render(t, markdown), false)
	return all.String()
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// checkTable: each row has as many cells as the head, and none of them is one that the renderer filled in.
func checkTable(t *testing.T, table *html.Node) {
	t.Helper()
	var widths []int
	for n := range table.Descendants() {
		if n.Data == "tr" {
			cells := 0
			for c := range n.ChildNodes() {
				if c.Data == "td" || c.Data == "th" {
					cells++
					if c.FirstChild == nil {
						t.Error("an empty cell")
					}
				}
			}
			widths = append(widths, cells)
		}
	}
	for _, w := range widths {
		if w != widths[0] || len(widths) < 2 {
			t.Errorf("rows of %v cells", widths)
			return
		}
	}
}

func TestMarkdown(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			text := checkMarkdown(t, report(t, c, "markdown"))
			for _, says := range c.says {
				if c.name != "check-many" && !strings.Contains(text, says) {
					t.Errorf("it does not say %q", says)
				}
			}
		})
	}
}

func TestEveryMarkdown(t *testing.T) {
	for _, file := range glob(t, "evidence/*.json") {
		checkMarkdown(t, report(t, reportCase{dir: "evidence", args: "probe --replay " + file}, "markdown"))
	}
	for _, file := range glob(t, "plan/*.yaml") {
		checkMarkdown(t, report(t, reportCase{dir: "plan", args: "plan", paths: []string{file}}, "markdown"))
	}
	for _, file := range glob(t, "cases/*") {
		checkMarkdown(t, report(t, reportCase{dir: "cases", args: "check", paths: []string{file}}, "markdown"))
	}
}
