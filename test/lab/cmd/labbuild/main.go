// Labbuild builds the programs of the lab's releases, and etcd, that are not in the cache yet:
//
//	go run ./test/lab/cmd/labbuild [-release 1.36,1.37] [kubeadm] [kube-apiserver] [etcd]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/mvpcheck/mvpcheck/test/lab"
)

func main() {
	minors := flag.String("release", "", "only these releases, such as 1.36,1.37 (default all)")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: labbuild [-release MINOR,...] COMMAND...")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := build(ctx, *minors, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "labbuild:", err)
		os.Exit(1)
	}
}

func build(ctx context.Context, minors string, commands []string) error {
	releases, err := lab.ReadReleases()
	if err != nil {
		return err
	}
	if minors != "" {
		wanted := strings.Split(minors, ",")
		releases = slices.DeleteFunc(releases, func(r lab.Release) bool { return !slices.Contains(wanted, r.Minor) })
		if len(releases) != len(wanted) {
			return fmt.Errorf("-release %s: the lab lacks one of these", minors)
		}
	}
	if i := slices.Index(commands, "etcd"); i >= 0 {
		path, err := lab.BuildEtcd(ctx, os.Stderr)
		if err != nil {
			return err
		}
		fmt.Println(path)
		commands = slices.Delete(commands, i, i+1)
	}
	for _, r := range releases {
		paths, err := r.Build(ctx, os.Stderr, commands...)
		if err != nil {
			return err
		}
		for _, path := range paths {
			fmt.Println(path)
		}
	}
	return nil
}
