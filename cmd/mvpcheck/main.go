// Command mvpcheck checks whether a Kubernetes control plane can be upgraded without false 404s.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/mvpcheck/mvpcheck/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks the command to end; the next one ends it.
	context.AfterFunc(ctx, stop)
	os.Exit(cli.Main(ctx, os.Args, cli.OSStreams()))
}
