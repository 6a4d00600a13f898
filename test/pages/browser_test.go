package pages

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

//go:embed audit.js
var auditScript string

// chromium is the path of the browser. MVPCHECK_CHROMIUM names it where it must be there; without it, tests are skipped
// on a machine that has none.
func chromium(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("MVPCHECK_CHROMIUM"); path != "" {
		if _, err := exec.LookPath(path); err != nil {
			t.Fatalf("MVPCHECK_CHROMIUM: %v", err)
		}
		return path
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium on this machine; MVPCHECK_CHROMIUM names one")
	return ""
}

// browse starts a browser with an empty profile, and returns a context in which tabs are opened.
func browse(t *testing.T) context.Context {
	t.Helper()
	flags := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium(t)), chromedp.UserDataDir(t.TempDir()), chromedp.NoSandbox, chromedp.NoFirstRun, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
	)
	alloc, stop := chromedp.NewExecAllocator(context.Background(), flags...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("starting the browser: %v", err)
	}
	return ctx
}

// view is how a page is looked at.
type view struct {
	theme string // light or dark
	width int64
	print bool
	// scripts: the page may run some, as any page may.
	scripts bool
}

func (v view) String() string {
	name := fmt.Sprintf("%s-%d", v.theme, v.width)
	if v.print {
		name += "-print"
	}
	if !v.scripts {
		name += "-without-scripts"
	}
	return name
}

// seen is what came of looking at a page.
type seen struct {
	Wrong    []string `json:"wrong"`
	Texts    int      `json:"texts"`  // pieces of text that were looked at
	Lowest   float64  `json:"lowest"` // contrast
	Hidden   int      `json:"hidden"` // parts that are collapsed
	Details  int      `json:"details"`
	Page     string   `json:"page"` // its background
	Text     string   `json:"text"`
	Pictures int      `json:"pictures"`

	events     []string // requests, messages and violations
	screenshot []byte
	// images are the names of the pictures as assistive technology has them.
	images []string
}

// look opens a file in a tab of its own. With open all that is collapsed is opened first.
func look(t *testing.T, browser context.Context, file string, v view, open bool) *seen {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	defer cancel()
	ctx, stop := context.WithTimeout(ctx, 60*time.Second)
	defer stop()

	address := (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String()
	var events []string
	var mu sync.Mutex
	event := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, fmt.Sprintf(format, args...))
	}
	err := chromedp.Listen(ctx, func(ev any) {
		switch ev := ev.(type) {
		case *network.EventRequestWillBeSent:
			if ev.Request.URL != address {
				event("request: %s", ev.Request.URL)
			}
		case *cdplog.EventEntryAdded:
			event("log: %s %s", ev.Entry.Source, ev.Entry.Text)
		case *runtime.EventConsoleAPICalled:
			event("console: %s", ev.Type)
		case *runtime.EventExceptionThrown:
			event("exception: %s", ev.ExceptionDetails.Text)
		case *audits.EventIssueAdded:
			event("issue: %s", ev.Issue.Code)
		case *page.EventJavascriptDialogOpening:
			event("dialog: %s", ev.Message)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	media := "screen"
	if v.print {
		media = "print"
	}
	err = chromedp.Do(ctx,
		command(network.Enable, network.EnableParams{}), command(cdplog.Enable, cdp.Empty{}), command(audits.Enable, cdp.Empty{}),
		command(accessibility.Enable, cdp.Empty{}),
		command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !v.scripts}),
		command(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: v.width, Height: 800, DeviceScaleFactor: 1}),
		command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Media: media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: v.theme}},
		}),
		chromedp.Navigate(address),
	)
	if err != nil {
		t.Fatalf("%s, %s: %v", file, v, err)
	}
	screenshot, err := photograph(ctx, v.width)
	if err != nil {
		t.Fatalf("%s, %s: a screenshot: %v", file, v, err)
	}
	found, err := chromedp.Run(ctx, chromedp.Evaluate[seen](fmt.Sprintf("(%s)({open: %t})", strings.TrimSpace(auditScript), open)))
	if err != nil {
		t.Fatalf("%s, %s: looking the page over: %v", file, v, err)
	}
	tree, err := chromedp.Call(ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		t.Fatalf("%s, %s: the accessibility tree: %v", file, v, err)
	}
	mu.Lock()
	defer mu.Unlock()
	found.events, found.screenshot = events, screenshot
	for _, node := range tree.Nodes {
		if role := axValue(node.Role); !node.Ignored && (role == "image" || role == "img") {
			found.images = append(found.images, axValue(node.Name))
		}
	}
	return &found
}

// photograph takes a picture of a page, of a very long one of its beginning: a browser refuses to take them whole.
func photograph(ctx context.Context, width int64) ([]byte, error) {
	const longest = 12000
	height, err := chromedp.Run(ctx, chromedp.Evaluate[float64]("document.scrollingElement.scrollHeight"))
	if err != nil {
		return nil, err
	}
	beyond := true
	res, err := chromedp.Call(ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{
		CaptureBeyondViewport: &beyond, Clip: &page.Viewport{Width: float64(width), Height: min(height, longest), Scale: 1},
	})
	return res.Data, err
}

// command is a command of the protocol whose result does not matter.
func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

func axValue(v *accessibility.Value) string {
	var text string
	if v == nil || json.Unmarshal([]byte(v.Value), &text) != nil {
		return ""
	}
	return text
}

// keep writes a screenshot where MVPCHECK_SCREENSHOTS says, for people.
func keep(t *testing.T, name string, png []byte) {
	t.Helper()
	dir := os.Getenv("MVPCHECK_SCREENSHOTS")
	if dir == "" {
		return
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		t.Fatal(err)
	}
}
