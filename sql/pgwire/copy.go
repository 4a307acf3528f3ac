package pgwire

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgproto3/v2"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/sql/copyfmt"
)

// CopyIn asks the client to send data (sql.CopyWriter).
func (s *resultWriter) CopyIn(columns int, binary bool) (copyfmt.Source, error) {
	s.c.out.send(&pgproto3.CopyInResponse{OverallFormat: overall(binary),
		ColumnFormatCodes: codes(columns, binary)})
	if err := s.c.out.flush(); err != nil {
		return nil, err
	}
	return &copySource{c: s.c}, nil
}

// CopyOut announces data.
func (s *resultWriter) CopyOut(columns int, binary bool) error {
	s.c.out.send(&pgproto3.CopyOutResponse{OverallFormat: overall(binary),
		ColumnFormatCodes: codes(columns, binary)})
	return s.c.out.full()
}

// CopyData sends a piece of it.
func (s *resultWriter) CopyData(b []byte) error {
	if err := s.c.out.reserve(len(b)); err != nil {
		return err
	}
	at := s.c.out.begin('d')
	s.c.out.buf = append(s.c.out.buf, b...)
	s.c.out.end(at)
	return s.c.out.full()
}

// CopyDone ends it.
func (s *resultWriter) CopyDone() error {
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
// too: the next read meets it again.
type copySource struct {
	c           *conn
	ended       bool
	interrupted atomic.Bool
}

// Interrupt ends a wait for the client between two messages.
func (s *copySource) Interrupt() {
	s.interrupted.Store(true)
	s.c.clock.ring()
}

// await waits for the client's next message; false when it was interrupted.
func (s *copySource) await() bool {
	for {
		s.c.clock.wait() // before the check: an interrupt after it rings
		var err error
		if !s.interrupted.Load() {
			err = s.c.in.wait()
		}
		s.c.clock.waited(time.Time{})
		switch {
		case s.interrupted.Load():
			return false
		case !errors.Is(err, os.ErrDeadlineExceeded) || s.c.closing():
			// if it failed, so will the read
			return true
		}
	}
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
			var refused *refusedBody
			if errors.As(err, &refused) {
				return nil, sql.OutOfMemory(refused.cause)
			}
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
			return nil, sqlerr.New(sqlerr.QueryCanceled, "COPY from stdin failed: %s",
				strings.TrimSuffix(string(body), "\x00"))
		case 'H', 'S': // PostgreSQL ignores them here: the client may have sent them with Execute
		default:
			s.ended = true
			s.c.lost = protocolError("unexpected message type during COPY from stdin")
			return nil, s.c.lost
		}
	}
	return nil, io.EOF
}
