package clone_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/clone"
	"github.com/minidb/minidb/txn/gc"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/pages"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

var long = strings.Repeat("long ", 200)

// filled is a source with everything that a store can have: versions, long values, deletions, locks
// without a change, rollbacks, notifications. It returns what it showed along the way.
func filled(t testing.TB) (w *world, s *txn.Store, past map[tso.Timestamp][]string) {
	ctx := context.Background()
	w = newWorld(t, memkv.New(memkv.Options{Shared: true, HashGroups: 2, Lost: 5}))
	s = w.store()
	past = map[tso.Timestamp][]string{}
	for i := range 40 {
		k := fmt.Sprintf("k%02d", i)
		set(t, s, k, "one", "all", fmt.Sprint(i), "\x00zero\x00", long+k)
		if i%3 == 0 {
			set(t, s, k, long+k)
		}
		if i%5 == 0 {
			set(t, s, k, "-")
		}
		if i%10 == 0 {
			ts := set(t, s, k, "")
			past[ts] = at(t, s, ts)
		}
		if i%4 == 0 {
			notified(t, s, k, "old", fmt.Sprint("seen ", i))
		}
	}
	loser, err := s.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	require.NoError(t, errors.Join(loser.Set([]byte("a"), nil), loser.Set([]byte("all"), nil)))
	set(t, s, "all", "again")
	require.Error(t, loser.Commit(ctx)) // its primary has the record of a rollback
	return w, s, past
}

// TestACopyShowsWhatTheSourceShows at every timestamp that the source has, on every kind of engine.
func TestACopyShowsWhatTheSourceShows(t *testing.T) {
	for name, target := range targets {
		t.Run(name, func(t *testing.T) {
			w, s, past := filled(t)
			e := target(t)
			r := run(t, s, e)
			set(t, s, "k01", "after", "new", "after")
			require.Contains(t, []int{2, 3}, len(meta(t, e)), meta(t, e)) // oracle, safepoint
			to := open(t, e)
			require.Equal(t, at(t, s, r.At), at(t, to, 0))
			require.Equal(t, at(t, s, r.At), at(t, to, r.At))
			require.EqualValues(t, len(at(t, to, 0)), r.Keys)
			require.Equal(t, notes(t, s), notes(t, to))
			for ts, want := range past {
				require.Equal(t, want, at(t, to, ts))
			}
			first, err := to.Now(context.Background())
			require.NoError(t, err)
			require.Greater(t, first, r.At)
			set(t, to, "k01", "a copy is written to")
			require.NotContains(t, meta(t, w.engine), "hold/")
		})
	}
}

// TestOnlyVersionsAndNotesTravel: the copy has no record that changes nothing, no lock, no cell
// that is not the source's.
func TestOnlyVersionsAndNotesTravel(t *testing.T) {
	w, s, _ := filled(t)
	e := memkv.New(memkv.Options{})
	run(t, s, e)
	from := raw(t, w.engine)
	for k, v := range raw(t, e) {
		require.Equal(t, from[k], v)
		require.Contains(t, "dnw", k[:1])
		c, err := mvcc.Decode([]byte(k), []byte(v))
		require.NoError(t, err)
		if c.Column == mvcc.ColumnWrite {
			require.Contains(t, []mvcc.Kind{mvcc.KindPut, mvcc.KindDelete}, c.Write.Kind)
		}
	}
}

// stopped is a context that ends behind so many pages.
func stopped(pages int) (context.Context, func(clone.Progress)) {
	ctx, cancel := context.WithCancel(context.Background())
	return ctx, func(clone.Progress) {
		if pages--; pages == 0 {
			cancel()
		}
	}
}

// TestACopyGoesOnWhereItWas: it is ended behind each page, and ends up as one that was not.
func TestACopyGoesOnWhereItWas(t *testing.T) {
	for name, target := range targets {
		t.Run(name, func(t *testing.T) {
			_, s, _ := filled(t)
			e := target(t)
			var r clone.Result
			runs, cells, ts := 0, int64(0), []tso.Timestamp{}
			for err := context.Canceled; err != nil; runs++ {
				require.ErrorIs(t, err, context.Canceled)
				ctx, progress := stopped(1)
				if runs > 60 {
					ctx, progress = context.Background(), nil // the verification begins anew
				}
				r, err = clone.Run(ctx, clone.Options{Source: s, Target: e, PageBytes: 700,
					Progress: func(p clone.Progress) {
						if p.Phase == clone.Versions { // no page is copied twice
							require.Greater(t, p.Cells, cells)
							cells = p.Cells
						}
						if progress != nil {
							progress(p)
						}
					}})
				if _, opens := tso.Open(context.Background(), e, txn.OracleKey(),
					tso.Options{}); err != nil {
					var filling *tso.FillingError
					require.ErrorAs(t, opens, &filling)
					ts = append(ts, filling.At)
				}
				set(t, s, "all", "changes meanwhile")
			}
			require.Greater(t, runs, 20)
			require.True(t, r.Resumed)
			for _, x := range ts {
				require.Equal(t, r.At, x)
			}
			require.Equal(t, at(t, s, r.At), at(t, open(t, e), 0))
		})
	}
}

