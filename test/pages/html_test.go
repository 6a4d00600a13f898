package pages

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// save writes a page and returns its file.
func save(t *testing.T, html string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(html), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// checkPage looks at a page, and fails for all that is wrong with it.
func checkPage(t *testing.T, browser context.Context, name, file string, v view) *seen {
	t.Helper()
	s := look(t, browser, file, v, !v.print)
	keep(t, name+"-"+v.String(), s.screenshot)
	for _, wrong := range append(s.Wrong, s.events...) {
		t.Errorf("%s: %s", v, wrong)
	}
	if s.Texts < 5 || s.Lowest < 4.5 {
		t.Errorf("%s: %d texts, lowest contrast %.2f", v, s.Texts, s.Lowest)
	}
	if len(s.images) == 0 {
		t.Errorf("%s: no picture in the accessibility tree", v)
	}
	for _, name := range s.images {
		if strings.TrimSpace(name) == "" {
			t.Errorf("%s: a picture without a name", v)
		}
	}
	return s
}

// Each page is right in both themes, on a telephone, on a screen and on paper.
func TestPages(t *testing.T) {
	browser := browse(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			html := report(t, c, "html")
			if again := report(t, c, "html"); c.make == nil && again != html {
				t.Error("a second run writes another page")
			}
			file := save(t, html)
			for _, theme := range []string{"light", "dark"} {
				for _, width := range []int64{375, 1280} {
					if theme == "light" && width == 1280 {
						continue // below
					}
					s := checkPage(t, browser, c.name, file, view{theme: theme, width: width, scripts: true})
					for _, says := range c.says {
						if !strings.Contains(s.Text, says) {
							t.Errorf("the page does not say %q", says)
						}
					}
				}
			}
			// On paper nothing is collapsed and nothing is dark, whatever the screen is.
			s := checkPage(t, browser, c.name, file, view{theme: "dark", width: 800, print: true, scripts: true})
			if s.Hidden > 0 {
				t.Errorf("%d of the collapsed parts of %d are not printed", s.Hidden, s.Details)
			}
			if s.Page != "rgb(255, 255, 255)" {
				t.Errorf("the paper is %s", s.Page)
			}
			// Scripts make no difference.
			with := checkPage(t, browser, c.name, file, view{theme: "light", width: 1280, scripts: true})
			without := checkPage(t, browser, c.name, file, view{theme: "light", width: 1280})
			if !bytes.Equal(with.screenshot, without.screenshot) || with.Text != without.Text {
				t.Error("without scripts the page is another")
			}
		})
	}
}

// Every recorded control plane and every plan of testdata makes a page with nothing wrong, on the narrowest screen.
func TestEveryPage(t *testing.T) {
	browser := browse(t)
	var all []reportCase
	for _, file := range glob(t, "evidence/*.json") {
		all = append(all, reportCase{name: "probe-" + file, dir: "evidence", args: "probe --replay " + file})
	}
	for _, file := range glob(t, "plan/*.yaml") {
		all = append(all, reportCase{name: "plan-" + file, dir: "plan", args: "plan", paths: []string{file}})
	}
	for _, file := range glob(t, "cases/*") {
		all = append(all, reportCase{name: "check-" + file, dir: "cases", args: "check", paths: []string{file}})
	}
	for i, c := range all {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			checkPage(t, browser, c.name, save(t, report(t, c, "html")), view{theme: []string{"light", "dark"}[i%2], width: 375, scripts: true})
		})
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "testdata", filepath.FromSlash(pattern)))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(files), err)
	}
	for i := range files {
		files[i] = filepath.Base(files[i])
	}
	return files
}

// The tests above would find a page that is wrong.
func TestAuditFinds(t *testing.T) {
	browser := browse(t)
	for name, tc := range map[string]struct{ body, want string }{
		"request":    {`<h1>a</h1><img alt="" src="http://192.0.2.1/x.png">`, "request: http://192.0.2.1/x.png"},
		"policy":     {`<meta http-equiv="Content-Security-Policy" content="default-src 'none'"><h1>a</h1><img alt="" src="data:,x">`, "log: "},
		"script":     {`<h1>a</h1><script>console.log(1)</script>`, "console: log"},
		"wide":       {`<h1>a</h1><pre>` + strings.Repeat("x", 500) + `</pre>`, "the page is "},
		"heading":    {`<h1>a</h1><h3>b</h3>`, "h3 after h1"},
		"two h1":     {`<h1>a</h1><h1>b</h1>`, "not one h1"},
		"scope":      {`<h1>a</h1><table><caption>c</caption><tr><th>x</th></tr></table>`, "no scope"},
		"contrast":   {`<h1>a</h1><p style="color:#888">grey</p>`, "contrast 3.5"},
		"in picture": {`<h1>a</h1><svg width="90" height="40"><rect width="90" height="40" fill="#222"/><text y="20" fill="#000">x</text></svg>`, "contrast 1."},
		"image":      {`<h1>a</h1><img src="data:,">`, "no alt"},
	} {
		t.Run(name, func(t *testing.T) {
			file := save(t, "<!DOCTYPE html><html lang=en><title>t</title><body style=\"background:#fff\">"+tc.body)
			s := look(t, browser, file, view{theme: "light", width: 375, scripts: true}, true)
			if found := fmt.Sprint(append(s.Wrong, s.events...)); !strings.Contains(found, tc.want) {
				t.Errorf("want %q, found %s", tc.want, found)
			}
		})
	}
}
