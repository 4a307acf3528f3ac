package iofault

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/kv/pebblekv/testfs"
	"github.com/minidb/minidb/txn"
)

const (
	operations = 1000 // of the workload: three writes and a read in each transaction
	keys       = 40
)

// outcome is the result that a transaction received. Without a reply it is unknown.
type outcome int

const (
	unknown outcome = iota
	committed
	failed
)

// change is a transaction of the workload.
type change struct {
	writes map[string]string
	result outcome
}

// life is one process on the file system.
type life struct {
	disk    *testfs.CrashFS
	fs      *testfs.FaultFS
	left    *testfs.CrashFS // of the disk, when it stopped or was done
	opts    txn.Options
	changes []change
	errs    int
	writes  int // of files
	wrong   []string
	stopped atomic.Bool // the engine could not go on, and said so
}

func newLife(opts txn.Options) *life {
	disk := testfs.NewCrashFS()
	return &life{disk: disk, fs: testfs.NewFaultFS(disk), opts: opts}
}

func open(fs *testfs.FaultFS, opts txn.Options, failed func(error)) (*pebblekv.Engine, *txn.Store,
	error) {
	quiet := slog.New(slog.DiscardHandler)
	e, err := pebblekv.Open("db", pebblekv.Options{
		FS: fs, MemTableBytes: 64 << 10, CacheBytes: 1 << 20, Logger: quiet, OnFailure: failed,
	})
	if err != nil {
		return nil, nil, err
	}
	opts.Logger = quiet
	s, err := txn.Open(context.Background(), e, opts)
	if err != nil {
		return nil, nil, errors.Join(err, e.Close())
	}
	return e, s, nil
}

// run works until the workload is over or the process stops. What it says after it has stopped is
// not reported to any client; so that it can be closed, its writes succeed again.
func (l *life) run(dice *rand.Rand, percent int) {
	var once sync.Once
	e, s, err := open(l.fs, l.opts, func(error) {
		once.Do(func() {
			l.stopped.Store(true)
			l.left = l.disk.Crash(percent, rand.New(rand.NewPCG(uint64(percent), 1)))
			l.fs.Plan(testfs.Fault{})
		})
	})
	if err == nil {
		l.work(s, dice)
	} else {
		l.errs++
	}
	once.Do(func() { l.left = l.disk.Crash(percent, dice) })
	l.writes, _ = l.fs.Writes()
	l.fs.Plan(testfs.Fault{})
	if err == nil {
		_ = errors.Join(s.Close(), e.Close()) // nothing was promised that this could break
	}
}

func (l *life) work(s *txn.Store, dice *rand.Rand) {
	ctx := context.Background()
	for n := range operations / 4 {
		if l.stopped.Load() {
			return
		}
		tx, err := s.Begin(ctx, txn.BeginOptions{})
		if err != nil {
			l.errs++
			continue
		}
		key := fmt.Sprintf("k%02d", dice.IntN(keys))
		if got, err := tx.Get(ctx, []byte(key)); err == nil && !l.stopped.Load() {
			l.judge(n, key, string(got))
		} else {
			l.errs++
		}
		l.changes = append(l.changes, change{writes: map[string]string{}})
		c := &l.changes[len(l.changes)-1]
		for range 3 {
			k, v := fmt.Sprintf("k%02d", dice.IntN(keys)), fmt.Sprintf("%d %s", n,
				strings.Repeat("x", dice.IntN(2)*900))
			c.writes[k] = v
			_ = tx.Set([]byte(k), []byte(v)) // fails on a finished transaction only
		}
		switch err := tx.Commit(ctx); {
		case l.stopped.Load():
		case err == nil:
			c.result = committed
		case errors.Is(err, txn.ErrAmbiguous):
			l.errs++
		default:
			l.errs++
			c.result = failed
		}
		if n%100 == 50 {
			if _, err := s.CollectGarbage(ctx); err != nil {
				l.errs++
			}
		}
	}
}

// judge compares a live read with what was acknowledged: it returns the newest acknowledged value,
// or a newer one whose result is unknown.
func (l *life) judge(n int, key, got string) {
	for i := len(l.changes) - 1; i >= 0; i-- {
		v, wrote := l.changes[i].writes[key]
		switch {
		case !wrote:
		case l.changes[i].result == failed:
			if v == got {
				l.wrong = append(l.wrong, fmt.Sprintf("operation %d reads %.20q, which was "+
					"refused", n, got))
				return
			}
		case v == got:
			return
		case l.changes[i].result == committed:
			l.wrong = append(l.wrong, fmt.Sprintf("operation %d reads %s as %.20q, acknowledged "+
				"was %.20q", n, key, got, v))
			return
		}
	}
	if got != "" {
		l.wrong = append(l.wrong, fmt.Sprintf(
			"operation %d reads %.20q, which no operation wrote", n, got))
	}
}

