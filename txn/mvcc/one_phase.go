package mvcc

import (
	"bytes"
	"context"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// CheckOnePhase makes the checks of a prewrite for a transaction that commits in this one update.
// Follow it with WriteOnePhase in the same Update; the commit timestamp is drawn between the two.
func CheckOnePhase(ctx context.Context, r kv.Reader, startTS tso.Timestamp,
	muts []Mutation) (err error) {
	s := newStep(r, nil)
	defer s.close(&err)
	for i := range muts {
		if err := s.passed.pass(ctx); err != nil {
			return err
		}
		m := &muts[i]
		l, locked, err := s.lockUnlessKnown(ctx, m)
		if err != nil {
			return err
		}
		if locked {
			return &LockedError{Key: bytes.Clone(m.Key), Lock: l.clone()}
		}
		if m.Unchanged && !m.MustNotExist {
			continue
		}
		if err := s.checkConflict(ctx, m, startTS); err != nil {
			return err
		}
	}
	return nil
}

// WriteOnePhase writes the commit records at once: no lock ever becomes visible.
func WriteOnePhase(b *kv.Batch, startTS, commitTS tso.Timestamp, muts []Mutation) {
	s := newStep(nil, b)
	defer s.end()
	for i := range muts {
		m := &muts[i]
		w := Write{Kind: m.Kind, StartTS: startTS}
		if m.Kind == KindPut {
			if len(m.Value) <= ShortValueMax {
				w.Short, w.HasShort = m.Value, true
			} else {
				s.setData(m.Row, startTS, m.Value)
			}
		}
		s.setWrite(m.Row, commitTS, &w)
		s.setNotes(m.Row, startTS, commitTS, m.Notes)
	}
}
