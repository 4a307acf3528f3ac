package mvcc

import (
	"context"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// Collect drops the versions of each row that no reader at or above the safepoint can see: all
// records at or below it but the newest put. If the newest of put and delete is a delete, it goes
// too. Records of kinds lock and rollback have said what they were there to say, but for a rollback
// at the safepoint itself: its transaction may be the one that holds the safepoint there, with a
// late prewrite still to come. Requires: no lock below the safepoint is left on any key (txn: I6).
// It returns the number of records dropped.
func Collect(
	ctx context.Context, r kv.Reader, b *kv.Batch, safepoint tso.Timestamp, rows [][]byte,
) (dropped int, err error) {
	s := newStep(r, b)
	defer s.close(&err)
	for _, row := range rows {
		n, err := s.collect(ctx, row, safepoint)
		if err != nil {
			return dropped, err
		}
		dropped += n
	}
	return dropped, nil
}

// Part is how far CollectPart has come with a row. The zero value is the beginning.
type Part struct {
	Done    bool
	below   tso.Timestamp // what lies at or above it has been looked at
	settled bool          // the newest put or delete at or below the safepoint has been met
	removal tso.Timestamp // it is this delete, which goes last: until then it hides what is older
}

// CollectPart is Collect for a row with many records: it drops up to limit of them, and returns
// where to go on.
func CollectPart(
	ctx context.Context, r kv.Reader, b *kv.Batch, safepoint tso.Timestamp, row []byte, p Part,
	limit int,
) (next Part, dropped int, err error) {
	s := newStep(r, b)
	defer s.close(&err)
	return s.collectPart(ctx, row, safepoint, p, limit)
}

func (s *step) collect(ctx context.Context, row []byte, safepoint tso.Timestamp) (int, error) {
	_, n, err := s.collectPart(ctx, row, safepoint, Part{}, 0)
	return n, err
}

// collectPart is CollectPart; without a limit it drops all that is to be dropped.
func (s *step) collectPart(
	ctx context.Context, row []byte, safepoint tso.Timestamp, p Part, limit int,
) (next Part, dropped int, err error) {
	type version struct {
		commitTS, startTS tso.Timestamp
		data              bool
	}
	var drop []version
	from := safepoint
	if p.below != 0 {
		from = p.below - 1
	}
	p.Done = true
	err = s.history(ctx, row, from, func(commitTS tso.Timestamp, w Write) bool {
		if limit > 0 && len(drop) == limit {
			p.Done = false
			return false
		}
		p.below = commitTS
		keep := w.Kind == KindPut && !p.settled
		first := !p.settled
		if w.Kind == KindPut || w.Kind == KindDelete {
			p.settled = true
		}
		if w.Kind == KindRollback && commitTS == safepoint {
			keep = true
		}
		switch {
		case keep:
		case w.Kind == KindDelete && first && limit > 0:
			p.removal = commitTS
		default:
			drop = append(drop, version{commitTS, w.StartTS, w.Kind == KindPut && !w.HasShort})
		}
		return true
	})
	if err != nil {
		return p, 0, err
	}
	if p.Done && p.removal != 0 {
		drop = append(drop, version{commitTS: p.removal})
	}
	for _, v := range drop {
		s.dropWrite(row, v.commitTS)
		if v.data {
			s.dropData(row, v.startTS)
		}
	}
	return p, len(drop), nil
}
