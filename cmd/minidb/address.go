package main

import (
	"log/slog"
	"net"
)

// reachable is the host that a client on this machine can connect to: a server that listens on all
// addresses is reached over the loopback one.
func reachable(addr *net.TCPAddr) string {
	if addr.IP.IsUnspecified() {
		return "127.0.0.1"
	}
	return addr.IP.String()
}

// warnIfOpen warns that a server that listens on more than the loopback address asks for no
// password.
func warnIfOpen(log *slog.Logger, addr *net.TCPAddr) {
	if addr.IP.IsLoopback() {
		return
	}
	log.Warn("listening on an address that other machines can reach: there are no passwords and "+
		"no TLS yet, "+
		"so clients that do not come from a loopback address are refused, and any that a proxy "+
		"passes on are let in", "address", addr.String())
}
