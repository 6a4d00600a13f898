//go:build lab && linux

package campaign

import (
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mvpcheck/mvpcheck/test/lab/controlplane"
)

// workers is how many settings are tried at the same time, each on a node of its own.
const workers = 2

// TestStartUp draws settings, starts a real server with each, and compares what becomes of it with what mvpcheck says.
func TestStartUp(t *testing.T) {
	cp := controlplane.New(t, controlplane.Options{})
	answerHooks(t)
	list := indices(*nFlag)
	t.Logf("seed %d, %d settings", *seedFlag, len(list))

	var mutex sync.Mutex
	var all tally
	// A server that listens at all addresses of the namespace has it for itself.
	var listeners sync.RWMutex
	tryIndex := func(index, worker int, newOne bool) (trial, error) {
		s := Draw(*seedFlag, index)
		if slices.Contains(s.Names(), "bind-address") {
			listeners.Lock()
			defer listeners.Unlock()
		} else {
			listeners.RLock()
			defer listeners.RUnlock()
		}
		return tryOut(t, cp, s, controlplane.Addresses[worker], newOne)
	}
	queue := make(chan int)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for index := range queue {
				r, err := tryIndex(index, w, true)
				mutex.Lock()
				if err != nil {
					t.Errorf("%s: %v", Draw(*seedFlag, index), err)
				} else {
					all.add(r)
					if r.wrong() || *onlyFlag >= 0 {
						t.Logf("tried once: %s", r)
					}
				}
				mutex.Unlock()
			}
		})
	}
	began := time.Now()
	for done, index := range list {
		queue <- index
		if done > 0 && done%50 == 0 {
			mutex.Lock()
			t.Logf("%d of %d after %s: %s", done, len(list), time.Since(began).Round(time.Second), all.summary())
			mutex.Unlock()
		}
	}
	close(queue)
	group.Wait()

	all.confirm(func(s Setting) (trial, error) { return tryIndex(s.Index, 0, false) })
	for _, r := range all.strange {
		t.Logf("%s", r)
	}
	t.Log(all.report())
	for _, r := range all.disagreements {
		t.Errorf("%s", r)
	}
}

// answerHooks is the webhook of all settings: a server that audits without delay ends when nobody takes what it sends.
func answerHooks(t *testing.T) {
	listener, err := net.Listen("tcp", hookAddress)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
}
