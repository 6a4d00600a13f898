//go:build linux

package controlplane

import (
	"io"
	"net"
)

// Forward stands for a load balancer: until the end of the test it hands the connections to an address on to a server.
func Forward(tb TB, from, to string) {
	tb.Helper()
	l, err := net.Listen("tcp", from)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	tb.Cleanup(func() { l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer in.Close()
				out, err := net.Dial("tcp", to)
				if err != nil {
					return
				}
				defer out.Close()
				go func() { _, _ = io.Copy(out, in) }()
				_, _ = io.Copy(in, out)
			}()
		}
	}()
}
