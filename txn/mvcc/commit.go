package mvcc

import (
	"bytes"
	"context"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// Commit replaces the transaction's lock on each row by its write record. On the primary this is
// the commit point. A row that is committed already is left alone, so Commit may be repeated; a
// row without lock and record, or with a rollback record, is *RolledBackError. On the primary it
// is *CommitTooEarlyError when a reader has pushed the lock's lowest commit timestamp.
func Commit(
	ctx context.Context, r kv.Reader, b *kv.Batch, startTS, commitTS tso.Timestamp, rows [][]byte,
) (err error) {
	s := newStep(r, b)
	defer s.close(&err)
	for _, row := range rows {
		l, locked, err := s.lock(ctx, row)
		if err != nil {
			return err
		}
		if locked && l.StartTS == startTS {
			if l.MinCommitTS > commitTS && isPrimary(&l, row) {
				return &CommitTooEarlyError{CommitTS: commitTS, MinCommitTS: l.MinCommitTS}
			}
			if err := s.rollForward(ctx, row, &l, commitTS); err != nil {
				return err
			}
			continue
		}
		f, err := s.recordOf(ctx, row, startTS)
		if err != nil {
			return err
		}
		if f.commitTS == 0 {
			key, _ := UserKey(row, nil)
			return &RolledBackError{Key: bytes.Clone(key), StartTS: startTS}
		}
	}
	return nil
}

// CommitKnown does what Commit does, without reading. Requires: the transaction's locks on the
// mutations' keys are there as it prewrote them, and none of them asks for a higher commit_ts.
func CommitKnown(b *kv.Batch, startTS, commitTS tso.Timestamp, muts []Mutation) {
	s := newStep(nil, b)
	defer s.end()
	for i := range muts {
		m := &muts[i]
		l := Lock{Kind: m.Kind, StartTS: startTS}
		l.Short, l.HasShort = m.short()
		s.commit(m.Row, &l, commitTS)
		s.setNotes(m.Row, startTS, commitTS, m.Notes)
	}
}

// rollForward is commit of a lock of which only the lock itself is known.
func (s *step) rollForward(ctx context.Context, row []byte, l *Lock, commitTS tso.Timestamp) error {
	notified, startTS := l.Notified, l.StartTS
	s.commit(row, l, commitTS)
	if !notified {
		return nil
	}
	return s.stampNotes(ctx, row, startTS, commitTS)
}

func (s *step) commit(row []byte, l *Lock, commitTS tso.Timestamp) {
	w := Write{Kind: l.Kind, StartTS: l.StartTS, Short: l.Short, HasShort: l.HasShort}
	s.setWrite(row, commitTS, &w)
	s.dropLock(row)
}

func isPrimary(l *Lock, row []byte) bool { return bytes.Equal(row, Row(l.Primary)) }
