package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/mvpcheck/mvpcheck/internal/files"
	"github.com/mvpcheck/mvpcheck/internal/report"
	"github.com/mvpcheck/mvpcheck/internal/yamldoc"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// stdinName is what standard input is called where --stdin-filename does not say.
const stdinName = "<stdin>"

// job is one file to check.
type job struct {
	// name is the file's, or what standard input is called; argument is what names it on the command line.
	name, argument string
	// data is the content where it has been read.
	data []byte
	// walked: the file was found in a folder. Then it need not hold a configuration.
	walked bool
	// err is why there is nothing to read.
	err     error
	choices *choices
}

// jobs returns the files that PATH arguments name, those of a folder in lexical order.
func (a *app) jobs(ctx context.Context, paths []string, o *options) ([]job, error) {
	var jobs []job
	stdin := false
	for _, path := range paths {
		switch {
		case path == "-" && stdin:
			return nil, usageError("-: standard input can be read only once")
		case path == "-":
			stdin = true
			j := job{name: stdinName, argument: "-"}
			if o.stdinFilename != "" {
				j.name = o.stdinFilename
			}
			j.data, j.err = a.readStdin(ctx, j.name)
			jobs = append(jobs, j)
		case path == "":
			return nil, usageError("PATH is empty")
		case isDir(path) == nil:
			names, err := config.Walk(path)
			for _, name := range names {
				jobs = append(jobs, job{name: name, argument: name, walked: true})
			}
			if err != nil {
				jobs = append(jobs, job{name: path, argument: path, err: err})
			}
		default:
			jobs = append(jobs, job{name: path, argument: path})
		}
	}
	if o.stdinFilename != "" && !stdin {
		return nil, usageError("--stdin-filename: standard input is not read; give - as PATH")
	}
	return jobs, ctx.Err()
}

// readStdin reads standard input as far as an input may go. It ends with the context: a terminal may never.
func (a *app) readStdin(ctx context.Context, name string) ([]byte, error) {
	var buf bytes.Buffer
	done := make(chan error, 1)
	go func() { done <- files.Configuration.ReadFrom(&buf, name, a.In) }()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case err := <-done:
		return buf.Bytes(), err
	}
}

// read reads the configuration of a job. passedOver says why a file of a folder has none.
func (j *job) read() (in *config.Input, passedOver string, err error) {
	switch {
	case j.err != nil:
		return nil, "", j.err
	case j.walked:
		return readWalked(j.name)
	case j.data != nil || j.argument == "-":
		in, err = config.Read(j.name, j.data)
	default:
		in, err = config.ReadFile(j.name)
	}
	return in, "", err
}

// buffers are for files that are looked at and passed over, which are most of a folder.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func readWalked(name string) (in *config.Input, passedOver string, err error) {
	buf := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buf)
	buf.Reset()
	if err := files.Configuration.ReadRegular(buf, name); err != nil {
		return nil, "", err
	}
	if !config.MayConcern(buf.Bytes()) {
		return nil, "it says nothing of kubeadm or kube-apiserver", nil
	}
	in, err = config.Read(name, bytes.Clone(buf.Bytes()))
	var foreign *config.Error
	if errors.As(err, &foreign) && foreign.Foreign {
		return nil, foreign.Msg, nil
	}
	if err == nil && len(in.Clusters) == 0 && len(in.Patches) == 0 {
		return nil, noteTexts(in), nil
	}
	return in, "", err
}

// noteTexts are the notes of an input in one line.
func noteTexts(in *config.Input) string {
	texts := make([]string, len(in.Notes))
	for i, n := range in.Notes {
		texts[i] = n.Text
	}
	return strings.Join(texts, "; ")
}

// inputError turns an error of reading into one of the report. name is the file that was to be read.
func inputError(name string, err error) report.InputError {
	var (
		syntax *yamldoc.SyntaxError
		input  *config.Error
	)
	switch {
	case errors.As(err, &syntax):
		return placedError(syntax.Place, syntax.Msg)
	case errors.As(err, &input):
		return placedError(input.Place, input.Msg)
	}
	return report.InputError{File: report.Text(name), Message: report.Text(strings.TrimPrefix(err.Error(), name+": "))}
}

func placedError(at yamldoc.Place, msg string) report.InputError {
	p := at.File.Position(at.Start)
	return report.InputError{File: report.Text(at.File.Name), Line: p.Line, Column: p.Column, Message: report.Text(msg)}
}
