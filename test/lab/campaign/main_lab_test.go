//go:build lab && linux

package campaign

import (
	"flag"
	"testing"

	"github.com/mvpcheck/mvpcheck/test/lab/controlplane"
)

var (
	seedFlag   = flag.Uint64("seed", 1, "what all is drawn from")
	nFlag      = flag.Int("n", 100, "how many settings to try")
	planesFlag = flag.Int("planes", 3, "how many control planes to try")
	onlyFlag   = flag.Int("only", -1, "try the one of this index alone")
)

func TestMain(m *testing.M) { controlplane.Main(m) }

// indices are those to try, of n.
func indices(n int) []int {
	if *onlyFlag >= 0 {
		return []int{*onlyFlag}
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
