package pgwire

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgproto3/v2"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// flushAt is how much output gathers before it is sent though the client is not waiting.
const flushAt = 64 << 10

// keptOutput is how much memory for output stays with the connection.
const keptOutput = 4 * flushAt

// output gathers messages for the client.
type output struct {
	w       io.Writer
	clock   *clock
	below   *resumable             // what w writes to, if it is TLS
	running func() context.Context // of the statement that runs; nil before there is a session
	buf     []byte
	account *memory.Account // of the session, once there is one: counts buf beyond keptOutput
	counted int64
	flushes int
	begun   int   // one more than where the message begins that is being written; 0 for none
	stuck   bool  // a write was interrupted: the client did not read
	err     error // sticky: the client is gone
}

// write writes the buffer behind what is held below TLS, and returns how much of the buffer is
// written. What is held then was stopped by the deadline.
func (o *output) write() (n int, err error) {
	if o.below.holds() {
		err = o.below.push()
	}
	if err == nil && !o.below.holds() && len(o.buf) > 0 {
		n, err = o.w.Write(o.buf)
	}
	if err == nil && o.below.holds() {
		err = os.ErrDeadlineExceeded
	}
	return n, err
}

// flush sends what has gathered. A client that does not read makes it wait; then the end of the
// running statement's context ends the wait, so that the statement does not hold its snapshot and
// locks longer than it may. What was not sent stays in the buffer, from the byte on where the write
// stopped (or below TLS), and goes out before whatever comes next.
func (o *output) flush() error {
	if o.err != nil || len(o.buf) == 0 && !o.below.holds() {
		return o.err
	}
	ctx := context.Background()
	if o.running != nil {
		ctx = o.running()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	write, ok := o.clock.beginWrite()
	if !ok {
		return shutdownError()
	}
	o.flushes++
	stop := func() bool { return true }
	if ctx.Done() != nil {
		stop = context.AfterFunc(ctx, func() { o.clock.interrupt(write) })
	}
	n, err := o.write()
	stop()
	interrupted := o.clock.endWrite()
	if interrupted && errors.Is(err, os.ErrDeadlineExceeded) {
		o.buf, o.stuck = append(o.buf[:0], o.buf[n:]...), true
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return shutdownError()
	}
	o.err, o.stuck = err, false
	if cap(o.buf) > keptOutput {
		o.buf = nil
		o.account.Shrink(o.counted)
		o.counted = 0
	}
	o.buf = o.buf[:0]
	return o.err
}

// reserve makes room for n bytes and counts it if it is much, before it is taken. The old bytes
// live until they are copied, so both count.
func (o *output) reserve(n int) error {
	need := len(o.buf) + n
	if need <= cap(o.buf) || need <= keptOutput {
		return nil
	}
	room := need + flushAt // for what follows
	old := o.counted
	o.counted += int64(room)
	if err := o.account.Grow(int64(room)); err != nil {
		o.counted -= int64(room)
		o.account.Shrink(int64(room))
		return err
	}
	o.buf = append(make([]byte, 0, room), o.buf...)
	o.counted -= old
	o.account.Shrink(old)
	return nil
}

// count counts what output has grown to without having been asked for.
func (o *output) count() error {
	n := int64(cap(o.buf))
	if n <= keptOutput || n <= o.counted {
		return nil
	}
	more := n - o.counted
	o.counted = n
	return o.account.Grow(more)
}

// valueSize is how many bytes a long value takes on the wire at most; 0: it is not long, or is not
// known.
func valueSize(col *types.Vec, r int) int {
	switch col.Type.Family {
	case types.Bytes:
		return 2*len(col.S[r]) + 2
	case types.HStore: // each character may be escaped
		return 2 * len(col.S[r])
	case types.String, types.JSON, types.CIText:
		return len(col.S[r])
	}
	return 0
}

// full flushes if much has gathered.
func (o *output) full() error {
	if len(o.buf) >= flushAt {
		return o.flush()
	}
	return o.err
}

// mark is a place to which output can be taken back while nothing behind it was sent.
type mark struct{ at, flushes int }

func (o *output) mark() mark { return mark{len(o.buf), o.flushes} }

func (o *output) rewind(m mark) bool {
	if o.flushes != m.flushes {
		return false
	}
	o.buf = o.buf[:m.at]
	return true
}

// send appends a message.
func (o *output) send(m pgproto3.BackendMessage) {
	b, err := m.Encode(o.buf)
	if err != nil { // more than the protocol can count; the counts are bounded long before
		o.err = err
		return
	}
	o.buf = b
}

// begin starts a message whose length end fills in.
func (o *output) begin(typ byte) int {
	o.begun = len(o.buf) + 1
	o.buf = append(o.buf, typ, 0, 0, 0, 0)
	return len(o.buf) - 4
}

func (o *output) end(at int) {
	binary.BigEndian.PutUint32(o.buf[at:], uint32(len(o.buf)-at))
	o.begun = 0
}

// abandon takes back a message that was not written to its end, so that an error can follow.
func (o *output) abandon() {
	if o.begun > 0 {
		o.buf, o.begun = o.buf[:o.begun-1], 0
	}
}

func (o *output) int16(n int)      { o.buf = binary.BigEndian.AppendUint16(o.buf, uint16(n)) }
func (o *output) int32(n int32)    { o.buf = binary.BigEndian.AppendUint32(o.buf, uint32(n)) }
func (o *output) string(s string)  { o.buf = append(append(o.buf, s...), 0) }
func (o *output) simple(typ byte)  { o.buf = append(o.buf, typ, 0, 0, 0, 4) }
func (o *output) ready(state byte) { o.buf = append(o.buf, 'Z', 0, 0, 0, 5, state) }

func (o *output) complete(tag string) {
	at := o.begin('C')
	o.string(tag)
	o.end(at)
}

func (o *output) parameter(name, value string) {
	at := o.begin('S')
	o.string(name)
	o.string(value)
	o.end(at)
}

// format is the format of column i under the client's list of format codes.
func format(codes []int16, i int) int16 {
	switch {
	case len(codes) == 0:
		return 0
	case len(codes) == 1:
		return codes[0]
	case i < len(codes):
		return codes[i]
	}
	return 0
}

func (o *output) rowDescription(cols []physical.Column, codes []int16) {
	at := o.begin('T')
	o.int16(len(cols))
	for i := range cols {
		c := &cols[i]
		o.string(c.Name)
		o.int32(int32(c.Table))
		o.int16(c.Attr)
		t := c.Type.Base() // clients are not to know of domains
		o.int32(int32(t.OID))
		o.int16(int(t.Len))
		o.int32(t.Mod)
		o.int16(int(format(codes, i)))
	}
	o.end(at)
}

func (o *output) parameterDescription(ts []*types.Type) {
	at := o.begin('t')
	o.int16(len(ts))
	for _, t := range ts {
		o.int32(int32(t.OID))
	}
	o.end(at)
}

// maxRow bounds one row on the wire, as PostgreSQL's 1 GB does.
const maxRow = math.MaxInt32 / 2

// rows appends the rows from..to of a batch.
func (o *output) rows(b *types.Batch, from, to int, codes []int16, f *types.Format) error {
	for i := from; i < to; i++ {
		r := b.Row(i)
		at := o.begin('D')
		o.int16(len(b.Cols))
		for ci, col := range b.Cols {
			if err := o.value(col, r, format(codes, ci), f); err != nil {
				return err
			}
		}
		if err := o.endRow(at); err != nil {
			return err
		}
	}
	return nil
}

// functionResult appends a row of one value as the result of a FunctionCall.
func (o *output) functionResult(b *types.Batch, row int, codes []int16, f *types.Format) error {
	at := o.begin('V')
	if err := o.value(b.Cols[0], b.Row(row), format(codes, 0), f); err != nil {
		return err
	}
	return o.endRow(at)
}

// value appends the length and the bytes of a value.
func (o *output) value(col *types.Vec, r int, code int16, f *types.Format) error {
	if col.HasNull && col.Nulls[r] {
		o.int32(-1)
		return nil
	}
	if n := valueSize(col, r); n > flushAt {
		if err := o.reserve(n + 4); err != nil {
			o.abandon()
			return err
		}
	}
	start := len(o.buf)
	o.int32(0)
	if code == 1 {
		o.buf = types.AppendBinary(o.buf, col.Type, col.Get(r))
	} else {
		o.buf = types.AppendText(o.buf, col.Type, col.Get(r), f)
	}
	binary.BigEndian.PutUint32(o.buf[start:], uint32(len(o.buf)-start-4))
	return nil
}

// endRow ends a message with values.
func (o *output) endRow(at int) error {
	if len(o.buf)-at > maxRow {
		o.abandon()
		return sqlerr.New(sqlerr.ProgramLimitExceeded,
			"a row of the result is larger than %d bytes", maxRow)
	}
	o.end(at)
	if err := o.count(); err != nil {
		return err
	}
	return o.full()
}

// error appends an ErrorResponse. text is what positions count in.
func (o *output) error(e *sqlerr.Error, severity, text string) {
	o.send(&pgproto3.ErrorResponse{
		Severity: severity, SeverityUnlocalized: severity, Code: e.Code, Message: clean(e.Message),
		Detail: clean(e.Detail), Hint: clean(e.Hint), Where: clean(e.Context),
		Position: characters(text, e.Position), SchemaName: e.Schema, TableName: e.Table,
		ColumnName: e.Column, DataTypeName: e.DataType, ConstraintName: e.Constraint,
		InternalQuery:    clean(e.InternalQuery),
		InternalPosition: characters(e.InternalQuery, e.InternalPosition),
		Routine:          routines[e.Code],
	})
}

// characters turns a byte position (from 1) into one that counts characters.
func characters(text string, pos int) int32 {
	if pos <= 0 || pos > len(text)+1 {
		return 0
	}
	return int32(utf8.RuneCountInString(text[:pos-1]) + 1)
}

// clean takes out zero bytes, which would end a field early.
func clean(s string) string { return strings.ReplaceAll(s, "\x00", "") }
