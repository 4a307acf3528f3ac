package pgwire

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

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
	case 'Q', 'P', 'F':
		return maxText, true
	case 'B':
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
}

func newFrameReader(r io.Reader) *frameReader {
	return &frameReader{r: bufio.NewReaderSize(r, 16<<10)}
}

// startup reads the first packet, which has no type. io.EOF says that the client went away before it.
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

// next reads one message. The body is valid until the next call. io.EOF says that the client closed
// the connection between messages.
func (f *frameReader) next() (typ byte, body []byte, err error) {
	typ, err = f.r.ReadByte()
	if err != nil {
		return 0, nil, err
	}
	head, err := f.r.Peek(4)
	if err != nil {
		return 0, nil, unexpected(err)
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
		return 0, nil, protocolError(fmt.Sprintf("invalid message length for message type \"%c\"", typ))
	}
	body, err = f.body(int(n))
	return typ, body, err
}

// body reads n bytes. Memory is taken as they come, so that a length alone costs nothing.
func (f *frameReader) body(n int) ([]byte, error) {
	if cap(f.buf) > keptBuffer && n <= keptBuffer {
		f.buf = nil
	}
	b := f.buf[:0]
	for len(b) < n {
		from := len(b)
		step := min(n-from, max(growStep, from))
		if cap(b) < from+step {
			grown := make([]byte, from, from+step)
			copy(grown, b)
			b = grown
		}
		b = b[:from+step]
		if _, err := io.ReadFull(f.r, b[from:]); err != nil {
			return nil, unexpected(err)
		}
	}
	f.buf = b
	return b, nil
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// protocolError is the client's fault; it ends the connection.
func protocolError(message string) error {
	return &sqlerr.Error{Code: sqlerr.ProtocolViolation, Message: message}
}
