//go:build lab && linux

package catalogue

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/test/lab/controlplane"
)

// everything switches every group version on.
const everything = "api/all=true"

// An asker answers what a server with the settings serves; an error that is a *controlplane.ExitError says that it exits.
type asker func(settings) (served, error)

// dependence is what the resources of a release hang on.
type dependence struct {
	all served
	// gates are, for each resource, the gates that must be on, beside their own needs.
	gates map[string][]string
	// exits are the gates with which the server exits when they are switched, so that their effect cannot be seen.
	exits []string
}

// gateSets knows the gates of a release: which ones are on, and which need which.
type gateSets struct {
	c  *release.Catalogue
	at release.Effective
}

// switchable returns the gates that may be set to other than their default, those that are on or those that are off.
func (g gateSets) switchable(on bool) []string {
	return slices.DeleteFunc(g.c.Gates(), func(name string) bool {
		spec, _ := g.c.Gate(name, g.at)
		return name == release.AllAlpha || name == release.AllBeta || spec.Locked || spec.Stage == release.PreAlpha || spec.Default != on
	})
}

// with returns gates and what must be on or off with them: what they need, or what needs them.
func (g gateSets) with(names []string, on bool) map[string]bool {
	set := map[string]bool{}
	var add func(name string)
	add = func(name string) {
		if _, there := set[name]; there {
			return
		}
		set[name] = on
		if on {
			for _, need := range g.c.Needs(name) {
				add(need)
			}
			return
		}
		for _, other := range g.c.Gates() {
			if slices.Contains(g.c.Needs(other), name) {
				add(other)
			}
		}
	}
	for _, name := range names {
		add(name)
	}
	// A gate that is locked, or is so anyway, is not named.
	maps.DeleteFunc(set, func(name string, on bool) bool {
		spec, _ := g.c.Gate(name, g.at)
		return spec.Locked || spec.Default == on
	})
	return set
}

// needs tells whether a gate needs another one, at first or second hand.
func (g gateSets) needs(name, other string) bool {
	return slices.ContainsFunc(g.c.Needs(name), func(need string) bool { return need == other || g.needs(need, other) })
}

// findGates finds out which resources hang on which gates: it switches many at once, and fewer where that makes a
// difference. First the gates that are off are switched on; then, with those that showed a resource, the others off.
func findGates(ask asker, sets gateSets) (*dependence, error) {
	base, err := ask(settings{runtimeConfig: everything})
	if err != nil {
		return nil, err
	}
	d := &dependence{all: maps.Clone(base), gates: map[string][]string{}}

	shown, err := d.search(ask, sets, base, settings{runtimeConfig: everything}, true)
	if err != nil {
		return nil, err
	}
	full := settings{runtimeConfig: everything, gates: sets.with(slices.Collect(maps.Keys(shown)), true)}
	for _, found := range shown {
		maps.Copy(d.all, found)
	}
	top, err := ask(full)
	if err != nil {
		return nil, err
	}
	if err := sameResources(d.all, top); err != nil {
		return nil, fmt.Errorf("with all gates that show a resource: %w", err)
	}
	hidden, err := d.search(ask, sets, top, full, false)
	if err != nil {
		return nil, err
	}
	for _, effect := range []map[string]served{shown, hidden} {
		d.attribute(sets, effect)
	}
	return d, nil
}

// search returns the gates, of those that are off (or on), that make a difference when they are switched, each with the
// resources that come (or go).
func (d *dependence) search(ask asker, sets gateSets, base served, from settings, on bool) (map[string]served, error) {
	found := map[string]served{}
	var mutex sync.Mutex
	var try func(names []string) error
	try = func(names []string) error {
		if len(names) == 0 {
			return nil
		}
		s := from
		s.gates = maps.Clone(from.gates)
		if s.gates == nil {
			s.gates = map[string]bool{}
		}
		maps.Copy(s.gates, sets.with(names, on))
		got, err := ask(s)
		exit := (*controlplane.ExitError)(nil)
		switch {
		case err == nil:
		case !errors.As(err, &exit):
			return err
		case len(names) == 1:
			mutex.Lock()
			defer mutex.Unlock()
			d.exits = append(d.exits, names[0])
			return nil
		}
		if err == nil {
			come, gone := difference(base, got)
			switch {
			case len(come)+len(gone) == 0:
				return nil
			case len(names) == 1 && on && len(gone) > 0, len(names) == 1 && !on && len(come) > 0:
				return fmt.Errorf("%s=%t: %d resources come, %d go: the catalogue has no words for that", names[0], on, len(come), len(gone))
			case len(names) == 1:
				mutex.Lock()
				defer mutex.Unlock()
				found[names[0]] = come
				if !on {
					found[names[0]] = gone
				}
				return nil
			}
		}
		return both(func() error { return try(names[:len(names)/2]) }, func() error { return try(names[len(names)/2:]) })
	}
	return found, try(sets.switchable(!on))
}

// both runs two functions side by side.
func both(a, b func() error) error {
	errs := make(chan error, 1)
	go func() { errs <- a() }()
	return errors.Join(b(), <-errs)
}

// attribute writes down the gates that each resource hangs on. A gate that comes or goes with another one, as that needs
// it, is not the cause.
func (d *dependence) attribute(sets gateSets, effect map[string]served) {
	for gate, resources := range effect {
		for r := range resources {
			follows := func(other string) bool {
				_, too := effect[other][r]
				return too && sets.needs(other, gate)
			}
			precedes := func(other string) bool {
				_, too := effect[other][r]
				return too && sets.needs(gate, other)
			}
			others := slices.Collect(maps.Keys(effect))
			spec, _ := sets.c.Gate(gate, sets.at)
			if !spec.Default && slices.ContainsFunc(others, precedes) || spec.Default && slices.ContainsFunc(others, follows) {
				continue
			}
			d.gates[r] = append(d.gates[r], gate)
			slices.Sort(d.gates[r])
		}
	}
}

// difference returns what has come and what has gone.
func difference(before, after served) (come, gone served) {
	come, gone = served{}, served{}
	for r, words := range after {
		if _, ok := before[r]; !ok {
			come[r] = words
		}
	}
	for r, words := range before {
		if _, ok := after[r]; !ok {
			gone[r] = words
		}
	}
	return come, gone
}

func sameResources(want, got served) error {
	more, less := difference(want, got)
	if len(more)+len(less) == 0 {
		return nil
	}
	return fmt.Errorf("unexpected %q, missing %q", slices.Sorted(maps.Keys(more)), slices.Sorted(maps.Keys(less)))
}
