//go:build linux

// Lab leaves a control plane of real servers running, to play with:
//
//	go run ./test/lab/cmd/lab up [FLAGS] 1.35 1.36 1.36
//	go run ./test/lab/cmd/lab exec -- kubectl get --raw /apis
//	go run ./test/lab/cmd/lab down
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/mvpcheck/mvpcheck/test/lab/controlplane"
)

const usage = `usage: lab up [FLAGS] RELEASE...   start a server of each release, such as: lab up 1.35 1.36 1.36
       lab exec -- COMMAND...    run a command where the servers can be reached
       lab down                  end it
`

func main() {
	if len(os.Args) < 2 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	var err error
	switch command, args := os.Args[1], os.Args[2:]; command {
	case "up":
		err = up(args)
	case "exec":
		err = execute(args)
	case "down":
		err = down()
	case "run", controlplane.NodeCommand:
		os.Exit(controlplane.Enter(func() int { return run(args) }))
	default:
		err = flag.ErrHelp
	}
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
}
