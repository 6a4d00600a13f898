//go:build lab && linux

package campaign

import (
	"fmt"
	"testing"

	"github.com/mvpcheck/mvpcheck/test/lab/controlplane"
)

// attempt is a test within the test: what it starts ends with it, and what goes wrong in it is one result among many.
type attempt struct {
	*testing.T
	cleanups []func()
}

var _ controlplane.TB = (*attempt)(nil)

// failure is what Fatalf panics with.
type failure struct{ error }

// try runs f as an attempt.
func try(t *testing.T, f func(*attempt)) (err error) {
	a := &attempt{T: t}
	defer a.end()
	return a.within(func() { f(a) })
}

// within runs a part of an attempt, and returns what Fatalf says in it.
func (a *attempt) within(f func()) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			err = p.error
		default:
			panic(p)
		}
	}()
	f()
	return nil
}

func (a *attempt) end() {
	for i := len(a.cleanups) - 1; i >= 0; i-- {
		a.cleanups[i]()
	}
}

// Fatalf ends the attempt alone.
func (a *attempt) Fatalf(format string, args ...any) { panic(failure{fmt.Errorf(format, args...)}) }

// Cleanup registers what is done at the end of the attempt.
func (a *attempt) Cleanup(f func()) { a.cleanups = append(a.cleanups, f) }

// Failed is false: what the server said last stands in the result.
func (a *attempt) Failed() bool { return false }
