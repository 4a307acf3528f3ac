package mvcc

import (
	"context"

	"github.com/minidb/minidb/internal/planted"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// Collect drops the versions of each row that no reader at or above the safepoint can see: all
// records at or below it but the newest put. If the newest of put and delete is a delete, it goes
// too. Records of kinds lock and rollback have said what they were there to say, but for a rollback at
// the safepoint itself: its transaction may be the one that holds the safepoint there, with a late
// prewrite still to come. Requires: no lock below the safepoint is left on any key (txn: I6). It
// returns the number of records dropped.
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

func (s *step) collect(ctx context.Context, row []byte, safepoint tso.Timestamp) (int, error) {
	type version struct {
		commitTS, startTS tso.Timestamp
		data              bool
	}
	var drop []version
	settled := false // the newest put or delete at or below the safepoint has been met
	err := s.history(ctx, row, safepoint, func(commitTS tso.Timestamp, w Write) bool {
		keep := w.Kind == KindPut && !settled && !planted.Is(planted.CollectedNewest)
		if w.Kind == KindPut || w.Kind == KindDelete && !planted.Is(planted.ResurrectedByCollection) {
			settled = true
		}
		if w.Kind == KindRollback && commitTS == safepoint {
			keep = true
		}
		if !keep {
			drop = append(drop, version{commitTS, w.StartTS, w.Kind == KindPut && !w.HasShort})
		}
		return true
	})
	if err != nil {
		return 0, err
	}
	for _, v := range drop {
		s.dropWrite(row, v.commitTS)
		if v.data {
			s.dropData(row, v.startTS)
		}
	}
	return len(drop), nil
}
