//go:build lab && linux

package demo

// differences are all that may be. Anything else that differs fails the test, and so does an entry that nothing needs.
var differences = []difference{
	{`.*`, `/(items/\d+/)?metadata/(uid|resourceVersion|creationTimestamp|generation|managedFields/.*)`, "of the moment, and what etcd would keep"},
	{`/version.*`, `/(gitCommit|gitTreeState|buildDate|goVersion|compiler|platform)`, "of the build, and no client decides by it"},
	{`/api.*`, `/resources/[^ ]*/storageVersionHash`, "of how objects are stored, and nothing is"},
	{`/apis Accept: .*`, `/message`, "the real servers name the forms that only they have: YAML and protobuf"},
	{`.* Accept: application/json;as=Table.*`, `/(kind|apiVersion|columnDefinitions|rows|items)(/.*)?`, "clients that ask for a table take a list, too, and print names and ages"},
	{`.*/leases\?.*`, `/items/\d+/spec/(holderIdentity|renewTime)`, "of the process and the moment"},
	{`.*/endpointslices\?.*`, `/items/0/(endpoints|ports)/.*`, "one address with three ports, where real servers have an address each"},
	{`.*/pods\?.*`, `/items/\d+/(spec|status)(/.*)?`, "of kubelets, of which there are none; TestAgainstReal/probe compares the command lines"},
	{`.*/extension-apiserver-authentication`, `/data/(client-ca-file|requestheader-client-ca-file)`, "CAs of their own"},
	{`.*/apiservices`, `/items/\d+/(spec/(groupPriorityMinimum|versionPriority)|status/conditions/0/lastTransitionTime)`, "the order is that of the documents, which are compared"},
	{`.*/componentstatuses.*`, `/metadata(/resourceVersion)?`, "a list that is asked of the components, and not of etcd"},
	{`.*/services/kubernetes`, `/spec/ports/0/targetPort`, "ports of their own"},
	{`/flagz.*`, `/flags/(advertise-address|external-hostname|secure-port|bind-address)`, "addresses of their own; the lab sets bind-address"},
	{`/flagz.*`, `/flags/etcd-(cafile|certfile|keyfile|servers)`, "the lab's etcd has no TLS"},
	{`/flagz.*`, `/flags/(log-json-info-buffer-size|log-json-split-stream|watch-cache-sizes)`, "what a server sets itself at its start, or hides in --help"},
}
