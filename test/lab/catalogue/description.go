//go:build lab && linux

package catalogue

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"

	"github.com/mvpcheck/mvpcheck/test/lab"
)

// description is what ../describe tells of a release.
type description struct {
	Version string
	Flags   []struct {
		Name, Type, Default              string
		Deprecated, NoValue, Accumulates bool
	}
	Gates []struct {
		Name  string
		Specs []struct {
			Since, Compat, Stage string
			Default, Locked      bool
		}
		Needs []string
	}
	KubeadmGates []string
	KubeadmTypes []struct {
		Version, Name string
		Fields        []struct{ Name, Type string }
	}
	Plugins  []string
	Versions []struct {
		GroupVersion    string
		Listed, Default bool
		On, Off         []string
	}
}

// describe asks the release.
func describe(ctx context.Context, r lab.Release) (*description, error) {
	path, err := r.Path(ctx, "describe")
	if err != nil {
		return nil, err
	}
	text, err := exec.CommandContext(ctx, path).Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var d description
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &d, nil
}

// stages are the names that a catalogue has for the stages of feature gates.
var stages = map[string]string{"PRE-ALPHA": "pre-alpha", "ALPHA": "alpha", "BETA": "beta", "": "ga", "DEPRECATED": "deprecated"}

// text is the catalogue but for its resources. What a catalogue has no words for is an error.
func (d *description) text() (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "kube-apiserver %s\n", d.Version)
	b.WriteString("# Made from this release by make update-catalogue; do not edit.\n")

	b.WriteString("\n[flags]\n")
	for _, f := range d.Flags {
		fmt.Fprintf(&b, "%s %s", f.Name, strings.ReplaceAll(f.Type, " ", ""))
		for _, word := range []struct {
			holds bool
			word  string
		}{{f.NoValue, "bare"}, {f.Accumulates, "again"}, {f.Deprecated, "deprecated"}} {
			if word.holds {
				b.WriteString(" " + word.word)
			}
		}
		if f.Default != "" && f.Default != "[]" && f.Default != "<nil>" {
			if strings.Join(strings.Fields(f.Default), " ") != f.Default {
				return "", fmt.Errorf("flag %s: the catalogue has no words for the default %q", f.Name, f.Default)
			}
			b.WriteString(" default=" + f.Default)
		}
		b.WriteString("\n")
	}

	b.WriteString("\n[gates]\n")
	for _, g := range d.Gates {
		b.WriteString(g.Name)
		for _, spec := range g.Specs {
			stage, ok := stages[spec.Stage]
			if !ok {
				return "", fmt.Errorf("gate %s: the catalogue has no word for stage %q", g.Name, spec.Stage)
			}
			fmt.Fprintf(&b, " %s=%s,%s", spec.Since, stage, onOff(spec.Default))
			if spec.Compat != "" {
				b.WriteString(",compat=" + spec.Compat)
			}
			if spec.Locked {
				b.WriteString(",locked")
			}
		}
		if len(g.Needs) > 0 {
			b.WriteString(" needs=" + strings.Join(g.Needs, ","))
		}
		b.WriteString("\n")
	}

	b.WriteString("\n[kubeadm-gates]\n")
	for _, name := range d.KubeadmGates {
		b.WriteString(name + "\n")
	}

	b.WriteString("\n[kubeadm-types]\n")
	for _, t := range d.KubeadmTypes {
		fmt.Fprintf(&b, "%s.%s", t.Version, t.Name)
		for _, f := range t.Fields {
			fmt.Fprintf(&b, " %s=%s", f.Name, f.Type)
		}
		b.WriteString("\n")
	}

	b.WriteString("\n[admission-plugins]\n")
	for _, name := range d.Plugins {
		b.WriteString(name + "\n")
	}

	b.WriteString("\n[versions]\n")
	for _, v := range d.Versions {
		state := onOff(v.Default)
		if !v.Listed {
			state = "unlisted"
		}
		if len(v.On)+len(v.Off) > 0 {
			return "", fmt.Errorf("%s: the catalogue has no words for resources with a default of their own: %q, %q", v.GroupVersion, v.On, v.Off)
		}
		fmt.Fprintf(&b, "%s %s\n", v.GroupVersion, state)
	}
	return b.String(), nil
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
