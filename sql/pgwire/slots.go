package pgwire

import (
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
)

// slot is what a connection counts as. Connections that have not sent a start-up packet yet, or not
// proved their user, are counted apart from sessions, so that a client that connects and stays
// silent takes no session's place, nor does one that guesses passwords.
//
//	accept ──▶ silent ──start-up packet, password──▶ (greeted) ──enter──▶ session
//	              └── the oldest is dropped for a new one when they are too many
//
// A greeted connection gets a session or a refusal at once, and a CancelRequest needs neither.
type slot uint8

const (
	greeted slot = iota
	silent
	inSession
)

// maxSilent bounds the connections that have not proved their user.
func (s *Server) maxSilent() int { return max(32, s.engine.MaxConnections()) }

// add counts a new connection, dropping a silent one for it when there are too many. Requires: mu
// is held.
func (s *Server) add(c *conn) {
	if len(s.mu.silent) >= s.maxSilent() {
		s.dropSilent()
	}
	c.slot = silent
	s.mu.silent = append(s.mu.silent, c)
	s.mu.conns[c] = struct{}{}
}

// dropSilent ends the connection that has been silent for longest. Requires: mu is held.
func (s *Server) dropSilent() {
	if len(s.mu.silent) == 0 {
		return
	}
	c := s.mu.silent[0]
	s.mu.silent = slices.Delete(s.mu.silent, 0, 1)
	c.slot = greeted
	c.net.Close()
	s.refused[overtaken].Add(1)
	s.dropped.log("connections dropped: they sent no start-up packet, and others came",
		c.net.RemoteAddr())
}

// remove forgets a connection.
func (s *Server) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.mu.conns, c)
	switch c.slot {
	case silent:
		s.unlist(c)
	case inSession:
		s.mu.sessions--
	}
}

func (s *Server) unlist(c *conn) {
	if i := slices.Index(s.mu.silent, c); i >= 0 {
		s.mu.silent = slices.Delete(s.mu.silent, i, i+1)
	}
}

// greet notes that a connection is not silent any more; false when it has been dropped.
func (s *Server) greet(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.slot != silent {
		return false
	}
	c.slot = greeted
	s.unlist(c)
	return true
}

// enter takes a session's place for a connection, or says why there is none.
func (s *Server) enter(c *conn, superuser bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	free := s.engine.MaxConnections() - s.mu.sessions
	switch {
	case free <= 0:
		s.refused[tooMany].Add(1)
		return sqlerr.New(sqlerr.TooManyConnections, "sorry, too many clients already")
	case free <= s.engine.ReservedConnections() && !superuser:
		s.refused[reserved].Add(1)
		return sqlerr.New(sqlerr.TooManyConnections,
			"remaining connection slots are reserved for non-replication superuser connections")
	}
	c.slot = inSession
	s.mu.sessions++
	return nil
}

// repeated logs an event that may come often: the first, and then at most one line in ten seconds,
// with the number of those since the last.
type repeated struct {
	to   *slog.Logger
	mu   sync.Mutex
	next time.Time
	n    int
}

func (r *repeated) log(message string, client net.Addr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	if now := time.Now(); now.After(r.next) {
		r.to.Warn(message, "connections", r.n, "last", client.String())
		r.n, r.next = 0, now.Add(10*time.Second)
	}
}
