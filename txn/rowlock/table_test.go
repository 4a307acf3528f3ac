package rowlock

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var ctx = context.Background()

// begin starts a request that has to wait, and returns when it is in the queue.
func begin(t *testing.T, tb *Table, o *Owner, key string, mode Mode) <-chan error {
	t.Helper()
	out := make(chan error, 1)
	w, _, err := tb.request(o, []byte(key), false, Request{Mode: mode})
	require.NoError(t, err)
	require.NotNil(t, w, "%d should wait for %s", o.ID(), key)
	go func() { out <- tb.wait(ctx, w) }()
	return out
}

func take(t *testing.T, tb *Table, o *Owner, key string, mode Mode) {
	t.Helper()
	out, err := tb.Lock(ctx, o, []byte(key), Request{Mode: mode, NoWait: true})
	require.NoError(t, err)
	require.Equal(t, Granted, out)
	out, err = tb.Lock(ctx, o, []byte(key), Request{Mode: KeyShare})
	require.NoError(t, err)
	require.Equal(t, Held, out)
}

func TestConflictMatrix(t *testing.T) {
	excludes := map[Mode][]Mode{
		KeyShare: {Update}, Share: {NoKeyUpdate, Update}, NoKeyUpdate: {Share, NoKeyUpdate, Update},
		Update: {KeyShare, Share, NoKeyUpdate, Update},
	}
	for a := KeyShare; a <= Update; a++ {
		for b := KeyShare; b <= Update; b++ {
			var tb Table
			take(t, &tb, tb.NewOwner(1), "k", a)
			_, err := tb.Lock(ctx, tb.NewOwner(2), []byte("k"), Request{Mode: b, NoWait: true})
			want := false
			for _, m := range excludes[a] {
				want = want || m == b
			}
			require.Equal(t, want, err == ErrNotAvailable, "%s then %s", a, b)
			require.Equal(t, want, b.Conflicts(a))
		}
	}
}

func TestQueueIsFIFO(t *testing.T) {
	var tb Table
	first := tb.NewOwner(0)
	take(t, &tb, first, "k", Update)
	var owners []*Owner
	var waits []<-chan error
	for i := range 5 {
		o := tb.NewOwner(int64(i + 1))
		owners = append(owners, o)
		waits = append(waits, begin(t, &tb, o, "k", Update))
	}
	first.ReleaseTo(0)
	for i, w := range waits {
		require.NoError(t, <-w)
		for _, later := range waits[i+1:] {
			select {
			case <-later:
				t.Fatal("granted out of turn")
			default:
			}
		}
		owners[i].ReleaseTo(0)
	}
	require.True(t, tb.Empty())
}

// TestSharersOfARowPassAWriter: a request that finds a row shared shares it, as in PostgreSQL; a
// writer that waits already does not hinder that, and those that wait behind it go on waiting.
func TestSharersOfARowPassAWriter(t *testing.T) {
	var tb Table
	a, w, b, c := tb.NewOwner(1), tb.NewOwner(2), tb.NewOwner(3), tb.NewOwner(4)
	take(t, &tb, a, "k", Share)
	writer := begin(t, &tb, w, "k", Update)
	take(t, &tb, b, "k", Share)
	second := begin(t, &tb, c, "k", NoKeyUpdate)
	a.ReleaseTo(0)
	b.ReleaseTo(0)
	require.NoError(t, <-writer)
	w.ReleaseTo(0)
	require.NoError(t, <-second)
}

func TestSharersDoNotOvertakeAWriter(t *testing.T) {
	var tb Table
	a, w, b := tb.NewOwner(1), tb.NewOwner(2), tb.NewOwner(3)
	_, err := tb.Lock(ctx, a, []byte("k"), Request{Mode: TableShare})
	require.NoError(t, err)
	writer := begin(t, &tb, w, "k", Exclusive)
	sharer := begin(t, &tb, b, "k", TableShare)
	require.Equal(t, []int64{2}, tb.Blockers(3))
	a.ReleaseTo(0)
	require.NoError(t, <-writer)
	w.ReleaseTo(0)
	require.NoError(t, <-sharer)
}

func TestUpgradeGoesFirst(t *testing.T) {
	var tb Table
	a, b, c := tb.NewOwner(1), tb.NewOwner(2), tb.NewOwner(3)
	take(t, &tb, a, "k", Share)
	take(t, &tb, b, "k", KeyShare)
	other := begin(t, &tb, c, "k", Update)
	upgrade := begin(t, &tb, a, "k", Update)
	b.ReleaseTo(0)
	require.NoError(t, <-upgrade)
	a.ReleaseTo(0)
	require.NoError(t, <-other)
}

