package pgwire

import (
	"errors"
	"io"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
)

// refusedFor is why a connection ended before its session began.
type refusedFor uint8

const (
	tooMany        refusedFor = iota
	reserved                  // the places left are for superusers
	authentication            // no rule, a wrong password, no such role, too many attempts
	noDatabase
	encryption // the TLS handshake failed
	silence    // no start-up packet in time
	overtaken  // it was silent, and others came
	malformed  // start-up packets that are none, or ask for what there is not
	refusedReasons
)

var refusalNames = [refusedReasons]string{"too_many", "reserved", "authentication", "database",
	"tls", "timeout", "dropped", "startup"}

// Refused is how often connections were refused for one reason, since the server was made.
type Refused struct {
	Reason string
	Count  int64
}

// Refused lists all reasons.
func (s *Server) Refused() []Refused {
	all := make([]Refused, refusedReasons)
	for i := range all {
		all[i] = Refused{refusalNames[i], s.refused[i].Load()}
	}
	return all
}

// countRefused counts a connection whose start ended with err. What a place of its own counts is
// left out, and so are clients that left, or came to cancel a statement.
func (s *Server) countRefused(err error) {
	var e *sqlerr.Error
	switch {
	case errors.Is(err, errGone), errors.Is(err, io.EOF), !errors.As(err, &e),
		e.Code == sqlerr.TooManyConnections: // counted by enter
	case strings.HasPrefix(e.Code, "28"):
		s.refused[authentication].Add(1)
	case e.Code == sqlerr.InvalidCatalogName:
		s.refused[noDatabase].Add(1)
	default:
		s.refused[malformed].Add(1)
	}
}

// Connections are those of a server at one moment.
type Connections struct {
	Sessions       int // that count for the bound
	Starting       int // without a start-up packet, or not authenticated yet
	Most, Reserved int // what the server takes, and how many of these are for superusers
	Draining       bool
}

// Connections counts the server's connections.
func (s *Server) Connections() Connections {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Connections{Sessions: s.mu.sessions, Starting: len(s.mu.silent),
		Most: s.engine.MaxConnections(), Reserved: s.engine.ReservedConnections(),
		Draining: s.draining.Load()}
}
