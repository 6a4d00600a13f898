//go:build linux

package controlplane

import (
	"context"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// AddMirrorPods creates the Pod objects of all servers, as their kubelets would; see [Server.AddMirrorPod].
func (cp *ControlPlane) AddMirrorPods(tb TB) {
	tb.Helper()
	for _, s := range cp.Servers() {
		s.AddMirrorPod(tb)
	}
}

// AddMirrorPod creates the Node and the Pod object by which a kubelet would show the server's static pod:
// kube-system/kube-apiserver-NODE, with the command line that the server really has. One that is there is replaced.
func (s *Server) AddMirrorPod(tb TB) {
	tb.Helper()
	if err := s.addMirrorPod(tb.Context()); err != nil {
		tb.Fatalf("%s: mirror pod: %v", s.Name, err)
	}
}

func (s *Server) addMirrorPod(ctx context.Context) error {
	pod, err := s.mirrorPod()
	if err != nil {
		return err
	}
	ready := []any{object{"type": "Ready", "status": "True"}}
	pod["status"] = object{
		"phase": "Running", "hostIP": s.Address, "hostIPs": []any{object{"ip": s.Address}},
		"podIP": s.Address, "podIPs": []any{object{"ip": s.Address}}, "conditions": ready,
	}
	node := object{
		"apiVersion": "v1", "kind": "Node",
		"metadata": object{"name": s.Name, "labels": object{
			"kubernetes.io/hostname": s.Name, "node-role.kubernetes.io/control-plane": "",
		}},
		"status": object{
			"addresses": []any{
				object{"type": "InternalIP", "address": s.Address}, object{"type": "Hostname", "address": s.Name},
			},
			"conditions": ready,
			"nodeInfo":   nodeInfo(s.Release.Version),
		},
	}
	// What was there may be another's idea of the pod, and most of a pod cannot be changed.
	if err := s.delete(ctx, &unstructured.Unstructured{Object: pod}); err != nil {
		return err
	}
	for _, o := range []object{node, pod} {
		if err := s.applyWithStatus(ctx, &unstructured.Unstructured{Object: o}); err != nil {
			return err
		}
	}
	return nil
}

// nodeInfo has all fields that the API wants, of which only the kubelet's version is of any interest.
func nodeInfo(version string) object {
	info := object{"kubeletVersion": version, "kubeProxyVersion": "", "operatingSystem": "linux", "architecture": "amd64"}
	for _, name := range []string{"machineID", "systemUUID", "bootID", "kernelVersion", "osImage", "containerRuntimeVersion"} {
		info[name] = "lab"
	}
	return info
}

// applyWithStatus applies an object and, where it has no other author, its status.
func (s *Server) applyWithStatus(ctx context.Context, o *unstructured.Unstructured) error {
	if err := s.apply(ctx, o); err != nil {
		return err
	}
	objects, err := s.objects(o)
	if err != nil {
		return err
	}
	_, err = objects.ApplyStatus(ctx, o.GetName(), o, applyOptions)
	return err
}

// Manifest returns kubeadm's static pod manifest with the command line that the server really has.
func (s *Server) Manifest(tb TB) []byte {
	tb.Helper()
	pod, err := s.mirrorPod()
	if err == nil {
		var text []byte
		if text, err = yaml.Marshal(pod); err == nil {
			return text
		}
	}
	tb.Fatalf("%s: manifest: %v", s.Name, err)
	return nil
}

// mirrorPod is kubeadm's static pod as the kubelet shows it.
func (s *Server) mirrorPod() (object, error) {
	var pod object
	if err := yaml.Unmarshal(s.manifest, &pod); err != nil {
		return nil, err
	}
	metadata := pod["metadata"].(object)
	metadata["name"] = "kube-apiserver-" + s.Name
	annotations, _ := metadata["annotations"].(object)
	if annotations == nil {
		annotations = object{}
		metadata["annotations"] = annotations
	}
	const hash = "00000000000000000000000000000000"
	annotations["kubernetes.io/config.hash"] = hash
	annotations["kubernetes.io/config.mirror"] = hash
	annotations["kubernetes.io/config.source"] = "file"

	spec := pod["spec"].(object)
	spec["nodeName"] = s.Name
	container := spec["containers"].([]any)[0].(object)
	container["command"] = append([]string{filepath.Base(serverPath)}, s.Args...)
	var env []any
	for _, variable := range s.Env {
		name, value, _ := strings.Cut(variable, "=")
		env = append(env, object{"name": name, "value": value})
	}
	delete(container, "env")
	if len(env) > 0 {
		container["env"] = env
	}
	return pod, nil
}
