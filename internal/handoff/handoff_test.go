package handoff

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// good returns two servers and a link of which everything is known to be right.
func good() (sender, peer Server, link Link) {
	s := Server{Gate: Yes, PeerCA: Yes, Identity: Yes, Address: Yes}
	return s, s, Link{Reached: Yes, Named: Yes, Trusted: Yes, Accepted: Yes, Readable: Yes, Direct: Yes, Proved: Unknown}
}

func TestJudge(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(sender, peer *Server, link *Link)
		want   Answer
		causes []Cause
	}{
		{"all right", func(*Server, *Server, *Link) {}, Yes, nil},
		{"proved, whatever else", func(s, _ *Server, l *Link) { s.Gate, l.Proved = Unknown, Yes }, Yes, nil},
		{"the sender's gate", func(s, _ *Server, _ *Link) { s.Gate = No }, No, []Cause{SenderGateOff}},
		{"the sender's CA", func(s, _ *Server, _ *Link) { s.PeerCA = No }, No, []Cause{SenderNoPeerCA}},
		{"the peer's gate", func(_, p *Server, _ *Link) { p.Gate = No }, No, []Cause{PeerGateOff}},
		{"the peer needs no CA", func(_, p *Server, _ *Link) { p.PeerCA = No }, Yes, nil},
		{"one identity", func(s, p *Server, _ *Link) { s.Identity, p.Identity = No, No }, No, []Cause{SharedIdentity}},
		{"the sender shares its identity with a third", func(s, _ *Server, _ *Link) { s.Identity = No }, Yes, nil},
		{"the peer shares its identity with a third", func(_, p *Server, _ *Link) { p.Identity = No }, Unknown, []Cause{SharedIdentity}},
		{"the sender's identity is not known", func(s, _ *Server, _ *Link) { s.Identity = Unknown }, Unknown, []Cause{SharedIdentity}},
		{"one address", func(_, p *Server, _ *Link) { p.Address = No }, No, []Cause{SharedAddress}},
		{"the sender's own address does not matter", func(s, _ *Server, _ *Link) { s.Address = No }, Yes, nil},
		{"unreachable", func(_, _ *Server, l *Link) { l.Reached, l.Named, l.Trusted = No, Unknown, Unknown }, No, []Cause{PeerUnreachable}},
		{"misnamed", func(_, _ *Server, l *Link) { l.Named, l.Trusted = No, No }, No, []Cause{PeerMisnamed}},
		{"proxied", func(_, _ *Server, l *Link) { l.Direct, l.Trusted = No, No }, No, []Cause{Proxied}},
		{"untrusted", func(_, _ *Server, l *Link) { l.Trusted = No }, No, []Cause{PeerUntrusted}},
		{"refused", func(_, _ *Server, l *Link) { l.Accepted = No }, No, []Cause{SenderRefused}},
		{"undiscoverable", func(_, _ *Server, l *Link) { l.Readable = No }, No, []Cause{Undiscoverable}},
		{"a cause hides those behind it", func(s, p *Server, l *Link) { s.Gate, p.Gate, l.Reached = No, No, No }, No, []Cause{SenderGateOff}},
		{"an unknown does not hide a cause", func(s, _ *Server, l *Link) { s.PeerCA, l.Trusted = Unknown, No }, No, []Cause{PeerUntrusted}},
		{"unknown", func(_, _ *Server, l *Link) { l.Trusted, l.Accepted = Unknown, Unknown }, Unknown, []Cause{PeerUntrusted, SenderRefused}},
		{"disproved without a cause", func(_, _ *Server, l *Link) { l.Proved = No }, No, nil},
		{"disproved, and what is not known is no cause", func(_, _ *Server, l *Link) { l.Proved, l.Trusted = No, Unknown }, No, nil},
		{"disproved, with the cause", func(_, _ *Server, l *Link) { l.Proved, l.Trusted = No, No }, No, []Cause{PeerUntrusted}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			sender, peer, link := good()
			tc.change(&sender, &peer, &link)
			got, causes := Judge(sender, peer, link)
			if got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			if d := cmp.Diff(tc.causes, causes); d != "" {
				t.Errorf("causes (-want +got):\n%s", d)
			}
		})
	}
}