// verify opens what is left, without faults, and compares it with what was acknowledged.
func (l *life) verify(t *testing.T, what string) {
	for _, w := range l.wrong {
		t.Errorf("%s: %s", what, w)
	}
	fs := testfs.NewFaultFS(l.left)
	e, s, err := open(fs, txn.Options{}, func(err error) { panic(err) })
	if err != nil {
		t.Errorf("%s: does not open again: %v", what, err)
		return
	}
	ctx := context.Background()
	tx, err := s.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err, what)
	got := map[string]string{}
	for i := range keys {
		k := fmt.Sprintf("k%02d", i)
		v, err := tx.Get(ctx, []byte(k))
		require.NoError(t, err, what)
		if v != nil {
			got[k] = string(v)
		}
	}
	want := map[string]string{}
	for _, c := range l.changes {
		there := c.result == committed
		for k, v := range c.writes {
			there = there || c.result == unknown && got[k] == v
		}
		if there {
			for k, v := range c.writes {
				want[k] = v
			}
		}
	}
	if !maps.Equal(want, got) {
		t.Errorf("%s: after %d transactions the store has %.300v, acknowledged is %.300v", what,
			len(l.changes), got, want)
	}
	require.NoError(t, tx.Set([]byte("again"), []byte("1")))
	require.NoError(t, tx.Commit(ctx), what)
	require.NoError(t, s.Close(), what)
	require.NoError(t, e.Close(), what)
}

// faults is how many writes of the workload are failed: MINIDB_IO_FAULTS (0 is all of them), or
// some.
func faults(t *testing.T, writes int) (step int) {
	n := 60
	if testing.Short() {
		n = 10
	}
	if v := os.Getenv("MINIDB_IO_FAULTS"); v != "" {
		var err error
		n, err = strconv.Atoi(v)
		require.NoError(t, err, "MINIDB_IO_FAULTS")
	}
	if n == 0 || n >= writes {
		return 1
	}
	return writes / n
}

// TestEveryWriteFails fails the writes of the workload one after the other. A fault that is not
// named by its number is replayed with MINIDB_IO_SEED.
func TestEveryWriteFails(t *testing.T) {
	seed := rand.Uint64()
	if v := os.Getenv("MINIDB_IO_SEED"); v != "" {
		var err error
		seed, err = strconv.ParseUint(v, 10, 64)
		require.NoError(t, err, "MINIDB_IO_SEED")
	}
	t.Logf("MINIDB_IO_SEED=%d", seed)
	for _, mode := range []struct {
		name string
		opts txn.Options
	}{{"one phase", txn.Options{}}, {"two phases",
		txn.Options{Protocol: txn.TwoPhase, BatchKeys: 1}}} {
		mode.opts.LockWait = time.Millisecond
		for _, fault := range []testfs.Fault{{Times: 1}, {}, {Times: 1, DiskFull: true},
			{Times: 30, DiskFull: true}, {DiskFull: true}} {
			name := fmt.Sprintf("%s, disk full %v, %d times", mode.name, fault.DiskFull,
				fault.Times)
			t.Run(name, func(t *testing.T) {
				dry := newLife(mode.opts)
				dry.run(rand.New(rand.NewPCG(seed, 0)), 100)
				require.Zero(t, dry.errs)
				stops, silent := 0, 0
				step := faults(t, dry.writes)
				for at := 1 + int(seed%uint64(step)); at <= dry.writes; at += step {
					l := newLife(mode.opts)
					f := fault
					f.At = at
					l.fs.Plan(f)
					percent := []int{0, 50, 100}[(at/step)%3]
					l.run(rand.New(rand.NewPCG(seed, 0)), percent)
					l.verify(t, fmt.Sprintf("MINIDB_IO_SEED=%d, write %d of %d, %d%% kept", seed,
						at, dry.writes, percent))
					if l.stopped.Load() {
						stops++
					} else if l.errs == 0 {
						silent++
					}
					if t.Failed() {
						return
					}
				}
				t.Logf("%d writes, every %d. failed: stopped %d times, went on without an error "+
					"%d times", dry.writes, step, stops, silent)
			})
		}
	}
}
