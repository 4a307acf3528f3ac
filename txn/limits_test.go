package txn_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
)

// report collects what background work reports.
type report struct{ strings.Builder }

func (r *report) logger() *slog.Logger { return slog.New(slog.NewTextHandler(r, nil)) }

// withinLimits runs a test on engines with the least limits, of this process alone and of several,
// in both protocols. What an engine refuses in the background fails it too.
func withinLimits(t *testing.T, opts txn.Options, run func(t *testing.T, s *txn.Store)) {
	for name, o := range map[string]memkv.Options{
		"alone":  {Limits: kv.LeastLimits},
		"shared": {Limits: kv.LeastLimits, Shared: true, HashGroups: 2},
	} {
		for _, protocol := range []txn.Protocol{txn.Auto, txn.TwoPhase} {
			t.Run(fmt.Sprintf("%s, %v", name, protocol), func(t *testing.T) {
				var r report
				e := memkv.New(o)
				opts := opts
				opts.Logger, opts.Protocol = r.logger(), protocol
				s, err := openTxn(context.Background(), e, opts)
				require.NoError(t, err)
				run(t, s)
				require.NoError(t, s.Close())
				require.NoError(t, e.Close())
				require.Empty(t, r.String())
			})
		}
	}
}

// TestLargeTransactionsWithinLimits: many rows, values at the bound, and all at once: in one
// commit, streamed out, rolled back, and as locks of rows.
func TestLargeTransactionsWithinLimits(t *testing.T) {
	ctx := context.Background()
	const rows = 500
	value := make([]byte, kv.LeastLimits.Value-mvcc.ValueOverhead)
	for _, streamed := range []int{0, 64 << 10} {
		withinLimits(t, txn.Options{StreamBytes: streamed}, func(t *testing.T, s *txn.Store) {
			for round, end := range []func(*txn.Txn) error{
				func(tx *txn.Txn) error { return tx.Commit(ctx) },
				func(tx *txn.Txn) error { return tx.Rollback(ctx) },
			} {
				tx := locking(t, s, false)
				for i := range rows {
					key := fmt.Appendf(nil, "k%03d", i)
					require.NoError(t, tx.LockCurrent(ctx, key, rowlock.Share, false))
					require.NoError(t, tx.LockCurrent(ctx, key, rowlock.Update, false))
					if i%2 == 0 {
						tx.Notify(key, 1, nil)
						tx.Notify(key, 2, nil)
						require.NoError(t, tx.Set(key, fmt.Append(nil, round)))
					}
				}
				require.NoError(t, tx.Set([]byte("large 1"), value))
				require.NoError(t, tx.Set([]byte("large 2"), value))
				require.NoError(t, tx.Set([]byte("large 3"), value))
				require.NoError(t, end(tx))
				require.True(t, s.RowLocks().Empty())
			}
			tx := begin(t, s)
			span := kv.Span{Start: []byte("k"), End: []byte("l")}
			require.Len(t, scan(t, tx, span, txn.ScanOptions{}), rows/2)
			require.Len(t, get(t, tx, "large 3"), len(value))
			require.NoError(t, tx.Rollback(ctx))
		})
	}
}

// TestAValueBeyondTheLimits is refused when it is written, and the transaction goes on.
func TestAValueBeyondTheLimits(t *testing.T) {
	ctx := context.Background()
	withinLimits(t, txn.Options{}, func(t *testing.T, s *txn.Store) {
		tx := begin(t, s)
		value := make([]byte, kv.LeastLimits.Value-mvcc.ValueOverhead+1)
		for _, write := range []func(key, value []byte) error{tx.Set, tx.SetNew, tx.Insert,
			func(key, value []byte) error { return tx.InsertAfter(1, key, value) },
		} {
			require.ErrorIs(t, write([]byte("a"), value), kv.ErrTooLarge)
		}
		long := make([]byte, kv.LeastLimits.Bytes)
		require.ErrorIs(t, tx.Set(long, nil), kv.ErrTooLarge)
		require.NoError(t, tx.Set([]byte("a"), value[1:]))
		require.NoError(t, tx.Commit(ctx))
	})
}