// TestACopyOutlastsFailures of the target, at each of its updates, of which the results are lost.
func TestACopyOutlastsFailures(t *testing.T) {
	for name, target := range targets {
		t.Run(name, func(t *testing.T) {
			_, s, _ := filled(t)
			for n := 1; ; n++ {
				f := kvtest.NewFault(target(t))
				f.Plan(kvtest.FaultPlan{At: n, Times: 5, Applied: n%2 == 0})
				r, err := clone.Run(context.Background(), clone.Options{Source: s, Target: f,
					PageBytes: 20_000})
				hits := f.Hits()
				f.Plan(kvtest.FaultPlan{})
				if err != nil {
					require.ErrorIs(t, err, kvtest.ErrInjected)
					var o clone.Options
					o.Source, o.Target = s, f
					if r, err = clone.Run(context.Background(), o); errors.As(err,
						new(*clone.LostError)) {
						// the mark was there though its update had failed: the hold was given up
						o.Anew = true
						r, err = clone.Run(context.Background(), o)
					}
					if errors.Is(err, clone.ErrNotEmpty) {
						// it was finished, and only what it needed is left
						r.At = 0
						err = nil
					}
					require.NoError(t, err)
				}
				require.Equal(t, at(t, s, r.At), at(t, open(t, f.Engine), 0), n)
				if hits == 0 {
					require.Greater(t, n, 4)
					return
				}
			}
		})
	}
}

// TestTransfersAreWhole: several processes move money all the while, some at each page.
func TestTransfersAreWhole(t *testing.T) {
	const processes, perPage = 3, 6
	w := newWorld(t, memkv.New(memkv.Options{Shared: true}))
	s := w.store()
	b := &bank{turns: make(chan struct{}, 1000)}
	b.open(t, s)
	for p := range processes {
		other, rnd := w.store(), rand.New(rand.NewPCG(1, uint64(p)))
		b.tellers.Go(func() { b.serve(other, rnd) })
	}
	t.Cleanup(b.tellers.Wait)
	t.Cleanup(func() { close(b.turns) })
	for range 4 {
		e := memkv.New(memkv.Options{Shared: true})
		b.take(50)
		before := b.transfers.Load()
		r, err := clone.Run(context.Background(), clone.Options{Source: s, Target: e,
			PageBytes: 1000, Progress: func(clone.Progress) { b.take(perPage) }})
		require.NoError(t, err)
		to := open(t, e)
		require.Equal(t, at(t, s, r.At), at(t, to, 0))
		require.Equal(t, bankTotal, b.total(at(t, to, 0)))
		require.Greater(t, b.transfers.Load(), before) // they went on
	}
}

// bank is accounts between which money is moved.
type bank struct {
	turns     chan struct{} // one for each transfer that is to be tried
	tellers   sync.WaitGroup
	transfers atomic.Int64
}

const (
	bankAccounts = 20
	bankTotal    = bankAccounts * 1000
)

func account(n int) []byte { return fmt.Appendf(nil, "account %03d", n) }

