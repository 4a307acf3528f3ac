// Package ports hands out ports of loopback for processes that must know theirs before they listen.
package ports

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// The ports that are handed out lie below those that the system gives to outgoing connections
// (from 32768 on Linux, from 49152 elsewhere): a connection takes none of them before its process
// listens, or between two of its runs.
const (
	lowest  = 10_000
	highest = 32_000
)

// held are sockets that keep the ports of this process from the others that use this package. They
// are of UDP, so that TCP stays free, and are closed when the process ends.
var held struct {
	mu      sync.Mutex
	sockets []net.PacketConn
}

// Free returns n ports of 127.0.0.1 on which nothing listens, and which Free returns to no process
// again before this one ends. It is an error if so many are not found.
func Free(n int) (ports []int, err error) {
	held.mu.Lock()
	defer held.mu.Unlock()
	for range 100 * n {
		if len(ports) == n {
			return ports, nil
		}
		port := lowest + rand.IntN(highest-lowest)
		if hold(port) {
			ports = append(ports, port)
		}
	}
	return ports, errors.New("ports of loopback are all in use")
}

// hold reports whether the port was free, and is now held.
func hold(port int) bool {
	address := fmt.Sprint("127.0.0.1:", port)
	socket, err := net.ListenPacket("udp", address)
	if err != nil {
		return false
	}
	l, err := net.Listen("tcp", address)
	if err != nil || l.Close() != nil {
		_ = socket.Close()
		return false
	}
	held.sockets = append(held.sockets, socket)
	return true
}
