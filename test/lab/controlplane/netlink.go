//go:build linux

package controlplane

import (
	"encoding/binary"
	"fmt"
	"net"
	"syscall"
)

// netlink asks the kernel to set up interfaces, as ip(8) does, which not every machine has.
type netlink struct {
	socket   int
	sequence uint32
}

func openNetlink() (*netlink, error) {
	socket, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, syscall.NETLINK_ROUTE)
	if err != nil {
		return nil, fmt.Errorf("netlink: %w", err)
	}
	return &netlink{socket: socket}, nil
}

func (n *netlink) close() { _ = syscall.Close(n.socket) }

// up is: ip link set INTERFACE up.
func (n *netlink) up(index int) error {
	// struct ifinfomsg: family, padding, type, index, flags, and which of the flags change.
	body := []byte{syscall.AF_UNSPEC, 0}
	body = binary.NativeEndian.AppendUint16(body, 0)
	body = binary.NativeEndian.AppendUint32(body, uint32(index))
	body = binary.NativeEndian.AppendUint32(body, syscall.IFF_UP)
	body = binary.NativeEndian.AppendUint32(body, syscall.IFF_UP)
	return n.request(syscall.RTM_NEWLINK, 0, body)
}

// addAddress is: ip address add IPv4/32 dev INTERFACE.
func (n *netlink) addAddress(index int, ip net.IP) error {
	ip = ip.To4()
	// struct ifaddrmsg: family, length of the prefix, flags, scope, index.
	body := []byte{syscall.AF_INET, 32, 0, syscall.RT_SCOPE_UNIVERSE}
	body = binary.NativeEndian.AppendUint32(body, uint32(index))
	body = appendAttribute(body, syscall.IFA_LOCAL, ip)
	body = appendAttribute(body, syscall.IFA_ADDRESS, ip)
	return n.request(syscall.RTM_NEWADDR, syscall.NLM_F_CREATE|syscall.NLM_F_EXCL, body)
}

// addDefaultRoute is: ip route add default dev INTERFACE.
func (n *netlink) addDefaultRoute(index int) error {
	// struct rtmsg: family, lengths of destination and source, TOS, table, protocol, scope, type, flags.
	body := []byte{syscall.AF_INET, 0, 0, 0, syscall.RT_TABLE_MAIN, syscall.RTPROT_BOOT, syscall.RT_SCOPE_LINK, syscall.RTN_UNICAST}
	body = binary.NativeEndian.AppendUint32(body, 0)
	body = appendAttribute(body, syscall.RTA_OIF, binary.NativeEndian.AppendUint32(nil, uint32(index)))
	return n.request(syscall.RTM_NEWROUTE, syscall.NLM_F_CREATE|syscall.NLM_F_EXCL, body)
}

// appendAttribute appends a struct rtattr with its data; both are of whole words here.
func appendAttribute(b []byte, kind uint16, data []byte) []byte {
	b = binary.NativeEndian.AppendUint16(b, uint16(syscall.SizeofRtAttr+len(data)))
	b = binary.NativeEndian.AppendUint16(b, kind)
	return append(b, data...)
}

// request sends a message and waits for the kernel's yes or no.
func (n *netlink) request(kind, flags uint16, body []byte) error {
	n.sequence++
	// struct nlmsghdr: length, type, flags, sequence, port.
	message := binary.NativeEndian.AppendUint32(nil, uint32(syscall.SizeofNlMsghdr+len(body)))
	message = binary.NativeEndian.AppendUint16(message, kind)
	message = binary.NativeEndian.AppendUint16(message, flags|syscall.NLM_F_REQUEST|syscall.NLM_F_ACK)
	message = binary.NativeEndian.AppendUint32(message, n.sequence)
	message = binary.NativeEndian.AppendUint32(message, 0)
	message = append(message, body...)
	if err := syscall.Sendto(n.socket, message, 0, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}); err != nil {
		return err
	}

	answer := make([]byte, syscall.Getpagesize())
	length, _, err := syscall.Recvfrom(n.socket, answer, 0)
	if err != nil {
		return err
	}
	messages, err := syscall.ParseNetlinkMessage(answer[:length])
	if err != nil {
		return err
	}
	for _, m := range messages {
		if m.Header.Seq == n.sequence && m.Header.Type == syscall.NLMSG_ERROR && len(m.Data) >= 4 {
			if code := int32(binary.NativeEndian.Uint32(m.Data)); code != 0 {
				return syscall.Errno(-code)
			}
			return nil
		}
	}
	return fmt.Errorf("netlink: no answer to message %d", n.sequence)
}