func TestTwoUpgradesAreADeadlock(t *testing.T) {
	var tb Table
	a, b := tb.NewOwner(1), tb.NewOwner(2)
	take(t, &tb, a, "k", Share)
	take(t, &tb, b, "k", Share)
	first := begin(t, &tb, a, "k", Update)
	_, err := tb.Lock(ctx, b, []byte("k"), Request{Mode: Update})
	var d *DeadlockError
	require.ErrorAs(t, err, &d)
	require.Len(t, d.Cycle, 2)
	require.Equal(t, int64(2), d.Cycle[0].Owner)
	require.Equal(t, int64(1), d.Cycle[0].Blocker)
	b.ReleaseTo(0)
	require.NoError(t, <-first)
}

func TestDeadlockOfThreeNamesAll(t *testing.T) {
	var tb Table
	var owners []*Owner
	for i := range 3 {
		o := tb.NewOwner(int64(i))
		o.SetTransaction(uint64(100 + i))
		owners = append(owners, o)
		take(t, &tb, o, fmt.Sprint("k", i), Update)
	}
	w0 := begin(t, &tb, owners[0], "k1", Share)
	w1 := begin(t, &tb, owners[1], "k2", Share)
	_, err := tb.Lock(ctx, owners[2], []byte("k0"), Request{Mode: Share})
	require.Equal(t, &DeadlockError{Cycle: []Wait{
		{Key: []byte("k0"), Mode: Share, Owner: 2, Blocker: 0, OwnerTransaction: 102,
			BlockerTransaction: 100},
		{Key: []byte("k1"), Mode: Share, Owner: 0, Blocker: 1, OwnerTransaction: 100,
			BlockerTransaction: 101},
		{Key: []byte("k2"), Mode: Share, Owner: 1, Blocker: 2, OwnerTransaction: 101,
			BlockerTransaction: 102},
	}}, err)
	owners[2].ReleaseTo(0)
	require.NoError(t, <-w1)
	owners[1].ReleaseTo(0)
	require.NoError(t, <-w0)
}

func TestTheLeastPatientGivesIn(t *testing.T) {
	var tb Table
	a, b := tb.NewOwner(1), tb.NewOwner(2)
	a.SetPatience(time.Millisecond)
	b.SetPatience(time.Minute)
	take(t, &tb, a, "x", Update)
	take(t, &tb, b, "y", Update)
	victim := begin(t, &tb, a, "y", Update)
	winner := begin(t, &tb, b, "x", Update)
	var d *DeadlockError
	require.ErrorAs(t, <-victim, &d)
	a.ReleaseTo(0)
	require.NoError(t, <-winner)
}

func TestReleaseToAMark(t *testing.T) {
	var tb Table
	a, b := tb.NewOwner(1), tb.NewOwner(2)
	take(t, &tb, a, "x", Share)
	mark := a.Mark()
	take(t, &tb, a, "x", Update)
	take(t, &tb, a, "y", Update)
	a.ReleaseTo(mark)
	require.Equal(t, Share, a.Holds([]byte("x")))
	require.Equal(t, None, a.Holds([]byte("y")))
	take(t, &tb, b, "x", Share)
	take(t, &tb, b, "y", Update)
}

func TestTimeoutAndCancelLeaveTheQueue(t *testing.T) {
	var tb Table
	a, b, c := tb.NewOwner(1), tb.NewOwner(2), tb.NewOwner(3)
	take(t, &tb, a, "k", Share)
	_, err := tb.Lock(ctx, b, []byte("k"), Request{Mode: Update, Timeout: time.Millisecond})
	require.ErrorIs(t, err, ErrTimeout)
	take(t, &tb, c, "k", Share) // no lock is in its way any more
	gone, cancel := context.WithCancel(ctx)
	w, _, err := tb.request(b, []byte("k"), false, Request{Mode: Update})
	require.NoError(t, err)
	cancel()
	require.ErrorIs(t, tb.wait(gone, w), context.Canceled)
	a.ReleaseTo(0)
	c.ReleaseTo(0)
	require.True(t, tb.Empty())
}

func TestSessionLocksCount(t *testing.T) {
	var tb Table
	a, b := tb.NewOwner(1), tb.NewOwner(2)
	key := []byte("k")
	for range 2 {
		_, err := tb.Lock(ctx, a, key, Request{Mode: Update, Session: true})
		require.NoError(t, err)
	}
	take(t, &tb, a, "k", Share) // the transaction's own
	a.ReleaseTo(0)
	require.True(t, a.Unlock(key, Update))
	require.True(t, tb.Contested(b, key, Share))
	require.True(t, a.Unlock(key, Update))
	require.False(t, a.Unlock(key, Update))
	take(t, &tb, b, "k", Share)
	b.ReleaseTo(0)
	_, err := tb.Lock(ctx, a, key, Request{Mode: Share, Session: true})
	require.NoError(t, err)
	a.UnlockAll()
	require.True(t, tb.Empty())
}

