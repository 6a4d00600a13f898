package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// repo is the root of the repository.
const repo = "../../"

// A page is a file of the documentation that is written by hand.
type page struct {
	name  string // below the repository's root
	lines []string
}

// A block is what stands between two fences. The comment on the line above the first one says what to do with it:
//
//	<!-- run in=testdata/plan/plain.yaml:cluster.yaml exit=1,0 -->
//
// runs its commands in the folder of the page, where plain.yaml is then there as cluster.yaml, or under its own name where
// no other is given; the exit codes are those of the commands, 0 where none is given. Lines that begin with "$ " are the
// commands of a console block, and what stands below is what they print; a line "..." stands for any lines.
//
//	<!-- file cluster.yaml -->
//
// writes the block into the folder of the page.
type block struct {
	page        *page
	first, last int // lines between the fences: [first, last)
	language    string
	action      string // of the comment: run, file or empty
	args        []string
}

func (b *block) text() string { return strings.Join(b.page.lines[b.first:b.last], "\n") + "\n" }

// at is the place of a block, for messages.
func (b *block) at() string { return fmt.Sprintf("%s:%d", b.page.name, b.first) }

// pages returns the README and the guide, among others.
func pages(t *testing.T) []*page {
	t.Helper()
	names := []string{repo + "README.md", repo + "test/kinder/README.md"}
	guide, err := filepath.Glob(repo + "docs/guide/*.md")
	if err != nil || len(guide) == 0 {
		t.Fatalf("no guide: %v", err)
	}
	var out []*page
	for _, name := range append(names, guide...) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		p := &page{name: strings.TrimPrefix(filepath.ToSlash(name), repo), lines: strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")}
		out = append(out, p)
	}
	return out
}

var comment = regexp.MustCompile(`^<!-- (\w+) (.*?) ?-->$`)

// blocks returns the fenced blocks of a page. Indented blocks are not used, so that none is overlooked.
func (p *page) blocks(t *testing.T) []*block {
	t.Helper()
	var out []*block
	var open *block
	for i, line := range p.lines {
		fence, ok := strings.CutPrefix(strings.TrimLeft(line, " "), "```")
		switch {
		case ok && open != nil:
			open.last = i
			out = append(out, open)
			open = nil
		case ok:
			open = &block{page: p, first: i + 1, language: fence}
			if line != "```"+fence {
				t.Errorf("%s:%d: a fence within a list: nothing tests it", p.name, i+1)
			}
			if m := comment.FindStringSubmatch(p.lines[max(i-1, 0)]); m != nil {
				open.action, open.args = m[1], strings.Fields(m[2])
			}
		case open == nil && strings.HasPrefix(line, "    ") && (i == 0 || p.lines[i-1] == ""):
			t.Errorf("%s:%d: an indented block: fence it", p.name, i+1)
		}
	}
	if open != nil {
		t.Errorf("%s: the fence has no end", open.at())
	}
	return out
}

// prose returns the lines of a page outside of its blocks, the others empty.
func (p *page) prose(t *testing.T) []string {
	lines := append([]string(nil), p.lines...)
	for _, b := range p.blocks(t) {
		for i := b.first - 1; i <= b.last; i++ {
			lines[i] = ""
		}
	}
	return lines
}
