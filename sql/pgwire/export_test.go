package pgwire

import "time"

// Limit changes how long clients of a server that has none yet may take.
func (s *Server) Limit(startup, message, farewell time.Duration) {
	s.limits = limits{startup: startup, message: message, farewell: farewell}
}

// Overtake changes by how much a CancelRequest may come before its statement.
func (s *Server) Overtake(d time.Duration) { s.limits.overtake = d }

// MaxSilent is the bound on connections without a start-up packet.
func (s *Server) MaxSilent() int { return s.maxSilent() }

// Writing is the number of connections that are in a write to their client.
func (s *Server) Writing() (n int) {
	s.each(func(c *conn) {
		c.clock.mu.Lock()
		defer c.clock.mu.Unlock()
		if c.clock.mu.writing != 0 {
			n++
		}
	})
	return n
}

// Clock sets the clock by which attempts to authenticate are limited.
func (s *Server) Clock(now func() time.Time) { s.attempts.now = now }

// AttemptsAtOnce is how many attempts one address has.
const AttemptsAtOnce = attemptsAtOnce
