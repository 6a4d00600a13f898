//go:build lab && linux

package catalogue

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/test/lab/controlplane"
)

// bounds are the first and the last minor that a server may emulate and serve a resource; "" is no bound.
type bounds struct{ since, until string }

// findBounds has the server emulate the older releases, the newest first, with every gate on that a resource hangs on
// and that the emulated release has.
func (d *dependence) findBounds(ask asker, c *release.Catalogue) (map[string]bounds, error) {
	all := map[string]bounds{}
	for emulated := c.Release().Prev(); ; emulated = emulated.Prev() {
		at := release.EffectiveOf(emulated)
		if _, err := release.EmulatedVersion([]string{emulated.MinorString()}, c.Release()); err != nil {
			return all, nil // as far as the release goes back
		}
		sets := gateSets{c, at}
		on := sets.with(d.switchableAt(sets), true)
		got, err := ask(settings{runtimeConfig: everything, emulated: emulated.MinorString(), gates: on})
		if exit := (*controlplane.ExitError)(nil); errors.As(err, &exit) {
			return nil, fmt.Errorf("emulating %s: %w", emulated, err)
		} else if err != nil {
			return nil, err
		}
		for r := range d.all {
			_, there := got[r]
			b := all[r]
			switch {
			case there && b.since != "":
				return nil, fmt.Errorf("%s is served at %s, and not by all from there on", r, emulated)
			case !there && d.gatesOnAt(sets, r, on) && b.since == "":
				b.since = emulated.Next().MinorString()
			}
			all[r] = b
		}
		come, _ := difference(d.all, got)
		if err := d.findGatesOfGone(ask, sets, emulated.MinorString(), on, come); err != nil {
			return nil, err
		}
		for r, words := range come {
			// It is gone from a later release. What was seen of it in between stands.
			if _, seen := all[r]; !seen {
				all[r] = bounds{until: emulated.MinorString()}
			}
			d.all[r] = words
		}
	}
}

// findGatesOfGone finds out which of the gates that are on the resources hang on that only servers have that emulate a
// release.
func (d *dependence) findGatesOfGone(ask asker, sets gateSets, emulated string, on map[string]bool, come served) error {
	if len(come) == 0 {
		return nil
	}
	lacking := map[string]served{}
	for _, name := range slices.Sorted(maps.Keys(on)) {
		without := maps.Clone(on)
		maps.DeleteFunc(without, func(other string, _ bool) bool { return other == name || sets.needs(other, name) })
		got, err := ask(settings{runtimeConfig: everything, emulated: emulated, gates: without})
		if err != nil {
			return err
		}
		_, gone := difference(come, got)
		lacking[name] = gone
	}
	for name, gone := range lacking {
		for r := range gone {
			// It may have gone with a gate that needs this one.
			follows := func(other string) bool {
				_, too := lacking[other][r]
				return too && sets.needs(other, name)
			}
			if !slices.ContainsFunc(slices.Collect(maps.Keys(lacking)), follows) {
				d.gates[r] = append(d.gates[r], name)
				slices.Sort(d.gates[r])
			}
		}
	}
	return nil
}

// switchableAt returns the gates that resources hang on, as far as they can be set.
func (d *dependence) switchableAt(sets gateSets) []string {
	var names []string
	for _, gates := range d.gates {
		for _, name := range gates {
			if spec, _ := sets.c.Gate(name, sets.at); !spec.Locked && spec.Stage != release.PreAlpha && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// gatesOnAt tells whether all gates are on that a resource hangs on.
func (d *dependence) gatesOnAt(sets gateSets, r string, on map[string]bool) bool {
	return !slices.ContainsFunc(d.gates[r], func(name string) bool {
		spec, _ := sets.c.Gate(name, sets.at)
		return !spec.Default && !on[name]
	})
}

// compareResources orders as the catalogue does: by group, which core does not have, version and name.
func compareResources(a, b string) int {
	key := func(r string) string {
		gv, name, _ := strings.Cut(r, " ")
		if !strings.Contains(gv, "/") {
			gv = "/" + gv
		}
		return strings.Replace(gv, "/", "\x00", 1) + "\x00" + name
	}
	return strings.Compare(key(a), key(b))
}

const resourcesSection = "\n[resources]\n"

// text is the section of the resources.
func (d *dependence) text(bounds map[string]bounds) string {
	var b strings.Builder
	b.WriteString(resourcesSection)
	for _, r := range slices.SortedFunc(maps.Keys(d.all), compareResources) {
		b.WriteString(r + d.all[r])
		if gates := d.gates[r]; len(gates) > 0 {
			b.WriteString(" gates=" + strings.Join(gates, ","))
		}
		if since := bounds[r].since; since != "" {
			b.WriteString(" since=" + since)
		}
		if until := bounds[r].until; until != "" {
			b.WriteString(" until=" + until)
		}
		b.WriteString("\n")
	}
	return b.String()
}
