package cli

import (
	"log/slog"
	"net"
	"os"
)

// notify sends a state to the service manager that has started the process: systemd, for a unit of
// Type=notify, waits for READY=1 before it starts what needs the server. Without a service manager
// (NOTIFY_SOCKET is not set) it does nothing. A name that begins with @ is an abstract socket, for
// package net too.
func notify(logger *slog.Logger, state string) {
	socket := os.Getenv("NOTIFY_SOCKET")
	if socket == "" {
		return
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err == nil {
		_, err = c.Write([]byte(state))
		_ = c.Close()
	}
	if err != nil {
		logger.Warn("the service manager cannot be notified", "state", state, "err", err)
	}
}
