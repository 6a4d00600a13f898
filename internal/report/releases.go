package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// unversioned says that no version was known and several pairs were judged.
func (c *Cluster) unversioned() bool { return c.From == "" && c.To == "" && len(c.Pairs) > 0 }

// releases are the releases that a cluster was judged for, "1.35.4 -> 1.36",
// or the pairs of them, or nothing.
func releases(c *Cluster) string {
	switch {
	case c.unversioned():
		return pairList(pairStrings(c.Pairs))
	case c.From == "" && c.To == "":
		return ""
	}
	return cmp.Or(shortRelease(c.From), "unknown") + " -> " + cmp.Or(shortRelease(c.To), "unknown")
}

func forReleases(releases string) string {
	if releases == "" {
		return ""
	}
	return " for " + releases
}

// verdict is the verdict on a cluster and what it is about, without a full
// stop: "NOT READY for 1.35 -> 1.36". Patch releases make no difference to it
// and are left out, unless there is nothing else.
func verdict(c *Cluster, v Verdict) string {
	about := releases(c)
	from, to := minorRelease(c.From), minorRelease(c.To)
	switch {
	case c.unversioned():
		pairs := pairStrings(c.Pairs)
		if v == VerdictNotReady {
			pairs = notReadyPairs(c, pairs)
		}
		about = pairList(pairs)
		switch n := len(c.Pairs); {
		case len(pairs) < n:
			about += " (" + strconv.Itoa(len(pairs)) + " of " + strconv.Itoa(n) + " pairs)"
		case n > 1:
			about += " (all " + strconv.Itoa(n) + " pairs)"
		}
	case from != "" && to != "" && from != to:
		about = from + " -> " + to
	}
	switch v {
	case VerdictReady:
		return "READY" + forReleases(about)
	case VerdictNotReady:
		return "NOT READY" + forReleases(about)
	}
	return "CANNOT TELL" + forReleases(about) + ": " + c.CannotTell
}

// notReadyPairs are those of all pairs for which there is an error.
func notReadyPairs(c *Cluster, all []string) []string {
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

func pairStrings(pairs []Pair) []string {
	s := make([]string, len(pairs))
	for i, p := range pairs {
		s[i] = p.String()
	}
	return s
}

// pairList joins pairs; of a long chain, in which each begins where the one
// before ends, the middle is left out.
func pairList(pairs []string) string {
	if len(pairs) < 4 {
		return strings.Join(pairs, ", ")
	}
	for i := 1; i < len(pairs); i++ {
		_, end, _ := strings.Cut(pairs[i-1], " -> ")
		if begin, _, _ := strings.Cut(pairs[i], " -> "); begin != end {
			return strings.Join(pairs, ", ")
		}
	}
	return pairs[0] + ", ..., " + pairs[len(pairs)-1]
}

// shortRelease is a release as people write it: 1.35.4, and 1.36 for v1.36.0.
func shortRelease(release string) string {
	release = strings.TrimPrefix(release, "v")
	if strings.Count(release, ".") == 2 { // not the end of 1.38.0-beta.0
		release = strings.TrimSuffix(release, ".0")
	}
	return release
}

// minorRelease is the minor release of a release: 1.35 for v1.35.4.
func minorRelease(release string) string {
	release = strings.TrimPrefix(release, "v")
	if major, rest, ok := strings.Cut(release, "."); ok {
		minor, _, _ := strings.Cut(rest, ".")
		return major + "." + minor
	}
	return release
}