// TestExclusionUnderLoad: rowlock I1 and I4, and that no request waits for ever.
func TestExclusionUnderLoad(t *testing.T) {
	var tb Table
	var inside [8]atomic.Int64
	var deadlocks atomic.Int64
	var wg sync.WaitGroup
	for id := range 8 {
		wg.Go(func() {
			o := tb.NewOwner(int64(id))
			rnd := rand.New(rand.NewPCG(7, uint64(id)))
			for range 300 {
				held := map[int]bool{}
				for range 3 {
					k := rnd.IntN(len(inside))
					if _, err := tb.Lock(ctx, o, []byte{byte(k)},
						Request{Mode: Update}); err != nil {
						deadlocks.Add(1)
						break
					}
					if !held[k] && inside[k].Add(1) != 1 {
						t.Error("two owners hold one key")
					}
					held[k] = true
				}
				for k := range held {
					inside[k].Add(-1)
				}
				o.ReleaseTo(0)
			}
		})
	}
	wg.Wait()
	require.True(t, tb.Empty())
	t.Logf("%d deadlocks", deadlocks.Load())
}

func TestReleaseOfSomeKeys(t *testing.T) {
	var tb Table
	a, b := tb.NewOwner(1), tb.NewOwner(2)
	take(t, &tb, a, "x", Share)
	take(t, &tb, a, "y", Update)
	take(t, &tb, a, "x", Update) // two steps to one lock
	_, err := tb.Lock(ctx, a, []byte("z"), Request{Mode: Share, Session: true})
	require.NoError(t, err)
	take(t, &tb, a, "z", Update)
	next := begin(t, &tb, b, "x", Update)
	a.ReleaseKeys(func(key string) bool { return key != "y" })
	require.NoError(t, <-next)
	require.Equal(t, None, a.Holds([]byte("x")))
	require.Equal(t, Update, a.Holds([]byte("y")))
	require.Equal(t, Share, a.Holds([]byte("z")), "a session's lock is not the transaction's")
	a.ReleaseTo(0)
	require.Equal(t, Update, b.Holds([]byte("x")), "given back once")
	b.ReleaseTo(0)
	a.UnlockAll()
	require.True(t, tb.Empty())
}

// TestStatements: a hold is shown with the statement that made it as strong as it is, be it after a
// wait, and with none once a part was given back.
func TestStatements(t *testing.T) {
	table := &Table{}
	a, b := table.NewOwner(1), table.NewOwner(2)
	lock := func(o *Owner, key string, mode Mode) {
		t.Helper()
		_, err := table.Lock(ctx, o, []byte(key), Request{Mode: mode})
		require.NoError(t, err)
	}
	shown := func(key string) (out []string) {
		for _, s := range table.States() {
			if string(s.Key) == key {
				for _, h := range s.Holders {
					out = append(out, h.Statement)
				}
			}
		}
		return out
	}
	lock(a, "k", KeyShare)
	require.Equal(t, []string{""}, shown("k"), "nobody said what it is for")
	a.SetStatement("first")
	lock(a, "k", Share)
	mark := a.Mark()
	lock(a, "other", Share)
	a.SetStatement("second")
	lock(a, "k", KeyShare)
	lock(a, "k", Share)
	require.Equal(t, []string{"first"}, shown("k"))
	lock(a, "other", Update)
	require.Equal(t, []string{"second"}, shown("other"))
	b.SetStatement("waits")
	lock(b, "k", Share)
	waited := make(chan error, 1)
	go func() {
		_, err := table.Lock(ctx, b, []byte("other"), Request{Mode: Update})
		waited <- err
	}()
	for len(table.Waits()) == 0 {
		runtime.Gosched()
	}
	a.SetStatement("third")
	a.ReleaseTo(mark)
	require.NoError(t, <-waited)
	require.Equal(t, []string{"waits"}, shown("other"))
	require.Equal(t, []string{"first", "waits"}, shown("k"))

	b.ReleaseTo(0)
	mark = a.Mark()
	lock(a, "k", Update)
	require.Equal(t, []string{"third"}, shown("k"))
	a.ReleaseTo(mark)
	require.Equal(t, []string{""}, shown("k"), "which statement took what is left is not known "+
		"any more")
	a.SetStatement(strings.Repeat("é", statementMax))
	lock(a, "long", Update)
	require.Equal(t, []string{strings.Repeat("é", statementMax/2)}, shown("long"))
	a.SetStatement("x" + strings.Repeat("é", statementMax))
	lock(a, "odd", Update)
	require.Equal(t, []string{"x" + strings.Repeat("é", statementMax/2-1)}, shown("odd"))
}
