package backup_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/backup"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

func tableSpan(table string) kv.Span {
	return kv.Span{Start: []byte(table + "/"), End: []byte(table + "0")}
}

// rawCells counts the cells that an engine has of a span.
func rawCells(t testing.TB, e kv.Engine, span kv.Span) (n int) {
	snap, err := kv.Latest(e)
	require.NoError(t, err)
	defer func() { require.NoError(t, snap.Close()) }()
	for _, raw := range mvcc.RawSpans(span) {
		it, err := snap.NewIter(context.Background(), raw)
		require.NoError(t, err)
		for ok := it.First(); ok; ok = it.Next() {
			n++
		}
		require.NoError(t, it.Close())
	}
	return n
}

// failing is a place that fails, or is the end of the process, at one of its files.
type failing struct {
	backup.Place
	left int // files until then
	dies bool
}

var errPlace = errors.New("the place fails")

func (f *failing) Put(ctx context.Context, name string, write func(io.Writer) error) error {
	if f.left--; f.left >= 0 {
		return f.Place.Put(ctx, name, write)
	}
	if f.dies {
		panic("killed")
	}
	return errPlace
}

// state is what a store showed.
type state struct {
	at    []string
	notes []string
}

// history runs transactions, collections and backups in an order of their own, from a seed.
type history struct {
	*world
	r      *rand.Rand
	place  backup.Directory
	tables []string // that are there
	made   int
	states map[tso.Timestamp]state // when interrupted backups began
	done   map[string]state
	past   map[tso.Timestamp][]string

	resumed, full, compared int
}

func (h *history) key() string { return fmt.Sprintf("k%02d", h.r.IntN(40)) }

func (h *history) value() string {
	if h.r.IntN(4) == 0 {
		return long + fmt.Sprint(h.r.IntN(1000))
	}
	return fmt.Sprint(h.r.IntN(1000))
}

func (h *history) step() {
	ctx := context.Background()
	switch n := h.r.IntN(100); {
	case n < 40:
		ts := commit(h.t, h.store, h.change)
		if h.r.IntN(5) == 0 {
			h.past[ts] = at(h.t, h.store, ts)
		}
	case n < 50: // an observer has run
		pending := notes(h.t, h.store)
		if len(pending) == 0 {
			return
		}
		var key string
		_, err := fmt.Sscan(pending[h.r.IntN(len(pending))], &key)
		require.NoError(h.t, err)
		now := set(h.t, h.store, "o"+key, "seen")
		require.NoError(h.t, h.store.Acknowledge(ctx, []byte(key), 7, now))
	case n < 60:
		h.clock.Add(h.r.Int64N(40) * minute)
		require.NoError(h.t, h.store.RenewLease(ctx))
		_, err := h.store.CollectGarbage(ctx)
		require.NoError(h.t, err)
	case n < 68:
		h.makeTable()
	case n < 74 && len(h.tables) > 0:
		i := h.r.IntN(len(h.tables))
		name := h.tables[i]
		h.tables = append(h.tables[:i:i], h.tables[i+1:]...)
		commit(h.t, h.store, func(tx *txn.Txn) error {
			return errors.Join(tx.Delete([]byte("map/"+name)), tx.DropSpan(tableSpan(name)))
		})
	case n >= 80:
		h.backUp()
	}
}

// change writes some keys, for an observer too.
func (h *history) change(tx *txn.Txn) error {
	for range 1 + h.r.IntN(6) {
		key := []byte(h.key())
		switch h.r.IntN(5) {
		case 0:
			if err := tx.Delete(key); err != nil {
				return err
			}
			continue
		case 1:
			tx.Notify(key, 7, []byte("old"))
		}
		if err := tx.Set(key, []byte(h.value())); err != nil {
			return err
		}
	}
	return nil
}

// makeTable writes the rows of a table: key by key, or as files.
func (h *history) makeTable() {
	ctx := context.Background()
	name := fmt.Sprintf("t%02d", h.made%100)
	if h.made++; h.made > 100 {
		return // spans are not used again
	}
	commit(h.t, h.store, func(tx *txn.Txn) error {
		l, err := tx.NewLoad(ctx, tableSpan(name))
		for i := 0; i < 20 && err == nil; i++ {
			err = l.Add(ctx, fmt.Appendf(nil, "%s/%02d", name, i), []byte(h.value()))
		}
		return errors.Join(err, l.Finish(ctx), tx.Set([]byte("map/"+name), nil))
	})
	h.tables = append(h.tables, name)
}

