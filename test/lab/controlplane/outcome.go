//go:build linux

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

const (
	// servingLine is what a server logs when it begins to serve: by then it has read all flags and files.
	servingLine = "Serving securely"
	// servingTime is how long it must then go on; a hook that fails at once ends it.
	servingTime = 1500 * time.Millisecond
)

// Outcome waits until it is known whether the server starts, which takes less time than until it is ready. The error is an
// *ExitError where it ends by itself.
func (s *Server) Outcome(ctx context.Context) error {
	p := s.current()
	if p == nil {
		return errors.New("not started")
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	var serving time.Time
	err := poll(ctx, 50*time.Millisecond, func() (bool, error) {
		if code, exited := p.exited(); exited {
			return false, &ExitError{Code: code, Log: p.text()}
		}
		if serving.IsZero() && strings.Contains(p.text(), servingLine) {
			serving = time.Now()
		}
		return !serving.IsZero() && time.Since(serving) > servingTime, nil
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("neither serves nor ends after %s:\n%s", readyTimeout, tail(p.text(), 10))
	}
	return err
}
