package cli

import (
	"context"
	"runtime"
	"runtime/debug"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/mvpcheck/mvpcheck/internal/report"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// outcome is what came of one job.
type outcome struct {
	name       string
	clusters   []report.Cluster
	passedOver string
	err        error
	// failing: a finding is at or above --fail-on.
	failing bool
}

// check does one job. A panic ends this job only.
func (j *judge) check(todo *job) (out *outcome) {
	out = &outcome{name: todo.name}
	defer func() {
		if r := recover(); r != nil {
			out = &outcome{name: todo.name, err: internalError(r)}
		}
	}()
	in, passedOver, err := todo.read()
	if err != nil || passedOver != "" {
		out.err, out.passedOver = err, passedOver
		return out
	}
	switch {
	case len(in.Clusters) == 0 && len(in.Patches) > 0:
		j.checkPatches(todo, in, out)
	case len(in.Clusters) == 0:
		c := report.Cluster{
			Source: report.Text(todo.name), Argument: report.Text(todo.argument), Notes: report.NotesOf(in),
			CannotTell: report.Text(noteTexts(in)),
		}
		out.clusters = []report.Cluster{c}
	default:
		out.err = j.checkClusters(todo, in, out)
	}
	return out
}

func (j *judge) checkClusters(todo *job, in *config.Input, out *outcome) error {
	judgements := make([]*checks.Judgement, len(in.Clusters))
	e := &editor{judge: j, choices: todo.choices, in: in, judgements: judgements, room: editsRoom}
	for i, c := range in.Clusters {
		j.extras.prepare(c, todo.choices)
		var err error
		if judgements[i], err = checks.Judge(c, j.by(todo.choices)); err != nil {
			return err
		}
	}
	checks.AddUnused(judgements)
	for i, judgement := range judgements {
		ch := todo.choices.forReport()
		if j.edits {
			ch.Edits = func(f *checks.Finding) []report.Edit { return e.edits(i, f) }
		}
		c := report.ClusterOf(judgement, ch)
		c.Argument = report.Text(todo.argument)
		if len(judgements) > 1 {
			c.Source += report.Text(" (" + judgement.Cluster.Name() + ")")
		}
		out.add(c)
	}
	out.clusters[0].Notes = append(out.clusters[0].Notes, report.NotesOf(in)...)
	return nil
}

// checkPatches reports on kubeadm patches that were given as a configuration.
func (j *judge) checkPatches(todo *job, in *config.Input, out *outcome) {
	judgement := checks.JudgePatches(in, j.by(todo.choices))
	checks.AddUnused([]*checks.Judgement{judgement})
	if todo.walked && len(judgement.Findings) == 0 {
		out.passedOver = "it is a kubeadm patch for kube-apiserver, without a ClusterConfiguration"
		return
	}
	c := report.ClusterOf(judgement, todo.choices.forReport())
	c.Notes = report.NotesOf(in)
	c.CannotTell = "a kubeadm patch says nothing about the other flags; give it with --patches beside the ClusterConfiguration"
	out.add(c)
}

func (o *outcome) add(c report.Cluster) {
	o.clusters = append(o.clusters, c)
	o.failing = o.failing || slices.ContainsFunc(c.Findings, func(f report.Finding) bool { return f.Fails })
}

// inFlight bounds the jobs that are done but not yet written, for each worker: a folder may have any number of files.
const inFlight = 8

// The heap, which is small for each file, may grow before it is swept: with Go's default most of the time for a folder would
// go into that. It is swept earlier where the whole comes near memoryLimit and what the report keeps of each file, with
// as much again to work in.
const (
	gcPercent     = 1000
	memoryLimit   = 50 << 20
	memoryPerFile = 8 << 10
)

// tuneGC sets these for a run over many files and returns what undoes it. Who sets Go's own variables knows better.
func (a *app) tuneGC(jobs int) (undo func()) {
	_, percentSet := a.lookup("GOGC")
	_, limitSet := a.lookup("GOMEMLIMIT")
	if percentSet || limitSet || jobs < 2 {
		return func() {}
	}
	percent, limit := debug.SetGCPercent(gcPercent), debug.SetMemoryLimit(memoryLimit+int64(jobs)*memoryPerFile)
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}

// checkAll does the jobs side by side and hands over what came of them in their order. It ends with the first error of
// emit.
func (j *judge) checkAll(ctx context.Context, jobs []job, emit func(*outcome) error) error {
	// More than there are processors: some wait for their file.
	workers := min(2*runtime.GOMAXPROCS(0), len(jobs))
	if workers < 2 {
		for i := range jobs {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := emit(j.check(&jobs[i])); err != nil {
				return err
			}
		}
		return nil
	}
	type task struct {
		*job
		done chan *outcome
	}
	g, ctx := errgroup.WithContext(ctx)
	todo := make(chan task, workers)
	ordered := make(chan task, inFlight*workers)
	g.Go(func() error {
		defer close(todo)
		defer close(ordered)
		for i := range jobs {
			t := task{&jobs[i], make(chan *outcome, 1)}
			select {
			case ordered <- t:
			case <-ctx.Done():
				return ctx.Err()
			}
			select {
			case todo <- t:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for range workers {
		g.Go(func() error {
			for t := range todo {
				t.done <- j.check(t.job)
			}
			return nil
		})
	}
	g.Go(func() error {
		for t := range ordered {
			select {
			case out := <-t.done:
				if err := emit(out); err != nil {
					return err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	return g.Wait()
}

// countClusters counts the clusters of all jobs, for the flags that belong to one.
func countClusters(jobs []job) int {
	n := 0
	for i := range jobs {
		if in, _, err := jobs[i].read(); err == nil && in != nil {
			n += len(in.Clusters)
		}
	}
	return n
}
