// Command compare runs two command lines alternately and prints the medians of their wall and CPU times, the ratios of
// the medians and the peak memory of each.
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
	var times, cpu [2][]time.Duration
	var memory [2]int64
	for run := range *runs + 1 {
		for i, command := range flag.Args() {
			took, busy, peak, err := measure(strings.Fields(command))
			if err != nil {
				fmt.Fprintf(os.Stderr, "compare: %s: %v\n", command, err)
				os.Exit(1)
			}
			// The first round only fills the caches.
			if run > 0 {
				times[i], cpu[i] = append(times[i], took), append(cpu[i], busy)
			}
			memory[i] = max(memory[i], peak)
		}
	}
	for i, command := range flag.Args() {
		slices.Sort(times[i])
		slices.Sort(cpu[i])
		fmt.Printf("  %8.1f ms  %8.1f ms CPU  %6.1f MiB  %s\n", millis(median(times[i])), millis(median(cpu[i])),
			float64(memory[i])/1024, command[strings.LastIndex(strings.Fields(command)[0], "/")+1:])
	}
	ratio := func(of [2][]time.Duration) float64 { return float64(median(of[0])) / float64(median(of[1])) }
	fmt.Printf("  ratio %.2f, of CPU time %.2f (median of %d runs each, alternating)\n",
		ratio(times), ratio(cpu), *runs)
}

// measure returns the wall and the CPU time of a command and its peak resident memory in KiB.
func measure(args []string) (took, busy time.Duration, peak int64, err error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = nil, nil
	start := time.Now()
	err = cmd.Run()
	took = time.Since(start)
	if cmd.ProcessState == nil {
		return took, 0, 0, err // it did not start
	}
	busy = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		peak = usage.Maxrss
	}
	return took, busy, peak, err
}

func median(sorted []time.Duration) time.Duration { return sorted[len(sorted)/2] }

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