func amount(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func (b *bank) open(t testing.TB, s *txn.Store) {
	var pairs []string
	for i := range bankAccounts {
		pairs = append(pairs, string(account(i)), string(amount(1000)))
	}
	set(t, s, pairs...)
}

func (b *bank) take(turns int) {
	for range turns {
		b.turns <- struct{}{}
	}
}

// serve tries transfers; one that meets a conflict is given up.
func (b *bank) serve(s *txn.Store, rnd *rand.Rand) {
	for range b.turns {
		from, to := rnd.IntN(bankAccounts), rnd.IntN(bankAccounts-1)
		if to >= from {
			to++
		}
		if b.transfer(s, account(from), account(to)) == nil {
			b.transfers.Add(1)
		}
	}
}

func (b *bank) transfer(s *txn.Store, from, to []byte) error {
	ctx := context.Background()
	tx, err := s.Begin(ctx, txn.BeginOptions{})
	if err != nil {
		return err
	}
	values, err := tx.GetMany(ctx, [][]byte{from, to})
	if err != nil {
		return errors.Join(err, tx.Rollback(ctx))
	}
	err = errors.Join(tx.Set(from, amount(binary.BigEndian.Uint64(values[0])-1)),
		tx.Set(to, amount(binary.BigEndian.Uint64(values[1])+1)))
	return errors.Join(err, tx.Commit(ctx))
}

func (b *bank) total(lines []string) (sum int) {
	for _, line := range lines {
		_, v, _ := strings.Cut(line, "=")
		sum += int(binary.BigEndian.Uint64([]byte(v)))
	}
	return sum
}

// TestPendingNotificationsTravel: the observer runs, and acknowledges, while the copy is under way.
func TestPendingNotificationsTravel(t *testing.T) {
	ctx := context.Background()
	w, s, _ := filled(t)
	other := w.store()
	want := notes(t, s)
	require.NotEmpty(t, want)
	acknowledge := func() {
		now, err := other.Now(ctx)
		require.NoError(t, err)
		for i := range 40 {
			require.NoError(t, other.Acknowledge(ctx, fmt.Appendf(nil, "k%02d", i), 7, now))
		}
	}
	e := memkv.New(memkv.Options{})
	_, err := clone.Run(ctx, clone.Options{Source: s, Target: e, PageBytes: 500,
		Progress: func(clone.Progress) {
			notified(t, other, "k03", "later", "later")
			acknowledge()
		}})
	require.NoError(t, err)
	require.Equal(t, want, notes(t, open(t, e)))
	acknowledge()
	require.Empty(t, notes(t, s)) // the hold is over
}

// TestAHoldKeepsAllUntilItKnowsItsTimestamp: an observer runs between the draw and At.
func TestAHoldKeepsAllUntilItKnowsItsTimestamp(t *testing.T) {
	ctx := context.Background()
	w, s, _ := filled(t)
	other := w.store()
	h, err := s.NewHold(ctx, time.Hour)
	require.NoError(t, err)
	notified(t, other, "k01", "between", "both")
	want := notes(t, s)
	ts, err := s.Now(ctx)
	require.NoError(t, err)
	require.NoError(t, other.Acknowledge(ctx, []byte("k01"), 7, set(t, other, "k02", "run")))
	require.NoError(t, h.At(ctx, ts))
	require.Equal(t, want, notes(t, s))
	notified(t, other, "k01", "above", "both")
	require.NoError(t, other.Acknowledge(ctx, []byte("k01"), 7, set(t, other, "k02", "run")))
	require.Equal(t, want, notes(t, s)) // what is above the timestamp is not kept
}

// TestLocksOfCommitsBecomeRecords: a coordinator has died behind the commit point, and another one
// stops before it and goes on when the copy is made.
func TestLocksOfCommitsBecomeRecords(t *testing.T) {
	ctx := context.Background()
	w, s, _ := filled(t)
	w.opts.CrashPoint = func(p txn.CrashPoint) bool { return p == txn.AfterCommitPoint }
	dead := w.store()
	tx, err := dead.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	for _, k := range []string{"k01", "k02", "k03"} {
		tx.Notify([]byte(k), 7, []byte("before"))
		require.NoError(t, tx.Set([]byte(k), []byte(long)))
	}
	require.ErrorIs(t, tx.Commit(ctx), txn.ErrAbandoned)

	reached, goOn := make(chan struct{}), make(chan struct{})
	release := sync.OnceFunc(func() { close(goOn) })
	defer release() // or the store would not close
	w.opts.CrashPoint = func(p txn.CrashPoint) bool {
		if p == txn.AfterPrewrite {
			close(reached)
			<-goOn
		}
		return false
	}
	running := w.store()
	later, err := running.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	later.Notify([]byte("k05"), 7, []byte("later"))
	require.NoError(t, errors.Join(later.Set([]byte("k05"), []byte("later")),
		later.Set([]byte("k06"), []byte("later"))))
	ended := make(chan error, 1)
	go func() { ended <- later.Commit(ctx) }()
	<-reached
	e := memkv.New(memkv.Options{})
	r := run(t, s, e)
	release()
	require.NoError(t, <-ended)
	require.Greater(t, later.CommitTS(), r.At)
	to := open(t, e)
	require.Equal(t, at(t, s, r.At), at(t, to, 0))
	require.Contains(t, at(t, to, 0), "k03="+long)
	require.Contains(t, notes(t, to), "k03 was before")
	require.NotContains(t, notes(t, to), "k05 was later")
	require.NotContains(t, at(t, to, 0), "k05=later")
}

// TestTheSourceKeepsWhatIsCopied for as long as the copy is interrupted, within the hold.
func TestTheSourceKeepsWhatIsCopied(t *testing.T) {
	ctx := context.Background()
	w, s, _ := filled(t)
	e := memkv.New(memkv.Options{})
	interrupted := func() error {
		ctx, progress := stopped(2)
		_, err := clone.Run(ctx, clone.Options{Source: s, Target: e, PageBytes: 500,
			Progress: progress})
		return err
	}
	collected := func() gc.Stats {
		st, err := s.CollectGarbage(ctx)
		require.NoError(t, err)
		return st
	}
	require.ErrorIs(t, interrupted(), context.Canceled)
	var filling *tso.FillingError
	_, err := tso.Open(ctx, e, txn.OracleKey(), tso.Options{})
	require.ErrorAs(t, err, &filling)
	want := at(t, s, filling.At)
	set(t, s, "k01", "new", "k02", "new")
	w.clock.Add(50 * minute)
	require.NoError(t, s.RenewLease(ctx))
	require.Equal(t, filling.At, collected().Safepoint)
	r, err := clone.Run(ctx, clone.Options{Source: s, Target: e})
	require.NoError(t, err)
	require.True(t, r.Resumed)
	to := open(t, e)
	require.Equal(t, want, at(t, to, 0))
	require.Equal(t, filling.At, to.Safepoint())
	w.clock.Add(minute)
	require.Greater(t, collected().Safepoint, filling.At)

	e = memkv.New(memkv.Options{})
	require.ErrorIs(t, interrupted(), context.Canceled)
	w.clock.Add(61 * minute)
	require.NoError(t, s.RenewLease(ctx))
	require.Greater(t, collected().Safepoint, filling.At)
	var lost *clone.LostError
	_, err = clone.Run(ctx, clone.Options{Source: s, Target: e})
	require.ErrorAs(t, err, &lost)
	require.ErrorContains(t, err, "--anew")
	r, err = clone.Run(ctx, clone.Options{Source: s, Target: e, Anew: true})
	require.NoError(t, err)
	require.False(t, r.Resumed)
	require.Equal(t, at(t, s, 0), at(t, open(t, e), 0))
}

// TestAHoldOnADirectory: the process that serves a directory between two runs holds it too.
func TestAHoldOnADirectory(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, memkv.New(memkv.Options{}))
	s := w.store()
	set(t, s, "a", "1", "b", long)
	notified(t, s, "c", "old", "new")
	e := memkv.New(memkv.Options{})
	ending, progress := stopped(1)
	_, err := clone.Run(ending, clone.Options{Source: s, Target: e, PageBytes: 1,
		Progress: progress})
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, s.Close())

	s = w.store()
	want := at(t, s, 0)
	set(t, s, "a", "2", "b", "-")
	now, err := s.Now(ctx)
	require.NoError(t, err)
	require.NoError(t, s.Acknowledge(ctx, []byte("c"), 7, now))
	_, err = s.CollectGarbage(ctx)
	require.NoError(t, err)
	r, err := clone.Run(ctx, clone.Options{Source: s, Target: e})
	require.NoError(t, err)
	require.True(t, r.Resumed)
	to := open(t, e)
	require.Equal(t, want, at(t, to, 0))
	require.Equal(t, []string{"c was old"}, notes(t, to))
}