// backUp makes a backup, or goes on with one; it may be interrupted.
func (h *history) backUp() {
	f := &failing{Place: h.place, left: 1000, dies: h.r.IntN(2) == 0}
	if h.r.IntN(3) > 0 {
		f.left = h.r.IntN(12)
	}
	now := &state{at(h.t, h.store, 0), notes(h.t, h.store)}
	var r backup.Result
	var err error
	func() {
		defer func() {
			if recover() != nil {
				err = errPlace
			}
		}()
		r, err = backup.Run(context.Background(), backup.Options{Source: h.store, To: f,
			Full: h.r.IntN(12) == 0, PageBytes: 400, FileBytes: 1500, Protect: 2 * time.Hour})
	}()
	if err != nil {
		require.ErrorIs(h.t, err, errPlace)
		h.note(now)
		return
	}
	if r.Resumed {
		h.resumed++
		kept, ok := h.states[r.At]
		require.True(h.t, ok)
		now = &kept
	}
	if r.WhyFull != "" {
		h.full++
	}
	h.done[r.Name] = *now
	h.past[r.At] = now.at
}

// note keeps what the store showed when the backup began that is not finished, if that was now.
func (h *history) note(now *state) {
	files, err := filepath.Glob(filepath.Join(string(h.place), "*", "progress.json"))
	require.NoError(h.t, err)
	for _, f := range files {
		var p struct{ Manifest struct{ At tso.Timestamp } }
		b, err := os.ReadFile(f)
		require.NoError(h.t, err)
		require.NoError(h.t, json.Unmarshal(b, &p))
		if _, ok := h.states[p.Manifest.At]; !ok {
			h.states[p.Manifest.At] = *now
		}
	}
}

// check restores each backup and compares it with what the store showed.
func (h *history) check(target func(testing.TB) kv.Engine) {
	ctx := context.Background()
	all, err := backup.List(ctx, h.place)
	require.NoError(h.t, err)
	for _, m := range all {
		want, ok := h.done[m.Name]
		if !ok {
			continue // the process was killed behind the manifest
		}
		_, _, err := backup.Verify(ctx, h.place, m.Name, nil)
		require.NoError(h.t, err)
		to := restore(h.t, h.place, m.Name, target(h.t))
		require.Equal(h.t, want.at, at(h.t, to, 0), m.Name)
		require.Equal(h.t, want.notes, notes(h.t, to), m.Name)
		for ts, want := range h.past {
			if ts <= m.At && ts >= m.Safepoint {
				require.Equal(h.t, want, at(h.t, to, ts))
				h.compared++
			}
		}
		require.NoError(h.t, to.Close())
	}
}

// TestBackupsOfHistories: transactions, observers, collections, tables that are loaded and dropped,
// and backups that fail or are killed at their files, in an order that comes from a seed. Each
// backup that was made is restored and compared, its past too.
func TestBackupsOfHistories(t *testing.T) {
	backups, resumed, full, compared := 0, 0, 0, 0
	seeds := uint64(6)
	if testing.Short() {
		seeds = 1 // the race detector sees the same with each
	}
	for seed := range seeds {
		for name, engine := range engines {
			t.Run(fmt.Sprint(name, " ", seed), func(t *testing.T) {
				h := &history{world: newWorld(t, engine(t)), r: rand.New(rand.NewPCG(seed, 13)),
					place: backup.Directory(t.TempDir()), states: map[tso.Timestamp]state{},
					done: map[string]state{}, past: map[tso.Timestamp][]string{}}
				for range 120 {
					h.step()
				}
				h.check(inPebble)
				backups, resumed = backups+len(h.done), resumed+h.resumed
				full, compared = full+h.full, compared+h.compared
			})
		}
	}
	t.Logf("%d backups, %d of them resumed, %d full for a reason, %d moments of their past",
		backups, resumed, full, compared)
	if testing.Short() {
		return
	}
	require.Greater(t, backups, 200)
	require.Greater(t, resumed, 10)
	require.Greater(t, full, 10)
	require.Greater(t, compared, 400)
}
