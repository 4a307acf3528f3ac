package pgwire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql/parse"
)

// Limits of messages, by what they carry.
const (
	maxStartup  = 10_000 // PostgreSQL's own
	maxText     = parse.MaxTextBytes + 1<<10
	maxBind     = 128 << 20
	maxCopyData = 64 << 20
	maxName     = 64 << 10
	// keptBuffer is how much of a large message's memory stays with the connection.
	keptBuffer = 64 << 10
	growStep   = 64 << 10
)

// limitOf is the longest body that a message of the type may have; ok is false for unknown types.
func limitOf(typ byte) (limit int, ok bool) {
	switch typ {
	case 'Q', 'P':
		return maxText, true
	case 'B', 'F':
		return maxBind, true
	case 'd':
		return maxCopyData, true
	case 'D', 'E', 'C', 'f', 'p':
		return maxName, true
	case 'S', 'H', 'X', 'c':
		return 0, true
	}
	return 0, false
}

// frameReader cuts the client's bytes into messages.
type frameReader struct {
	r   *bufio.Reader
	buf []byte
	// limit bounds reads. A message that has begun must go on: its next growStep bytes come within
	// that time (0: not bounded). Between messages a session may be idle.
	limit  func(until time.Time)
	within time.Duration
	unread bool // a message was refused for its length

	account *memory.Account // of the session, once there is one: counts buf beyond keptBuffer
	counted int64
}

func newFrameReader(r io.Reader, limit func(until time.Time)) *frameReader {
	b := readers.Get().(*bufio.Reader)
	b.Reset(r)
	return &frameReader{r: b, limit: limit}
}

// readers are those of connections that are over: most of the memory of a short one.
var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 16<<10) }}

// close gives the reader to a later connection. Nothing is read any more.
func (f *frameReader) close() {
	f.r.Reset(nil)
	readers.Put(f.r)
	f.r = nil
}

// expect bounds the wait for n bytes of a message that has begun, if they are not there yet.
func (f *frameReader) expect(n int) (bounded bool) {
	bounded = f.within > 0 && f.r.Buffered() < n
	if bounded {
		f.limit(time.Now().Add(f.within))
	}
	return bounded
}

// expected lifts the bound, and returns the error to report for the error that the read met.
func (f *frameReader) expected(bounded bool, err error) error {
	if bounded {
		f.limit(time.Time{})
	}
	switch {
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	case bounded && errors.Is(err, os.ErrDeadlineExceeded):
		return errStalled
	}
	return err
}

// errStalled ends a connection whose client began a message and did not go on with it.
var errStalled = protocolError("terminating connection because the client did not complete its " +
	"message")

// startup reads the first packet, which has no type, within the limit that is set already. io.EOF
// says that the client went away before it, or was too slow.
func (f *frameReader) startup() ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(f.r, head[:]); err != nil {
		return nil, io.EOF
	}
	n := int64(binary.BigEndian.Uint32(head[:])) - 4
	if n < 4 || n > maxStartup {
		return nil, protocolError("invalid length of startup packet")
	}
	return f.body(int(n))
}

// wait returns when there is something to read, and has taken none of it.
func (f *frameReader) wait() error {
	_, err := f.r.Peek(1)
	return err
}

// syncFollows reports whether the next message has arrived and is a Sync.
func (f *frameReader) syncFollows() bool {
	if f.r.Buffered() == 0 {
		return false
	}
	next, err := f.r.Peek(1)
	return err == nil && next[0] == 'S'
}

// next reads one message. The body is valid until the next call. io.EOF means that the client
// closed the connection between messages.
func (f *frameReader) next() (typ byte, body []byte, err error) {
	typ, err = f.r.ReadByte()
	if err != nil {
		return 0, nil, err
	}
	bounded := f.expect(4)
	head, err := f.r.Peek(4)
	if err = f.expected(bounded, err); err != nil {
		return 0, nil, err
	}
	n := int64(binary.BigEndian.Uint32(head)) - 4
	if _, err := f.r.Discard(4); err != nil {
		return 0, nil, err
	}
	limit, ok := limitOf(typ)
	if !ok {
		return 0, nil, protocolError(fmt.Sprintf("invalid frontend message type %d", typ))
	}
	if n < 0 || n > int64(limit) {
		e := &sqlerr.Error{Code: sqlerr.ProtocolViolation,
			Message: fmt.Sprintf("invalid message length for message type \"%c\"", typ)}
		if f.unread = n > 0; f.unread {
			e.Detail = fmt.Sprintf("The message has %d bytes, and %d are allowed.", n, limit)
		}
		return 0, nil, e
	}
	body, err = f.body(int(n))
	return typ, body, err
}

// body reads n bytes. Memory is taken as they come, so that a length alone costs nothing. A body
// for which there is no memory is read to its end all the same, and the connection goes on after a
// *refusedBody.
func (f *frameReader) body(n int) ([]byte, error) {
	if n <= keptBuffer {
		f.release()
	}
	b := f.buf[:0]
	for len(b) < n {
		from := len(b)
		step := min(n-from, max(growStep, from))
		if cap(b) < from+step {
			grown, err := f.grow(b, from+step)
			if err != nil {
				return nil, f.refuse(n-from, err)
			}
			b = grown
		}
		b = b[:from+step]
		if err := f.fill(b[from:]); err != nil {
			return nil, err
		}
	}
	f.buf = b
	return b, nil
}

// fill reads the next bytes of a message.
func (f *frameReader) fill(b []byte) error {
	bounded := f.expect(len(b))
	_, err := io.ReadFull(f.r, b)
	return f.expected(bounded, err)
}

// grow moves b to where there is room for n bytes. The old bytes live until they are copied, so
// both count.
func (f *frameReader) grow(b []byte, n int) ([]byte, error) {
	if n > keptBuffer {
		f.counted += int64(n)
		if err := f.account.Grow(int64(n)); err != nil {
			return nil, err
		}
	}
	grown := make([]byte, len(b), n)
	copy(grown, b)
	f.buf = grown
	if old := cap(b); old > keptBuffer {
		f.counted -= int64(old)
		f.account.Shrink(int64(old))
	}
	return grown, nil
}

// release gives the memory of a large message back, once it is no longer used.
func (f *frameReader) release() {
	if cap(f.buf) > keptBuffer {
		f.buf = nil
	}
	if f.counted > 0 {
		f.account.Shrink(f.counted)
		f.counted = 0
	}
}

// refusedBody is the error of a message for which there was no memory. It is read.
type refusedBody struct{ cause error }

func (e *refusedBody) Error() string { return e.cause.Error() }
func (e *refusedBody) Unwrap() error { return e.cause }

// refuse reads the n bytes that are left of a message without keeping them.
func (f *frameReader) refuse(n int, cause error) error {
	f.buf = nil
	f.release()
	f.account.Settle()
	var room [4 << 10]byte
	for n > 0 {
		part := room[:min(n, len(room))]
		if err := f.fill(part); err != nil {
			return err
		}
		n -= len(part)
	}
	return &refusedBody{cause}
}

// protocolError is the client's fault; it ends the connection.
func protocolError(message string) error {
	return &sqlerr.Error{Code: sqlerr.ProtocolViolation, Message: message}
}
