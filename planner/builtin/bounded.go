package builtin

import (
	"strings"
	"unicode/utf8"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// copyPiece is the number of bytes that are copied between two checks of the statement's context.
const copyPiece = 256 << 10

// eachPiece calls op with pieces of s of about copyPiece bytes, split between characters. It checks
// the statement's context after each.
func eachPiece(rt *expr.Runtime, s string, op func(piece string)) error {
	for len(s) > copyPiece {
		n := copyPiece
		for n > copyPiece-utf8.UTFMax && !utf8.RuneStart(s[n]) {
			n--
		}
		op(s[:n])
		s = s[n:]
		if err := rt.Tick(n); err != nil {
			return err
		}
	}
	op(s)
	return rt.Tick(len(s))
}

// writer builds a text that may be much larger than the input. It asks the statement's account for
// bytes before it allocates them, copies in pieces, and checks the context between them. After an
// error it ignores further writes; done returns the error.
type writer struct {
	rt  *expr.Runtime
	b   *strings.Builder
	err error
}

func newWriter(rt *expr.Runtime) *writer { return &writer{rt: rt, b: &strings.Builder{}} }

// ensureCapacity allocates space for n more bytes and reports whether that succeeded.
func (w *writer) ensureCapacity(n int) bool {
	if w.err != nil {
		return false
	}
	need := w.b.Len() + n
	if need <= w.b.Cap() {
		return true
	}
	if n > maxTextLen || need > maxTextLen {
		w.err = errTooLong()
		return false
	}
	size := min(max(need, 2*w.b.Cap()), maxTextLen)
	if w.err = w.rt.Grow(int64(size)); w.err != nil && size > need {
		size = need
		w.err = w.rt.Grow(int64(size))
	}
	if w.err != nil {
		return false
	}
	old := w.b.String()
	w.b = &strings.Builder{}
	w.b.Grow(size)
	w.copy(old)
	return w.err == nil
}

// copy appends as much of s as there is space for.
func (w *writer) copy(s string) {
	for len(s) > 0 && w.err == nil {
		n := min(len(s), copyPiece)
		w.b.WriteString(s[:n])
		s = s[n:]
		w.err = w.rt.Tick(n)
	}
}

func (w *writer) text(s string) {
	if w.ensureCapacity(len(s)) {
		w.copy(s)
		w.step()
	}
}

func (w *writer) byte(c byte) {
	if w.ensureCapacity(1) {
		w.b.WriteByte(c)
		w.step()
	}
}

func (w *writer) rune(r rune) {
	if w.ensureCapacity(utf8.UTFMax) {
		w.b.WriteRune(r)
		w.step()
	}
}

// step counts a step of the loop that writes.
func (w *writer) step() {
	if w.err == nil {
		w.err = w.rt.TickSteps(1)
	}
}

// fill appends n copies of s.
func (w *writer) fill(s string, n int64) {
	if s == "" || n <= 0 {
		return
	}
	if n > maxTextLen/int64(len(s)) {
		w.err = errTooLong()
		return
	}
	if !w.ensureCapacity(len(s) * int(n)) {
		return
	}
	several := max(1, int64(copyPiece/16/len(s)))
	if n < several {
		w.copy(strings.Repeat(s, int(n)))
		return
	}
	many := strings.Repeat(s, int(several))
	for ; n >= several && w.err == nil; n -= several {
		w.copy(many)
	}
	if w.err == nil {
		w.copy(many[:len(s)*int(n)])
	}
}

// done returns the text as a datum, or the error.
func (w *writer) done() (types.Datum, error) {
	if w.err != nil {
		return types.Null, w.err
	}
	return types.NewString(w.b.String()), nil
}

// elements builds an array as writer builds a text. The bytes of the elements themselves belong to
// the input.
type elements struct {
	rt    *expr.Runtime
	elems []types.Datum
}

// ensureCapacity allocates space for n more elements.
func (e *elements) ensureCapacity(n int) error {
	need := len(e.elems) + n
	if need <= cap(e.elems) {
		return nil
	}
	if n > maxArraySize || need > maxArraySize {
		return errArrayTooLarge()
	}
	size := min(max(need, 2*cap(e.elems)), maxArraySize)
	if err := e.rt.Grow(int64(size) * int64(types.DatumSize)); err != nil {
		return err
	}
	old := e.elems
	e.elems = make([]types.Datum, 0, size)
	return e.copy(old)
}

// copy appends as many elements as there is space for.
func (e *elements) copy(from []types.Datum) error {
	const piece = copyPiece / types.DatumSize
	for len(from) > 0 {
		n := min(len(from), piece)
		e.elems = append(e.elems, from[:n]...)
		from = from[n:]
		if err := e.rt.Tick(n * types.DatumSize); err != nil {
			return err
		}
	}
	return nil
}

func (e *elements) add(d types.Datum) error {
	if err := e.ensureCapacity(1); err != nil {
		return err
	}
	e.elems = append(e.elems, d)
	return e.rt.Tick(types.DatumSize)
}

func (e *elements) addAll(ds []types.Datum) error {
	if err := e.ensureCapacity(len(ds)); err != nil {
		return err
	}
	return e.copy(ds)
}

// cloned returns a copy of the elements with space for more.
func cloned(rt *expr.Runtime, from []types.Datum, more int) (*elements, error) {
	e := &elements{rt: rt}
	if err := e.ensureCapacity(len(from) + more); err != nil {
		return nil, err
	}
	return e, e.copy(from)
}

func errArrayTooLarge() error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "array size exceeds the maximum allowed (%d)",
		maxArraySize)
}

// askText asks the statement's account for a text of n bytes and counts the work of building it.
func askText(rt *expr.Runtime, n int) error {
	if n > maxTextLen {
		return errTooLong()
	}
	if err := rt.Grow(int64(n)); err != nil {
		return err
	}
	return rt.Tick(n)
}

// maxArraySize is PostgreSQL's limit on the number of elements.
const maxArraySize = 1<<27 - 1

// maxTextLen bounds the texts that functions build: PostgreSQL's limit of an allocation.
const maxTextLen = 1<<30 - 1

func errTooLong() error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "requested length too large")
}
