// Command compare runs two command lines alternately and prints the median of their wall times, the ratio of the
// medians and the peak memory of each.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	runs := flag.Int("runs", 11, "how often each is run")
	flag.Parse()
	if flag.NArg() != 2 || *runs < 1 {
		fmt.Fprintln(os.Stderr, "usage: compare [-runs N] COMMAND COMMAND")
		os.Exit(2)
	}
	var times [2][]time.Duration
	var memory [2]int64
	for run := range *runs + 1 {
		for i, command := range flag.Args() {
			took, peak, err := measure(strings.Fields(command))
			if err != nil {
				fmt.Fprintf(os.Stderr, "compare: %s: %v\n", command, err)
				os.Exit(1)
			}
			// The first round only fills the caches.
			if run > 0 {
				times[i] = append(times[i], took)
			}
			memory[i] = max(memory[i], peak)
		}
	}
	for i, command := range flag.Args() {
		slices.Sort(times[i])
		fmt.Printf("  %8.1f ms  %6.1f MiB  %s\n", millis(median(times[i])), float64(memory[i])/1024, command[strings.LastIndex(strings.Fields(command)[0], "/")+1:])
	}
	fmt.Printf("  ratio %.2f (median of %d runs each, alternating)\n", float64(median(times[0]))/float64(median(times[1])), *runs)
}

// measure returns the wall time of a command and its peak resident memory in KiB.
func measure(args []string) (took time.Duration, peak int64, err error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = nil, nil
	start := time.Now()
	err = cmd.Run()
	took = time.Since(start)
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		peak = usage.Maxrss
	}
	return took, peak, err
}

func median(sorted []time.Duration) time.Duration { return sorted[len(sorted)/2] }

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
