//go:build lab && linux

package demo

// differences are all that may be. Anything else that differs fails the test, and so does an entry that nothing needs.
var differences = []difference{
	{`.*`, `/(items/\d+/)?metadata/(uid|resourceVersion|creationTimestamp|generation|managedFields/.*)`, "of the moment, and what etcd would keep"},
	{`/version.*`, `/(gitCommit|gitTreeState|buildDate|goVersion|compiler|platform)`, "of the build, and no client decides by it"},
	{`/apis Accept: .*`, `/message`, "the real servers name the forms that only they have: YAML and protobuf"},
	{`.* Accept: application/json;as=Table.*`, `/(kind|apiVersion|columnDefinitions|rows|items)(/.*)?`, "clients that ask for a table take a list, too, and print names and ages"},
	{`.*/leases\?.*`, `/items/\d+/spec/(holderIdentity|renewTime)`, "of the process and the moment"},
	{`.*/endpointslices\?.*`, `/items/0/(endpoints|ports)/.*`, "one address with three ports, where real servers have an address each"},
	{`.*/pods\?.*`, `/items/\d+/spec/containers/0/command/\d+`, "addresses of their own; TestAgainstReal/probe compares the flags"},
	{`.*/pods\?.*`, `/items/\d+/(spec/containers/0/.*/(host|port|containerPort|hostPort)|status/(hostIP|podIP)(s/0/ip)?)`, "addresses of their own"},
	{`.*/extension-apiserver-authentication`, `/data/(client-ca-file|requestheader-client-ca-file)`, "CAs of their own"},
	{`.*/apiservices`, `/items/\d+/status/conditions/0/lastTransitionTime`, "of the moment"},
	{`.*/componentstatuses.*`, `/metadata(/resourceVersion)?`, "a list that is asked of the components, and not of etcd"},
	{`.*/services/kubernetes`, `/spec/ports/0/targetPort`, "ports of their own"},
	{`/flagz.*`, `/flags/(advertise-address|external-hostname|secure-port|bind-address)`, "addresses of their own; the lab sets bind-address"},
	{`/flagz.*`, `/flags/etcd-(cafile|certfile|keyfile|servers)`, "the lab's etcd has no TLS"},
	{`/flagz.*`, `/flags/watch-cache-sizes`, "what a server sets itself at its start, in any order"},
}
