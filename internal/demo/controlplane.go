package demo

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/mvpcheck/mvpcheck/internal/release"
	"github.com/mvpcheck/mvpcheck/pkg/config"
)

// loopback is the address of all servers, which differ in their ports: not every system has more of 127.0.0.0/8.
var loopback = net.IPv4(127, 0, 0, 1)

// Node is a control-plane node.
type Node struct {
	Name    string
	Release release.Release
}

// Nodes are those of an upgrade from 1.35 to 1.36 that is on its way: one node is still to be upgraded.
var Nodes = []Node{{"cp-1", release.OfMinor(35)}, {"cp-2", release.OfMinor(36)}, {"cp-3", release.OfMinor(36)}}

// Configuration is a ClusterConfiguration as most clusters have it: nothing in it is for the hand-off.
//
//go:embed cluster.yaml
var Configuration string

// ControlPlane is a control plane whose servers run, from Start to Close.
type ControlPlane struct {
	servers []*Server
	pki     *pki
	token   string
	created time.Time
	// objects are those that all servers share, by "GROUP/RESOURCE"; values are to be filled in.
	objects map[string]json.RawMessage
}

// Start starts a server for each of the nodes, with the command line that kubeadm writes for it from the
// ClusterConfiguration. The servers know each other when it returns.
func Start(ctx context.Context, configuration string) (cp *ControlPlane, err error) {
	cp = &ControlPlane{token: rand.Text(), created: time.Now()}
	if err = cp.listen(); err == nil {
		err = cp.RollOut(ctx, configuration)
	}
	if err != nil {
		cp.Close()
		return nil, err
	}
	return cp, nil
}

// listen makes the servers, which do not serve yet.
func (cp *ControlPlane) listen() (err error) {
	readRecorded("objects", &cp.objects)
	if cp.pki, err = newPKI(); err != nil {
		return err
	}
	for range Nodes {
		l, err := net.Listen("tcp", net.JoinHostPort(loopback.String(), "0"))
		if err != nil {
			return err
		}
		s := &Server{Address: l.Addr().String(), cp: cp, listener: l, done: make(chan struct{})}
		cp.servers = append(cp.servers, s)
	}
	// Reports sort the addresses: let that be the order of the nodes.
	slices.SortFunc(cp.servers, func(a, b *Server) int { return strings.Compare(a.Address, b.Address) })
	for i, n := range Nodes {
		if err := cp.servers[i].setUp(n); err != nil {
			return fmt.Errorf("%s: %w", n.Name, err)
		}
	}
	return nil
}

// RollOut starts all servers anew, each with the command line that kubeadm writes for it from the ClusterConfiguration.
// They know each other when it returns.
func (cp *ControlPlane) RollOut(ctx context.Context, configuration string) error {
	if err := cp.configure(configuration); err != nil {
		return err
	}
	cp.acquaint(ctx)
	return ctx.Err()
}

// configure gives each server a new process and has it serve, or none where one would exit.
func (cp *ControlPlane) configure(configuration string) error {
	in, err := config.Read("ClusterConfiguration", []byte(configuration))
	switch {
	case err != nil:
		return err
	case len(in.Clusters) != 1:
		return errors.New("expected one ClusterConfiguration")
	}
	started := make([]*process, len(cp.servers))
	for i, s := range cp.servers {
		if started[i], err = newProcess(s, configuration, in.Clusters[0]); err != nil {
			return fmt.Errorf("kube-apiserver %s on %s exits: %w", s.release.Version, s.Name, err)
		}
	}
	for i, s := range cp.servers {
		if old := s.process.Swap(started[i]); old != nil {
			old.stop()
		}
	}
	// Not before: nobody is to ask a server that has no settings yet.
	for _, s := range cp.servers {
		s.serve()
	}
	return nil
}

// acquaint has each server read its peers.
func (cp *ControlPlane) acquaint(ctx context.Context) {
	var wg sync.WaitGroup
	for _, s := range cp.servers {
		for _, peer := range cp.servers {
			if s != peer {
				wg.Go(func() { s.process.Load().learn(ctx, peer) })
			}
		}
	}
	wg.Wait()
}

// Configuration returns the ClusterConfiguration that the servers run with.
func (cp *ControlPlane) Configuration() string {
	return cp.servers[0].process.Load().configuration
}

// Close ends the servers and waits for that.
func (cp *ControlPlane) Close() {
	var wg sync.WaitGroup
	for _, s := range cp.servers {
		wg.Go(s.close)
	}
	wg.Wait()
}

// Servers returns the servers in the order of their nodes.
func (cp *ControlPlane) Servers() []*Server { return cp.servers }

// Config is the connection of an administrator to the first server, as to the address of a load balancer in a real
// cluster.
func (cp *ControlPlane) Config() *rest.Config { return cp.servers[0].Config() }