func TestATargetMustBeEmpty(t *testing.T) {
	ctx := context.Background()
	_, s, _ := filled(t)
	used := memkv.New(memkv.Options{})
	set(t, open(t, used), "a", "1")
	before := raw(t, used)
	foreign := memkv.New(memkv.Options{})
	require.NoError(t, foreign.Update(ctx, [][]byte{[]byte("x")},
		func(_ kv.Reader, b *kv.Batch) error {
			b.Set([]byte("?x"), nil)
			return nil
		}))
	for _, e := range []kv.Engine{used, foreign} {
		for _, anew := range []bool{false, true} {
			_, err := clone.Run(ctx, clone.Options{Source: s, Target: e, Anew: anew})
			require.ErrorIs(t, err, clone.ErrNotEmpty)
		}
	}
	require.Equal(t, before, raw(t, used))

	e := memkv.New(memkv.Options{})
	ending, progress := stopped(1)
	_, err := clone.Run(ending, clone.Options{Source: s, Target: e, PageBytes: 1,
		Progress: progress})
	require.ErrorIs(t, err, context.Canceled)
	_, other, _ := filled(t)
	_, err = clone.Run(ctx, clone.Options{Source: other, Target: e})
	require.ErrorIs(t, err, clone.ErrOtherSource)
	_, err = clone.Run(ctx, clone.Options{Source: other, Target: e, Anew: true})
	require.NoError(t, err)
	require.Equal(t, at(t, other, 0), at(t, open(t, e), 0))
}

