package pgwire

import (
	"errors"
	"net"
	"os"
)

// resumable is a connection below TLS. TLS cannot go on after half a write, but a write to a client
// that does not read may be interrupted at any byte (output.flush). So what a deadline stopped is
// kept here, and to TLS it is written.
type resumable struct {
	net.Conn
	held []byte // to be sent before anything else
}

// Write sends p behind what is held. At a deadline it holds the rest, and reports no error.
func (r *resumable) Write(p []byte) (int, error) {
	if err := r.push(); err != nil || len(r.held) > 0 {
		r.held = append(r.held, p...)
		return len(p), err
	}
	n, err := r.Conn.Write(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		r.held = append(r.held, p[n:]...)
		return len(p), nil
	}
	return n, err
}

// push sends what is held, as far as the deadline lets it.
func (r *resumable) push() error {
	for len(r.held) > 0 {
		n, err := r.Conn.Write(r.held)
		r.held = append(r.held[:0], r.held[n:]...)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	r.held = nil
	return nil
}

// holds reports whether something is held; r may be nil.
func (r *resumable) holds() bool { return r != nil && len(r.held) > 0 }
