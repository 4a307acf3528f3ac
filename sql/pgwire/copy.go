package pgwire

import (
	"context"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgproto3/v2"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql/copyfmt"
)

// CopyIn tells the client to send data (sql.CopySink).
func (s *sink) CopyIn(columns int, binary bool) (copyfmt.Source, error) {
	s.c.out.send(&pgproto3.CopyInResponse{OverallFormat: overall(binary), ColumnFormatCodes: codes(columns, binary)})
	if err := s.c.out.flush(); err != nil {
		return nil, err
	}
	return &copySource{c: s.c}, nil
}

// CopyOut announces data.
func (s *sink) CopyOut(columns int, binary bool) error {
	s.c.out.send(&pgproto3.CopyOutResponse{OverallFormat: overall(binary), ColumnFormatCodes: codes(columns, binary)})
	return s.c.out.full()
}

// CopyData sends a piece of it.
func (s *sink) CopyData(b []byte) error {
	at := s.c.out.begin('d')
	s.c.out.buf = append(s.c.out.buf, b...)
	s.c.out.end(at)
	return s.c.out.full()
}

// CopyDone ends it.
func (s *sink) CopyDone() error {
	s.c.out.simple('c')
	return s.c.out.full()
}

func overall(binary bool) byte {
	if binary {
		return 1
	}
	return 0
}

func codes(n int, binary bool) []uint16 {
	out := make([]uint16, n)
	if binary {
		for i := range out {
			out[i] = 1
		}
	}
	return out
}

// copySource takes the client's CopyData messages. An error of the connection ends the connection
// too: whoever reads next meets it again.
type copySource struct {
	c     *conn
	ended bool

	mu          sync.Mutex
	waiting     bool // for the first byte of a message: then a deadline does no harm
	interrupted bool
}

// Interrupt ends a wait for the client between two messages.
func (s *copySource) Interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.interrupted = true; s.waiting {
		_ = s.c.net.SetReadDeadline(time.Unix(1, 0))
	}
}

// await waits for the client's next message; false when it was interrupted.
func (s *copySource) await() bool {
	s.mu.Lock()
	s.waiting = !s.interrupted
	s.mu.Unlock()
	if s.waiting {
		_ = s.c.in.wait() // if it fails, so will the read
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting && s.interrupted {
		_ = s.c.net.SetReadDeadline(time.Time{})
	}
	s.waiting = false
	return !s.interrupted
}

func (s *copySource) Next() ([]byte, error) {
	for !s.ended {
		if !s.await() {
			s.ended = true
			return nil, context.Canceled
		}
		typ, body, err := s.c.receive()
		if err != nil {
			s.ended = true
			s.c.lost = err
			return nil, err
		}
		switch typ {
		case 'd':
			return body, nil
		case 'c':
			s.ended = true
		case 'f':
			s.ended = true
			return nil, sqlerr.New(sqlerr.QueryCanceled, "COPY from stdin failed: %s", strings.TrimSuffix(string(body), "\x00"))
		case 'H', 'S': // PostgreSQL ignores them here: the client may have sent them with Execute
		default:
			s.ended = true
			s.c.lost = protocolError("unexpected message type during COPY from stdin")
			return nil, s.c.lost
		}
	}
	return nil, io.EOF
}
