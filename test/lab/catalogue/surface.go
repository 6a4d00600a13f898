//go:build lab && linux

package catalogue

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mvpcheck/mvpcheck/test/lab/controlplane"
)

// served is what a server serves: each resource by its group version and name, with the words that a catalogue has for
// it.
type served map[string]string

// settings are the flags that decide what a server serves.
type settings struct {
	runtimeConfig, emulated string
	// gates are set to true, or to false.
	gates map[string]bool
}

func (s settings) flags() []controlplane.Change {
	flags := []controlplane.Change{controlplane.Set("runtime-config", s.runtimeConfig)}
	if s.emulated != "" {
		flags = append(flags, controlplane.Set("emulated-version", s.emulated))
	}
	if value := s.featureGates(); value != "" {
		flags = append(flags, controlplane.Set("feature-gates", value))
	}
	return flags
}

func (s settings) featureGates() string {
	var entries []string
	for name, on := range s.gates {
		entries = append(entries, fmt.Sprintf("%s=%t", name, on))
	}
	slices.Sort(entries)
	return strings.Join(entries, ",")
}

func (s settings) String() string {
	return fmt.Sprintf("runtime-config %q, emulated-version %q, feature-gates %q", s.runtimeConfig, s.emulated, s.featureGates())
}

// answerTimeout is what only something broken reaches.
const answerTimeout = 2 * time.Minute

// ask starts a server with the settings, asks it for every group version that its release has, and kills it. It need
// not get ready: what a server serves is decided before it listens. The error is a *controlplane.ExitError where the
// server ends before it answers.
func ask(ctx context.Context, server *controlplane.Server, args []string, versions []string, s settings) (served, error) {
	server.Args = slices.Clone(args)
	for _, change := range s.flags() {
		server.Args = change(server.Args)
	}
	if err := server.Launch(); err != nil {
		return nil, err
	}
	defer server.Kill()
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	all := served{}
	for _, version := range versions {
		if err := all.add(ctx, server, version); err != nil {
			return nil, fmt.Errorf("%s: %w", s, err)
		}
	}
	return all, nil
}

// add asks for one group version, as often as it takes for a server that starts.
func (all served) add(ctx context.Context, server *controlplane.Server, version string) error {
	path := "/apis/" + version
	if !strings.Contains(version, "/") {
		path = "/api/" + version
	}
	for {
		if code, log, exited := server.Exited(); exited {
			return &controlplane.ExitError{Code: code, Log: log}
		}
		answer, err := server.Ask(ctx, path)
		if err == nil {
			switch answer.Status {
			case http.StatusOK:
				return all.read(version, answer.Body)
			case http.StatusNotFound:
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", path, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (all served) read(version string, body []byte) error {
	var list struct {
		Resources []struct {
			Name       string
			Namespaced bool
			Verbs      []string
		}
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return fmt.Errorf("%s: %w", version, err)
	}
	for _, r := range list.Resources {
		has := func(verbs ...string) bool {
			return !slices.ContainsFunc(verbs, func(verb string) bool { return !slices.Contains(r.Verbs, verb) })
		}
		words := ""
		for _, word := range []struct {
			holds bool
			word  string
		}{
			{r.Namespaced, " namespaced"},
			// What the namespace controller and the garbage collector of kube-controller-manager ask discovery for.
			{has("list", "deletecollection"), " emptied"},
			{has("list", "watch", "delete"), " collected"},
		} {
			if word.holds {
				words += word.word
			}
		}
		all[version+" "+r.Name] = words
	}
	return nil
}
