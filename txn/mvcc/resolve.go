package mvcc

import (
	"context"

	"github.com/minidb/minidb/internal/planted"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// Resolve settles the locks of a decided transaction on the rows: rolled forward when commitTS is
// not zero, rolled back otherwise. Rows on which it holds no lock are left alone: someone else was
// quicker.
func Resolve(
	ctx context.Context, r kv.Reader, b *kv.Batch, startTS, commitTS tso.Timestamp, rows [][]byte,
) (err error) {
	s := newStep(r, b)
	defer s.close(&err)
	for _, row := range rows {
		l, locked, err := s.lock(ctx, row)
		if err != nil {
			return err
		}
		if !locked || l.StartTS != startTS {
			continue
		}
		if commitTS != 0 {
			if planted.Is(planted.LostSecondary) {
				s.dropLock(row)
				continue
			}
			s.commit(row, &l, commitTS)
			continue
		}
		if err := s.rollBack(ctx, row, startTS, false); err != nil {
			return err
		}
	}
	return nil
}
