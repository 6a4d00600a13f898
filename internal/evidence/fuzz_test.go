package evidence

import (
	"bytes"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// FuzzRead proves that what can be read can be written, and is then the same for ever.
func FuzzRead(f *testing.F) {
	f.Add([]byte(written(f, controlPlane())))
	f.Add([]byte(written(f, &ControlPlane{APIVersion: APIVersion, Kind: Kind})))
	f.Add([]byte(`{"apiVersion":"mvpcheck.dev/v1alpha1","kind":"ProbeEvidence","servers":[{"address":"a","core":{"state":"ok","resources":[{"resource":"b"},{"resource":"a"}]},"local":{"state":"ok","same":"a core"}}]}`))
	f.Add([]byte(`{"apiVersion":"mvpcheck.dev/v1alpha1","kind":"ProbeEvidence","shared":{"leases":{"items":[{"renewed":"9999-12-31T23:59:59-01:00"}]}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Read(bytes.NewReader(text))
		if err != nil {
			if c != nil {
				t.Error("evidence beside an error")
			}
			return
		}
		for i := range c.Servers {
			if !slices.IsSortedFunc(c.Servers[i].Local.Resources, CompareResources) {
				t.Error("not sorted")
			}
		}
		_, _ = c.Doubtful(), c.Shared.Leases.Fresh()
		first := written(t, c)
		if strings.ContainsFunc(first, func(r rune) bool { return r != '\n' && !strconv.IsPrint(r) }) {
			t.Errorf("not printable: %q", first)
		}
		again, err := Read(strings.NewReader(first))
		if err != nil {
			t.Fatal(err)
		}
		if second := written(t, again); second != first {
			t.Errorf("%s\nand then\n%s", first, second)
		}
	})
}

// FuzzAddress proves that an address is that of a host by its number, in one spelling.
func FuzzAddress(f *testing.F) {
	for _, s := range []string{"192.0.2.11:6443", "[2001:db8::1]:06443", "[::ffff:1.2.3.4]:1", "cp-1:6443", "[fe80::1%eth0]:6443", "0.0.0.0:1", "1.2.3.4:+5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := Address(s)
		if err != nil {
			return
		}
		a, err := netip.ParseAddrPort(got)
		if err != nil || a.Port() == 0 || a.Addr().IsUnspecified() || a.Addr().IsMulticast() || a.Addr().Zone() != "" || a.String() != got {
			t.Errorf("%q: %q", s, got)
		}
		if again := Canonical(got); again != got {
			t.Errorf("%q: %q, then %q", s, got, again)
		}
	})
}