// TestAHotRowWithinLimits: its versions are collected, and its notifications acknowledged, in as
// many updates as it takes.
func TestAHotRowWithinLimits(t *testing.T) {
	ctx := context.Background()
	const changes = 300
	withinLimits(t, txn.Options{}, func(t *testing.T, s *txn.Store) {
		value := string(make([]byte, 1000)) // in the data column
		for range changes {
			tx := begin(t, s)
			tx.Notify([]byte("hot"), 1, []byte("before"))
			require.NoError(t, tx.Set([]byte("hot"), []byte(value)))
			require.NoError(t, tx.Set([]byte("warm"), []byte("1")))
			require.NoError(t, tx.Commit(ctx))
		}
		s.AwaitSecondaries()
		require.NoError(t, s.Acknowledge(ctx, []byte("hot"), 1, tso.Max))
		tx := begin(t, s)
		all, _, err := tx.NotificationsOf(ctx, []byte("hot"), 1)
		require.NoError(t, err)
		require.Empty(t, all)
		require.NoError(t, tx.Rollback(ctx))
		stats, err := s.CollectGarbage(ctx)
		require.NoError(t, err)
		require.Equal(t, 2*(changes-1), stats.Versions)
	})
}

// TestLocksOfTheDeadWithinLimits: a coordinator has died before or after the commit point of many
// rows, and a reader settles them.
func TestLocksOfTheDeadWithinLimits(t *testing.T) {
	ctx := context.Background()
	const rows = 300
	for _, at := range []txn.CrashPoint{txn.AfterPrewrite, txn.AfterCommitPoint} {
		for name, o := range map[string]memkv.Options{
			"alone":  {Limits: kv.LeastLimits},
			"shared": {Limits: kv.LeastLimits, Shared: true, HashGroups: 2},
		} {
			t.Run(fmt.Sprintf("%s, %v", name, at), func(t *testing.T) {
				var r report
				e := memkv.New(o)
				defer func() { require.NoError(t, e.Close()) }()
				clock := int64(1000)
				opts := txn.Options{Protocol: txn.TwoPhase, Logger: r.logger(),
					Clock:      func() int64 { return clock },
					CrashPoint: func(p txn.CrashPoint) bool { return p == at }}
				dead, err := openTxn(ctx, e, opts)
				require.NoError(t, err)
				tx := begin(t, dead)
				for i := range rows {
					key := fmt.Appendf(nil, "k%03d", i)
					tx.Notify(key, 1, nil)
					require.NoError(t, tx.Set(key, []byte("v")))
				}
				require.ErrorIs(t, tx.Commit(ctx), txn.ErrAbandoned)
				opts.Oracle, opts.CrashPoint, opts.Clock = dead.Oracle(), nil, nil
				if !o.Shared {
					opts.Oracle, opts.Clock = nil, func() int64 { return clock }
					require.NoError(t, dead.Close())
				}
				clock += 60_000
				s, err := openTxn(ctx, e, opts)
				require.NoError(t, err)
				reader := begin(t, s)
				want := 0
				if at == txn.AfterCommitPoint {
					want = rows
				}
				require.Len(t, scan(t, reader, kv.Span{}, txn.ScanOptions{}), want)
				require.NoError(t, reader.Rollback(ctx))
				_, err = s.SettleLocks(ctx)
				require.NoError(t, err)
				require.NoError(t, s.Close())
				if o.Shared {
					if err := dead.Close(); !errors.Is(err, txn.ErrTxnDone) {
						require.NoError(t, err)
					}
				}
				require.NotContains(t, r.String(), kv.ErrTooLarge.Error())
			})
		}
	}
}
