package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Upgrade is two releases, such as v1.35.0 and v1.36.0.
type Upgrade struct {
	From Text `json:"from"`
	To   Text `json:"to"`
}

// String is the upgrade as people and Finding.Pairs write it: "1.35 -> 1.36".
func (u Upgrade) String() string { return string(shortRelease(u.From) + " -> " + shortRelease(u.To)) }

// unversioned says that no version was known and several pairs were judged.
func (c *Cluster) unversioned() bool { return c.From == "" && c.To == "" && len(c.Pairs) > 0 }

// releases are the releases that a cluster was judged for, "1.35.4 -> 1.36", or the pairs of them, or nothing.
func (c *Cluster) releases() Text {
	switch {
	case c.unversioned():
		return pairList(pairStrings(c.Pairs))
	case c.From == "" && c.To == "":
		return ""
	}
	return cmp.Or(shortRelease(c.From), "unknown") + " -> " + cmp.Or(shortRelease(c.To), "unknown")
}

func forReleases(releases Text) Text {
	if releases == "" {
		return ""
	}
	return " for " + releases
}

// says is the verdict on a cluster and what it is about, without a full stop: "NOT READY for 1.35 -> 1.36". Patch
// releases make no difference to it and are left out, unless there is nothing else.
func (c *Cluster) says() Text {
	v := c.Verdict()
	about := c.releases()
	from, to := minorRelease(c.From), minorRelease(c.To)
	switch {
	case c.unversioned():
		pairs := pairStrings(c.Pairs)
		if v == VerdictNotReady {
			pairs = c.notReadyPairs(pairs)
		}
		about = pairList(pairs)
		switch n := len(c.Pairs); {
		case len(pairs) < n:
			about += Text(" (" + strconv.Itoa(len(pairs)) + " of " + strconv.Itoa(n) + " pairs)")
		case n > 1:
			about += Text(" (all " + strconv.Itoa(n) + " pairs)")
		}
	case from != "" && to != "" && from != to:
		about = from + " -> " + to
	}
	text := Text(v.String()) + forReleases(about)
	if v == VerdictCannotTell {
		text += ": " + c.CannotTell
	}
	return text
}

// notReadyPairs are those of all pairs for which there is an error.
func (c *Cluster) notReadyPairs(all []string) []string {
	bad := map[string]bool{}
	for i := range c.Findings {
		f := &c.Findings[i]
		if !f.isError() {
			continue
		}
		if len(f.Pairs) == 0 {
			return all
		}
		for _, pair := range f.Pairs {
			bad[pair] = true
		}
	}
	pairs := slices.DeleteFunc(slices.Clone(all), func(pair string) bool { return !bad[pair] })
	if len(pairs) == 0 { // a pair that was not judged: never make less of an error for that
		return all
	}
	return pairs
}

func pairStrings(pairs []Upgrade) []string {
	s := make([]string, len(pairs))
	for i, p := range pairs {
		s[i] = p.String()
	}
	return s
}

// pairList joins pairs; of a long chain, in which each begins where the one before ends, the middle is left out.
func pairList(pairs []string) Text {
	if len(pairs) < 4 {
		return Text(strings.Join(pairs, ", "))
	}
	for i := 1; i < len(pairs); i++ {
		_, end, _ := strings.Cut(pairs[i-1], " -> ")
		if begin, _, _ := strings.Cut(pairs[i], " -> "); begin != end {
			return Text(strings.Join(pairs, ", "))
		}
	}
	return Text(pairs[0] + ", ..., " + pairs[len(pairs)-1])
}

// shortRelease is a release as people write it: 1.35.4, and 1.36 for v1.36.0.
func shortRelease(release Text) Text {
	s := strings.TrimPrefix(string(release), "v")
	if strings.Count(s, ".") == 2 { // not the end of 1.38.0-beta.0
		s = strings.TrimSuffix(s, ".0")
	}
	return Text(s)
}

// minorRelease is the minor release of a release: 1.35 for v1.35.4.
func minorRelease(release Text) Text {
	s := strings.TrimPrefix(string(release), "v")
	if major, rest, ok := strings.Cut(s, "."); ok {
		minor, _, _ := strings.Cut(rest, ".")
		s = major + "." + minor
	}
	return Text(s)
}

// minors is "1.35 -> 1.36", with the patch releases where the minor is the same.
func minors(from, to Text) Text {
	if a, b := minorRelease(from), minorRelease(to); a != b {
		return a + " -> " + b
	}
	return shortRelease(from) + " -> " + shortRelease(to)
}
