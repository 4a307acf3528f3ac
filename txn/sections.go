package txn

import (
	"context"

	"github.com/minidb/minidb/internal/scratch"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/hints"
	"github.com/minidb/minidb/txn/tso"
)

// Section is a part of a span of which the Store remembers when a row was committed last, so that
// what a reader makes of its rows can be kept until then.
type Section struct {
	Span kv.Span
	of   *hints.Section // nil: Span is only a part of one
	at   tso.Timestamp
	s    *Store
}

// Sections returns the sections of a span, in their order; those at its ends may be parts of one.
// It returns none where the span was not cut (CutSpan), or contains no whole one, and where only
// the transaction itself can read the span (SpanReaders).
//
// All commits of the span at or below the read timestamp are noted when it returns: each is noted
// before it is applied. So what was kept of a section at an earlier timestamp, with no commit noted
// above that, is what the transaction would read (I31).
func (t *Txn) Sections(ctx context.Context, span kv.Span) ([]Section, error) {
	if t.done {
		return nil, ErrTxnDone
	}
	if !t.s.memory.CutsSpans() || t.s.closing.begun.Load() {
		return nil, nil
	}
	parts := t.s.memory.Sections(span)
	if len(parts) == 0 {
		return nil, nil
	}
	if free, err := t.readsFreely(ctx, span); err != nil || !free {
		return nil, err
	}
	out := make([]Section, len(parts))
	for i, p := range parts {
		out[i] = Section{Span: p.Span, at: t.readTS, s: t.s}
		if p.Whole {
			out[i].of = p.Section
		}
	}
	return out, nil
}

// Kept returns what was kept of the section's rows, if it is still true at the read timestamp, or
// nil.
func (s *Section) Kept() any {
	if s.of == nil {
		return nil
	}
	return s.of.Rows(s.at)
}

// Keeps reports whether what is made of the section's rows may be kept.
func (s *Section) Keeps() bool { return s.of != nil && s.of.KeepsRows(s.at) }

// Keep keeps what was made of the section's rows, read by a SpanReader of the same transaction, in
// so many bytes of memory, and reports whether there is room. It must not be changed any more.
// inFile is set if it only says where it is in the File. Requires: Keeps.
func (s *Section) Keep(value any, bytes int64, inFile bool) bool {
	return s.s.memory.KeepRows(s.of, value, bytes, inFile, s.at)
}

// File returns where to write what has no room in memory, nil if it would hardly be read again: a
// row of the section was committed a moment ago.
func (s *Section) File() *scratch.File {
	f := s.s.opts.SectionFile
	if f != nil && s.s.opts.SectionSettled > 0 &&
		!s.of.SettledSince(s.at.Time().Add(-s.s.opts.SectionSettled)) {
		return nil
	}
	return f
}

// ForgetIdle makes room in the file: its user lets go of what no scan asked for in a long time.
func (s *Section) ForgetIdle() { s.s.memory.ForgetIdle() }

// SectionRows is how many rows a section should have, or zero where there are no sections.
func (t *Txn) SectionRows() int {
	if !t.s.memory.CutsSpans() {
		return 0
	}
	return t.s.opts.SectionRows
}

// CutSpan makes the sections of a span begin at these keys too, which ascend. The span is one that
// overlaps no other that was cut, or the same. Rows of new sections are kept by transactions that
// begin later.
func (t *Txn) CutSpan(span kv.Span, at [][]byte) {
	if !t.aside(span.Start) {
		t.s.memory.CutSpan(span, at)
	}
}
