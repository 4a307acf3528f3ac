package sql

import (
	"context"
	"strings"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn/tso"
)

// setAsOf makes the present transaction one that reads the past (AS OF SYSTEM TIME). It is read only,
// whatever its isolation level, and sees the tables as they were then, their schema included.
func (s *Session) setAsOf(m *ast.TxnModes) error {
	switch {
	case s.tx.ran || s.tx.tx != nil:
		return sqlerr.New(sqlerr.ActiveSQLTransaction, "AS OF SYSTEM TIME must be set before any query")
	case m.ReadOnly != nil && !*m.ReadOnly:
		return sqlerr.New(sqlerr.InvalidParameterValue, "AS OF SYSTEM TIME needs a read-only transaction").At(int(m.AsOfPos))
	}
	now, err := s.engine.store.Now(context.Background())
	if err != nil {
		return toSQL(context.Background(), err)
	}
	at, err := s.momentOf(strings.TrimSpace(m.AsOf), now.Time())
	if err != nil {
		return err
	}
	// Everything of the moment's own millisecond belongs to it, as far as it is past.
	ts := min(tso.New(min(max(at.UnixMilli(), 0), now.Physical())+1, 0)-1, now)
	switch point := s.engine.store.Safepoint(); {
	case at.After(now.Time()):
		return sqlerr.New(sqlerr.InvalidParameterValue, "AS OF SYSTEM TIME: %q is in the future", m.AsOf).At(int(m.AsOfPos))
	case ts < point:
		return sqlerr.New(sqlerr.InvalidParameterValue, "AS OF SYSTEM TIME: %q is before the oldest time that is kept", m.AsOf).
			At(int(m.AsOfPos)).WithDetail("Versions before %s may have been collected.", point.Time().UTC().Format(time.RFC3339Nano))
	}
	s.tx.asOf, s.tx.readOnly = ts, true
	return nil
}

// momentOf reads the literal: an interval, which counts from now, or a timestamp with time zone.
func (s *Session) momentOf(text string, now time.Time) (time.Time, error) {
	if strings.HasPrefix(text, "-") {
		iv, err := types.ParseInterval(text, -1)
		if err != nil {
			return time.Time{}, err
		}
		return now.AddDate(0, int(iv.Months), int(iv.Days)).Add(time.Duration(iv.Micros) * time.Microsecond), nil
	}
	format := s.settings.Derived().Format
	micros, err := types.ParseTimestampTZ(text, -1, &format)
	if err != nil {
		return time.Time{}, err
	}
	const epoch = 946_684_800_000_000 // 2000-01-01, from which PostgreSQL counts
	return time.UnixMicro(min(micros, 1<<62) + epoch), nil
}