// TestTheVerificationFindsEveryDamage: one cell of the target is changed, taken away or added,
// between the copy and its verification.
func TestTheVerificationFindsEveryDamage(t *testing.T) {
	ctx := context.Background()
	_, s, _ := filled(t)
	whole := memkv.New(memkv.Options{})
	run(t, s, whole)
	cells := raw(t, whole)
	damages := map[string]func(b *kv.Batch, key, value string){
		"changed": func(b *kv.Batch, key, value string) {
			v := []byte(value)
			if v[len(v)-1] ^= 1; len(v) == 0 {
				v = []byte{1}
			}
			b.Set([]byte(key), v)
		},
		"gone": func(b *kv.Batch, key, _ string) { b.Delete([]byte(key)) },
		"more": func(b *kv.Batch, key, value string) {
			row := append([]byte(key[:1]), mvcc.Row([]byte("more"))...)
			b.Set(append(row, key[kv.PrefixLen([]byte(key)):]...), []byte(value))
		},
	}
	tried := 0
	for key, value := range cells {
		for name, damage := range damages {
			if name == "more" && key[0] == 'd' || len(value) == 0 {
				continue // data that no record names is not seen by any reader
			}
			e := memkv.New(memkv.Options{})
			done := false
			named := false
			user, err := mvcc.UserKey(kv.Row([]byte(key)), nil)
			require.NoError(t, err)
			if name == "more" {
				user = []byte("more")
			}
			_, err = clone.Run(ctx, clone.Options{Source: s, Target: e,
				Progress: func(p clone.Progress) {
					if p.Phase != clone.Notifications || done {
						return
					}
					done = true
					require.NoError(t, kvUpdate(e, key, func(b *kv.Batch) {
						damage(b, key, value)
					}))
				},
				Differs: func(d clone.Difference) {
					named = named || d.Span.Contains(user)
				}})
			require.True(t, done)
			if err != nil && !errors.Is(err, clone.ErrDiffers) {
				require.ErrorIs(t, err, kv.ErrCorruption, "%s %q", name, key)
				named = true
			} else {
				require.ErrorIs(t, err, clone.ErrDiffers, "%s %q", name, key)
			}
			require.True(t, named, "%s %q", name, key)
			_, err = tso.Open(ctx, e, txn.OracleKey(), tso.Options{})
			require.ErrorAs(t, err, new(*tso.FillingError))
			tried++
		}
	}
	require.Greater(t, tried, 300)
}

// kvUpdate changes an engine in an update of a row, and of the one that damage adds.
func kvUpdate(e kv.Engine, key string, change func(b *kv.Batch)) error {
	return e.Update(context.Background(), [][]byte{kv.Row([]byte(key)), mvcc.Row([]byte("more"))},
		func(_ kv.Reader, b *kv.Batch) error {
			change(b)
			return nil
		})
}

func TestAValueThatTheTargetCannotTake(t *testing.T) {
	w := newWorld(t, memkv.New(memkv.Options{}))
	s := w.store()
	set(t, s, "a", "1", "large", strings.Repeat("x", 40<<10))
	e := memkv.New(memkv.Options{Shared: true})
	_, err := clone.Run(context.Background(), clone.Options{Source: s, Target: e})
	require.ErrorIs(t, err, kv.ErrTooLarge)
	var large *pages.ValueError
	require.ErrorAs(t, err, &large)
	require.Equal(t, "large", string(large.Key))
	require.Equal(t, 40<<10, large.Bytes)
}
