// Package handoff decides which API server can hand a request to which peer, what becomes of a request for a resource
// that a server lacks, and how both change while one server after the other is replaced. It is pure: the facts come
// from configurations or from a live control plane.
package handoff

// Answer is what is known of a fact.
type Answer string

// The answers. The zero value is no answer; use Unknown.
const (
	Yes     Answer = "yes"
	No      Answer = "no"
	Unknown Answer = "unknown"
)

// Server is what is known of one API server.
type Server struct {
	// Gate: the feature gate is on. PeerCA: --peer-ca-file is set.
	Gate, PeerCA Answer
	// Identity: it has an identity lease of its own. Address: the address in it is no other server's.
	Identity, Address Answer
}

// Link is what is known of the way from one server to a peer.
type Link struct {
	// Reached: the address that the peer publishes answers. Named: the peer's serving certificate is valid for
	// kubernetes.default.svc. Trusted: the sender takes the certificate. Accepted: the peer takes the sender's proxy
	// client certificate. Readable: the peer lets it read its discovery documents. Direct: the sender asks no proxy
	// instead.
	Reached, Named, Trusted, Accepted, Readable, Direct Answer
	// Proved: a request was seen to arrive.
	Proved Answer
}

// Cause is why a server hands nothing to a peer.
type Cause string

// The causes, in the order in which they stop a request. The first one is reported: it hides the others.
const (
	SenderGateOff   Cause = "the sender's gate is off"                           // H2
	SenderNoPeerCA  Cause = "the sender has no peer CA"                          // H3
	SharedIdentity  Cause = "the two share an identity lease"                    // MVP516
	PeerGateOff     Cause = "the peer's gate is off, so it publishes no address" // H2
	SharedAddress   Cause = "the peer publishes another server's address"        // H9
	Proxied         Cause = "the sender asks a proxy instead of the peer"        // H15
	PeerUnreachable Cause = "the peer's published address does not answer"       // H8
	PeerMisnamed    Cause = "the peer's certificate is not valid for its name"   // H5
	PeerUntrusted   Cause = "the sender does not trust the peer"                 // H4
	SenderRefused   Cause = "the peer refuses the sender"                        // H6, H7
	Undiscoverable  Cause = "the peer forbids reading discovery"                 // MVP515
	// RandomPeer is one of a route, and makes its outcome unknown.
	RandomPeer Cause = "the sender asks any peer that has the resource, and one has it without this subresource"
	// SenderAsksOnce can only make a verdict unknown.
	SenderAsksOnce Cause = "the sender is older than 1.35 and asks a peer only in the first second after one of them " +
		"has started"
)

// Judge tells whether the sender hands requests to the peer. No comes with its cause, or with none where requests have
// shown it and no fact says why; Unknown with the causes that cannot be ruled out.
func Judge(sender, peer Server, link Link) (Answer, []Cause) {
	if link.Proved == Yes {
		return Yes, nil
	}
	var unknown []Cause
	for _, fact := range []struct {
		answer Answer
		cause  Cause
	}{
		{sender.Gate, SenderGateOff},
		{sender.PeerCA, SenderNoPeerCA},
		{apart(sender.Identity, peer.Identity), SharedIdentity},
		{peer.Gate, PeerGateOff},
		{peer.Address, SharedAddress},
		{link.Direct, Proxied},
		{link.Reached, PeerUnreachable},
		{link.Named, PeerMisnamed},
		{link.Trusted, PeerUntrusted},
		{link.Accepted, SenderRefused},
		{link.Readable, Undiscoverable},
	} {
		switch fact.answer {
		case No:
			return No, []Cause{fact.cause}
		case Unknown:
			unknown = append(unknown, fact.cause)
		}
	}
	switch {
	case link.Proved == No:
		return No, nil
	case len(unknown) > 0:
		return Unknown, unknown
	}
	return Yes, nil
}

// apart tells whether the peer has an identity lease that the sender does not take for its own. Two servers with one
// lease hide each other; of the two a third server finds one, and which that is nothing tells here.
func apart(sender, peer Answer) Answer {
	switch {
	case sender == No && peer == No:
		return No
	case sender != Unknown && peer == Yes:
		return Yes
	}
	return Unknown
}

func both(a, b Answer) Answer {
	switch {
	case a == No || b == No:
		return No
	case a == Yes && b == Yes:
		return Yes
	}
	return Unknown
}
