package cli

import "net"

// reachable is the host that a client on this machine can connect to: a server that listens on all
// addresses is reached over the loopback one.
func reachable(addr *net.TCPAddr) string {
	if addr.IP.IsUnspecified() {
		return "127.0.0.1"
	}
	return addr.IP.String()
}
