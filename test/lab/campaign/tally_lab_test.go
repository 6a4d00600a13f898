//go:build lab && linux

package campaign

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// tally is what the trials come to.
type tally struct {
	// cells counts by what mvpcheck says and what the server does.
	cells map[[2]string]int
	// rules counts by the rule that said that a server would not start, unknown by the one that could not tell.
	rules, unknown map[string]int
	// times are how long all trials of an outcome took.
	times map[outcome]time.Duration
	// disagreements are the trials in which mvpcheck is wrong; strange are those that were not ready, and those in which it was
	// right the second time.
	disagreements, strange []trial
}

// said is what mvpcheck says as it is.
func (r trial) saidText() string {
	o, known := r.said[0].outcome()
	if !known {
		return "cannot tell"
	}
	return string(o)
}

// wrong tells whether mvpcheck says something else than what is, in any role. A server that is not ready neither starts nor
// exits, and what mvpcheck does not know it may not know.
func (r trial) wrong() bool {
	return r.outcome != notReady && slices.ContainsFunc(r.said, func(p prediction) bool {
		o, known := p.outcome()
		return known && o != r.outcome
	})
}

func (t *tally) add(r trial) {
	if t.cells == nil {
		t.cells, t.rules, t.unknown = map[[2]string]int{}, map[string]int{}, map[string]int{}
		t.times = map[outcome]time.Duration{}
	}
	t.times[r.outcome] += r.took
	t.cells[[2]string{r.saidText(), string(r.outcome)}]++
	count := func(into map[string]int, verdicts []verdict) {
		for _, v := range slices.CompactFunc(slices.Clone(verdicts), func(a, b verdict) bool { return a.rule == b.rule }) {
			into[v.rule]++
		}
	}
	p := r.said[0]
	count(t.rules, p.exits)
	if _, known := p.outcome(); !known {
		count(t.unknown, p.unknown)
	}
	if r.outcome == notReady {
		t.strange = append(t.strange, r)
	}
	if r.wrong() {
		t.disagreements = append(t.disagreements, r)
	}
}

// confirm tries disagreements again, one after the other, as two servers at a time may be in each other's way; again has them
// in a cluster that there was before. mvpcheck speaks of upgrades: a server that only cannot make the objects which a cluster
// begins with, as it waits in vain for an API that the setting has switched off, is in such a cluster and never ready.
func (t *tally) confirm(again func(Setting) (trial, error)) {
	var confirmed []trial
	for _, r := range t.disagreements {
		second, err := again(Draw(r.setting.Seed, r.setting.Index))
		switch {
		case err != nil:
			r.log += fmt.Sprintf("\ntried again: %v", err)
			confirmed = append(confirmed, r)
		case second.wrong():
			confirmed = append(confirmed, second)
		default:
			t.strange = append(t.strange, r)
		}
	}
	slices.SortStableFunc(confirmed, func(a, b trial) int { return strings.Compare(a.cause(), b.cause()) })
	t.disagreements = confirmed
}

func (t *tally) summary() string {
	var parts []string
	for _, key := range slices.SortedFunc(maps.Keys(t.cells), func(a, b [2]string) int { return strings.Compare(a[0]+a[1], b[0]+b[1]) }) {
		parts = append(parts, fmt.Sprintf("%s/%s %d", key[0], key[1], t.cells[key]))
	}
	return fmt.Sprintf("%s (mvpcheck says/the server does); %d disagreements", strings.Join(parts, ", "), len(t.disagreements))
}

func (t *tally) report() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", t.summary())
	table := func(title string, counts map[string]int) {
		if len(counts) == 0 {
			return
		}
		fmt.Fprintf(&b, "%s:", title)
		for _, key := range slices.Sorted(maps.Keys(counts)) {
			fmt.Fprintf(&b, " %s %d", key, counts[key])
		}
		b.WriteByte('\n')
	}
	for _, o := range slices.Sorted(maps.Keys(t.times)) {
		n := 0
		for key, count := range t.cells {
			if key[1] == string(o) {
				n += count
			}
		}
		fmt.Fprintf(&b, "%s: %d in %s each\n", o, n, (t.times[o] / time.Duration(n)).Round(10*time.Millisecond))
	}
	table("will not start, by rule", t.rules)
	table("cannot tell, by rule", t.unknown)
	causes := map[string]int{}
	for _, r := range t.disagreements {
		causes[r.cause()]++
	}
	for _, cause := range slices.Sorted(maps.Keys(causes)) {
		fmt.Fprintf(&b, "%4d  %s\n", causes[cause], cause)
	}
	return b.String()
}

// String is all that there is to know of the trial.
func (r trial) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", r.cause())
	r.write(&b)
	return b.String()
}

var (
	failed   = regexp.MustCompile(`"command failed" err=(".*")$`)
	fatal    = regexp.MustCompile(`^F\d{4} [\d:.]+ +\d+ [\w.]+:\d+\] `)
	changing = regexp.MustCompile(`"[^"]*"|/[^ :,]+|\d+`)
)

// cause sorts disagreements that have one reason together.
func (r trial) cause() string {
	if r.outcome == starts {
		var rules []string
		for _, p := range r.said {
			for _, v := range slices.Concat(p.exits, p.refused) {
				rules = append(rules, v.rule)
			}
		}
		slices.Sort(rules)
		return "starts, against " + strings.Join(slices.Compact(rules), " ")
	}
	line := changing.ReplaceAllString(reason(r.log), "…")
	return string(r.outcome) + ": " + line[:min(len(line), 160)]
}

// reason is the line of a log that says why a server ended, else the last one.
func reason(log string) string {
	lines := strings.Split(strings.TrimRight(log, "\n"), "\n")
	for i, l := range slices.Backward(lines) {
		if strings.HasSuffix(l, `"command failed" err=<`) {
			return strings.TrimSpace(strings.Join(lines[i+1:], " "))
		}
		if m := failed.FindStringSubmatch(l); m != nil {
			if text, err := strconv.Unquote(m[1]); err == nil {
				return text
			}
		}
		if strings.HasPrefix(l, "Error: ") || strings.HasPrefix(l, "panic: ") || fatal.MatchString(l) {
			return fatal.ReplaceAllString(l, "")
		}
	}
	return lines[len(lines)-1]
}
