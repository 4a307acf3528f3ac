package backup_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/backup"
	"github.com/minidb/minidb/txn/mvcc/mvcctest"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

// minute is what the clock of a world is moved by.
const minute = int64(60_000)

// world is a store whose clock moves only when a test moves it.
type world struct {
	t      testing.TB
	engine kv.Engine
	clock  atomic.Int64
	opts   txn.Options
	store  *txn.Store
}

func newWorld(t testing.TB, e kv.Engine) *world {
	w := &world{t: t, engine: e}
	w.clock.Store(100 * minute)
	oracle, err := tso.Open(context.Background(), e, txn.OracleKey(),
		tso.Options{Clock: w.clock.Load, AcceptClock: true})
	require.NoError(t, err)
	w.opts = txn.Options{Oracle: oracle, LeaseRenewal: -1, Lease: time.Hour,
		StreamBytes: 1 << 13, // loads of a few rows bring files
		Logger:      slog.New(slog.DiscardHandler)}
	w.store = w.open()
	return w
}

func (w *world) open() *txn.Store {
	s, err := txn.Open(context.Background(), w.engine, w.opts)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = s.Close() })
	return s
}

func inPebble(t testing.TB) kv.Engine {
	e, err := pebblekv.Open("", pebblekv.Options{InMemory: true,
		Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

// engines are those of every kind that backups treat in another way.
var engines = map[string]func(t testing.TB) kv.Engine{
	"groups": func(testing.TB) kv.Engine {
		return memkv.New(memkv.Options{Shared: true, HashGroups: 3, Lost: 5})
	},
	"small": func(testing.TB) kv.Engine {
		return memkv.New(memkv.Options{Shared: true, Reads: 40})
	},
	"pebble": inPebble,
}

// commit commits what change does.
func commit(t testing.TB, s *txn.Store, change func(tx *txn.Txn) error) tso.Timestamp {
	ctx := context.Background()
	tx, err := s.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	require.NoError(t, change(tx))
	require.NoError(t, tx.Commit(ctx))
	return tx.CommitTS()
}

// set commits keys and values; "-" deletes the key.
func set(t testing.TB, s *txn.Store, pairs ...string) tso.Timestamp {
	return commit(t, s, func(tx *txn.Txn) error {
		for i := 0; i < len(pairs); i += 2 {
			err := tx.Set([]byte(pairs[i]), []byte(pairs[i+1]))
			if pairs[i+1] == "-" {
				err = tx.Delete([]byte(pairs[i]))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// at returns what a store shows at a timestamp, zero for now. Rows of a table, "tNN/…", are seen by
// those that find the way to it, "map/tNN": they may be loaded earlier, and deleted later.
func at(t testing.TB, s *txn.Store, ts tso.Timestamp) (out []string) {
	ctx := context.Background()
	tx, err := s.Begin(ctx, txn.BeginOptions{ReadOnly: true, StartTS: ts})
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback(ctx)) }()
	it, err := tx.Scan(ctx, kv.Span{}, txn.ScanOptions{})
	require.NoError(t, err)
	ways := map[string]bool{}
	for it.Next() {
		k := it.Key()
		if name, ok := bytes.CutPrefix(k, []byte("map/")); ok {
			ways[string(name)] = true
		}
		if k[0] == 0 || k[0] == 't' && len(k) > 3 && k[3] == '/' && !ways[string(k[:3])] {
			continue
		}
		out = append(out, fmt.Sprintf("%s=%s", k, it.Value()))
	}
	require.NoError(t, it.Err())
	require.NoError(t, it.Close())
	return out
}

// notes returns the notifications of a store.
func notes(t testing.TB, s *txn.Store) (out []string) {
	require.NoError(t, s.Notifications(context.Background(), kv.Span{},
		func(key []byte, n *txn.Notification) error {
			out = append(out, fmt.Sprintf("%s was %s", key, n.Old))
			return nil
		}))
	return out
}

// backUp makes a backup without an end in between.
func backUp(t testing.TB, s *txn.Store, p backup.Place) backup.Result {
	r, err := backup.Run(context.Background(), backup.Options{Source: s, To: p, PageBytes: 500,
		FileBytes: 3000, Protect: time.Hour})
	require.NoError(t, err)
	return r
}

// loaded finds records of loads: they have the start_ts of their transaction, and their data a
// later timestamp (txn: I29).
var loaded = regexp.MustCompile(`^key "t\d\d/\d+": put record at`)

// restore restores a backup into an engine, opens it and checks it.
func restore(t testing.TB, p backup.Place, name string, e kv.Engine) *txn.Store {
	ctx := context.Background()
	_, err := backup.Restore(ctx, backup.RestoreOptions{From: p, Name: name, Target: e,
		PageBytes: 700})
	require.NoError(t, err)
	s := newWorld(t, e).store
	snap, err := kv.Latest(e)
	require.NoError(t, err)
	defer func() { require.NoError(t, snap.Close()) }()
	require.NoError(t, mvcctest.Check(ctx, snap, func(problem string) {
		if !loaded.MatchString(problem) {
			t.Error(problem)
		}
	}))
	return s
}
