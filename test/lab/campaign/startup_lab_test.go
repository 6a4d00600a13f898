//go:build lab && linux

package campaign

import (
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
	list := indices(*nFlag)
	t.Logf("seed %d, %d settings", *seedFlag, len(list))

	var mutex sync.Mutex
	var all tally
	queue := make(chan int)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for index := range queue {
				r, err := tryOut(t, cp, Draw(*seedFlag, index), controlplane.Addresses[w])
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

	all.confirm(func(s Setting) (trial, error) {
		return tryOut(t, cp, s, controlplane.Addresses[0])
	})
	for _, r := range all.strange {
		t.Logf("%s", r)
	}
	t.Log(all.report())
	for _, r := range all.disagreements {
		t.Errorf("%s", r)
	}
}
