package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/mvpcheck/mvpcheck/internal/demo"
	"github.com/mvpcheck/mvpcheck/internal/handoff"
	"github.com/mvpcheck/mvpcheck/pkg/checks"
	"github.com/mvpcheck/mvpcheck/pkg/patch"
)

// demoTimeout bounds each request of the story: loopback answers at once or not at all.
const demoTimeout = 5 * time.Second

// demoPath is of an object that all servers with its resource have.
const demoPath = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies/" + demo.Policy

// A story is one run of mvpcheck demo.
type story struct {
	*app
	ctx context.Context
	o   *demoOptions
	cp  *demo.ControlPlane
}

// tellStory tells the story. Each step is what a command does; where one does not come to what it should, the story ends.
func (a *app) tellStory(ctx context.Context, o *demoOptions) error {
	s := &story{app: a, ctx: ctx, o: o}
	defer func() {
		if s.cp != nil {
			s.cp.Close()
		}
	}()
	for _, step := range []func() error{s.configuration, s.patch, s.without, s.with, s.end} {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// wentWrong is an error that is nobody's but ours.
func wentWrong(format string, args ...any) error {
	return fmt.Errorf("the demo did not go as it should: "+format, args...)
}

// say writes what stands between the outputs of the commands.
func (s *story) say(text string) error {
	if s.o.quiet {
		return nil
	}
	return s.write(text)
}

// command writes a command line as a person would type it.
func (s *story) command(words string) error {
	gap := "\n"
	if s.o.quiet {
		gap = ""
	}
	return s.write(gap + "$ " + s.program + " " + words + "\n" + gap)
}

// configuration is the first step: what most clusters have, and what is wrong with it.
func (s *story) configuration() error {
	if err := s.say("The upgrade of a cluster from 1.35 to 1.36, told on three embedded API servers. No cluster is asked, and no file\n" +
		"is read or written. Below each $ is what the command prints; of patch, the diff and the steps.\n\n" +
		"1. A configuration as most clusters have it. " + demoFile + ":\n\n" + indent(demo.Configuration)); err != nil {
		return err
	}
	failing, _, err := s.check(demoFile, demo.Configuration)
	if err == nil && !failing {
		err = wentWrong("check finds nothing wrong with a configuration that is not prepared")
	}
	return err
}

func indent(text string) string {
	return "   " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n   ") + "\n"
}

// check runs mvpcheck check on a text.
func (s *story) check(name, text string) (failing, untold bool, err error) {
	if err := s.command("check " + name); err != nil {
		return false, false, err
	}
	o := &checkOptions{options: newOptions(), quiet: s.o.quiet, color: s.o.color}
	o.addTo(&cobra.Command{})
	j, err := demoJob(name, text, &o.options)
	if err != nil {
		return false, false, err
	}
	r := &checkRun{app: s.app}
	err = r.run(s.ctx, []job{j}, o)
	return r.failing, r.untold, err
}

// patch is the second step: the change, and that it is enough.
func (s *story) patch() error {
	p, r, err := s.patchDemo()
	if err != nil {
		return err
	}
	if err := s.say("\n\n2. What to change, and in which order.\n"); err != nil {
		return err
	}
	if err := s.command("patch --diff " + demoFile); err != nil {
		return err
	}
	var steps bytes.Buffer
	if !s.o.quiet {
		steps.WriteString("\n")
		d, err := checks.Judge(r.Input.Clusters[0], p.judge.by(p.job.choices))
		if err != nil {
			return err
		}
		p.noteSteps(&steps, r, d, "")
	}
	if err := s.write(patch.Diff(r.Name, r.Before, r.After) + steps.String()); err != nil {
		return err
	}
	failing, untold, err := s.check("patched.yaml", string(r.After))
	if err == nil && (failing || untold) {
		err = wentWrong("check finds something wrong with the patched configuration")
	}
	return err
}

// without is the third step: the servers in the middle of the upgrade, with the configuration as it was.
func (s *story) without() (err error) {
	if err := s.say("\n\n3. The upgrade without the patch, on its way: cp-2 and cp-3 run 1.36 already, cp-1 still 1.35.\n"); err != nil {
		return err
	}
	if s.cp, err = s.startDemo(s.ctx, stateUnprepared); err != nil {
		return err
	}
	result, code, err := s.probe()
	if err != nil {
		return err
	}
	if code != exitFindings || count(result, handoff.NotFound) == 0 {
		return wentWrong("probe sees no false 404 where nothing is handed on (exit code %d)", code)
	}
	if err := s.say("\nThe object is there, and the old server says that it knows no such thing:\n\n"); err != nil {
		return err
	}
	got, err := s.ask()
	if err == nil && (got[0].status != http.StatusNotFound || got[1].status != http.StatusOK) {
		err = wentWrong("the servers answer %d and %d", got[0].status, got[1].status)
	}
	return err
}

// with is the fourth step: the same servers with the patched configuration.
func (s *story) with() error {
	if err := s.say("\n\n4. The same servers, with the patched configuration rolled out.\n"); err != nil {
		return err
	}
	_, r, err := s.patchDemo()
	if err != nil {
		return err
	}
	if err := s.cp.RollOut(s.ctx, string(r.After)); err != nil {
		return err
	}
	result, code, err := s.probe()
	if err != nil {
		return err
	}
	if code != exitOK || count(result, handoff.HandedOff) == 0 || count(result, handoff.NotFound) > 0 {
		return wentWrong("probe does not prove the hand-off (exit code %d)", code)
	}
	if err := s.say("\nThe same request again: the old server hands it to a peer.\n\n"); err != nil {
		return err
	}
	got, err := s.ask()
	if err == nil && (got[0].status != http.StatusOK || got[1].status != http.StatusOK) {
		err = wentWrong("the servers answer %d and %d", got[0].status, got[1].status)
	}
	return err
}

// probe runs mvpcheck probe on the servers, and returns what it found and its exit code.
func (s *story) probe() (*checks.LiveResult, int, error) {
	if err := s.command("probe"); err != nil {
		return nil, 0, err
	}
	o := &probeOptions{timeout: demoTimeout, failOn: "error", color: s.o.color, quiet: s.o.quiet}
	if err := o.validate(); err != nil {
		return nil, 0, err
	}
	o.outputs.formats = formatNames(true)
	cp, result, err := s.askUntilProved(s.ctx, s.cp.Config(), demo.Context, o)
	if err != nil {
		return nil, 0, err
	}
	err = s.reportProbe(cp, &result, o)
	var e *exitError
	switch {
	case err == nil:
		return &result, exitOK, nil
	case errors.As(err, &e) && e.err == nil:
		return &result, e.code, nil
	}
	return nil, 0, err
}

func count(result *checks.LiveResult, outcome handoff.Outcome) (n int) {
	for i := range result.Routes {
		if result.Routes[i].Outcome == outcome {
			n++
		}
	}
	return n
}

// A demoAnswer is what a server answers to a plain GET.
type demoAnswer struct {
	status int
	text   string
}

// ask asks the old server and a new one for the same object, as any client does.
func (s *story) ask() ([]demoAnswer, error) {
	var lines strings.Builder
	fmt.Fprintf(&lines, "GET %s\n", demoPath)
	var answers []demoAnswer
	for _, server := range s.cp.Servers()[:2] {
		a, err := getObject(s.ctx, server.Config(), demoPath)
		if err != nil {
			return nil, err
		}
		answers = append(answers, a)
		fmt.Fprintf(&lines, "   %s  %s  %d  %s\n", server.Name, strings.TrimPrefix(server.Release(), "v"), a.status, a.text)
	}
	return answers, s.write(lines.String())
}

// getObject asks a server for an object, and says what it gets: the kind and name, or the message.
func getObject(ctx context.Context, cfg *rest.Config, path string) (demoAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, demoTimeout)
	defer cancel()
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return demoAnswer{}, err
	}
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, cfg.Host+path, nil)
	if err != nil {
		return demoAnswer{}, err
	}
	res, err := client.Do(req)
	if err != nil {
		return demoAnswer{}, err
	}
	defer res.Body.Close()
	var object struct {
		Kind, Message string
		Metadata      struct{ Name string }
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&object); err != nil {
		return demoAnswer{}, err
	}
	text := object.Message
	if res.StatusCode == http.StatusOK {
		text = object.Kind + " " + object.Metadata.Name
	}
	return demoAnswer{res.StatusCode, text}, nil
}

// end says how to go on.
func (s *story) end() error {
	return s.say(s.inProgramsName(`

On a cluster of your own, where the upgrade has not begun:

   kubectl -n kube-system get configmap kubeadm-config -o yaml | mvpcheck check -
   mvpcheck probe

To try probe and kubectl on these servers: mvpcheck demo --serve
`))
}
