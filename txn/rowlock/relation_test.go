package rowlock

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

const relation = 16400

func lockRelation(t *testing.T, tb *Table, o *Owner, m Mode, want Outcome) {
	t.Helper()
	out, err := tb.LockRelation(ctx, o, relation, Request{Mode: m, NoWait: true})
	require.NoError(t, err, "%d: %s", o.ID(), m)
	require.Equal(t, want, out, "%d: %s", o.ID(), m)
}

// awaitRelation starts a request that has to wait, and returns when it is in the queue.
func awaitRelation(t *testing.T, tb *Table, o *Owner, id uint32, m Mode) <-chan error {
	t.Helper()
	out := make(chan error, 1)
	go func() {
		_, err := tb.LockRelation(ctx, o, id, Request{Mode: m})
		out <- err
	}()
	for {
		for _, s := range tb.Waits() {
			for _, w := range s.Waiters {
				if w.Owner == o.ID() {
					return out
				}
			}
		}
		select {
		case err := <-out:
			t.Fatalf("%d did not wait for %s: %v", o.ID(), m, err)
		default:
		}
	}
}

func unused(t *testing.T, tb *Table) {
	t.Helper()
	require.Empty(t, tb.entries)
	require.Empty(t, tb.States())
	for i := range tb.strong {
		require.Zero(t, tb.strong[i].Load(), "partition %d", i)
	}
}

// TestTableConflictMatrix is PostgreSQL's table 13.2, with the first lock in a slot of its owner or
// not, and both ways round.
func TestTableConflictMatrix(t *testing.T) {
	matrix := map[Mode]string{ // one letter per mode: x conflicts
		AccessShare: ".......x", RowShare: "......xx", RowExclusive: "....xxxx",
		ShareUpdateExclusive: "...xxxxx",
		TableShare:           "..xx.xxx", ShareRowExclusive: "..xxxxxx", Exclusive: ".xxxxxxx",
		AccessExclusive: "xxxxxxxx",
	}
	for held := AccessShare; held <= AccessExclusive; held++ {
		for wanted := AccessShare; wanted <= AccessExclusive; wanted++ {
			var tb Table
			a, b := tb.NewOwner(1), tb.NewOwner(2)
			lockRelation(t, &tb, a, held, Granted)
			lockRelation(t, &tb, a, held, Held)
			_, err := tb.LockRelation(ctx, b, relation, Request{Mode: wanted, NoWait: true})
			want := matrix[held][wanted-AccessShare] == 'x'
			require.Equal(t, want, err == ErrNotAvailable, "%s then %s", held, wanted)
			lockRelation(t, &tb, a, AccessShare,
				map[bool]Outcome{true: Held, false: Granted}[held == AccessShare])
			a.ReleaseTo(0)
			lockRelation(t, &tb, b, AccessShare,
				map[bool]Outcome{true: Held, false: Granted}[!want && wanted == AccessShare])
			b.ReleaseTo(0)
			unused(t, &tb)
		}
	}
}

func TestWeakLocksOfTablesStayWithTheirOwner(t *testing.T) {
	var tb Table
	a, b := tb.NewOwner(1), tb.NewOwner(2)
	lockRelation(t, &tb, a, AccessShare, Granted)
	lockRelation(t, &tb, a, RowExclusive, Granted)
	require.Empty(t, tb.entries)
	require.True(t, tb.States()[0].Holders[0].Fast)
	mark := a.Mark()
	lockRelation(t, &tb, a, RowShare, Granted)
	wait := awaitRelation(t, &tb, b, relation, Exclusive)
	require.Equal(t, []int64{1}, tb.Blockers(2))
	lockRelation(t, &tb, a, RowShare, Held) // it was moved, and is held
	a.ReleaseTo(mark)
	require.Equal(t, []int64{1}, tb.Blockers(2))
	a.ReleaseTo(0)
	require.NoError(t, <-wait)
	_, err := tb.LockRelation(ctx, a, relation, Request{Mode: RowShare, NoWait: true})
	require.ErrorIs(t, err, ErrNotAvailable)
	lockRelation(t, &tb, a, AccessShare, Granted)
	b.ReleaseTo(0)
	a.ReleaseTo(0)
	unused(t, &tb)
}

func TestMoreTablesThanSlots(t *testing.T) {
	var tb Table
	a, b := tb.NewOwner(1), tb.NewOwner(2)
	for id := range uint32(40) {
		_, err := tb.LockRelation(ctx, a, id+1, Request{Mode: RowExclusive})
		require.NoError(t, err)
	}
	for id := range uint32(40) {
		_, err := tb.LockRelation(ctx, b, id+1, Request{Mode: TableShare, NoWait: true})
		require.ErrorIs(t, err, ErrNotAvailable)
	}
	a.Close()
	require.Empty(t, tb.owners)
	unused(t, &tb)
}

// TestAWaitForTheOrderOfArrivalGivesWay is the spec deadlock-soft: of a cycle with two waits for
// the order of arrival, one is turned round, and no request is refused.
func TestAWaitForTheOrderOfArrivalGivesWay(t *testing.T) {
	var tb Table
	d1, d2, e1, e2 := tb.NewOwner(1), tb.NewOwner(2), tb.NewOwner(3), tb.NewOwner(4)
	lock := func(o *Owner, id uint32) {
		_, err := tb.LockRelation(ctx, o, id, Request{Mode: AccessShare, NoWait: true})
		require.NoError(t, err)
	}
	lock(d1, 1)
	lock(d2, 2)
	we1 := awaitRelation(t, &tb, e1, 1, AccessExclusive)
	we2 := awaitRelation(t, &tb, e2, 2, AccessExclusive)
	wd1 := awaitRelation(t, &tb, d1, 2, AccessShare)
	wd2 := awaitRelation(t, &tb, d2, 1, AccessShare)
	require.NoError(t, <-wd1)
	d1.ReleaseTo(0)
	require.NoError(t, <-we1)
	e1.ReleaseTo(0)
	require.NoError(t, <-wd2)
	d2.ReleaseTo(0)
	require.NoError(t, <-we2)
	e2.ReleaseTo(0)
	unused(t, &tb)
}

func TestDeadlockOfATableAndARow(t *testing.T) {
	var tb Table
	a, b := tb.NewOwner(1), tb.NewOwner(2)
	lockRelation(t, &tb, a, RowExclusive, Granted)
	take(t, &tb, b, "row", Update)
	wait := awaitRelation(t, &tb, b, relation, TableShare)
	_, err := tb.Lock(ctx, a, []byte("row"), Request{Mode: Update})
	var d *DeadlockError
	require.ErrorAs(t, err, &d)
	a.ReleaseTo(0)
	require.NoError(t, <-wait)
}

// TestTableExclusionUnderLoad: rowlock I1 where weak locks are taken and strong ones come and go.
func TestTableExclusionUnderLoad(t *testing.T) {
	var tb Table
	var inside [modeCount]atomic.Int64
	var wg sync.WaitGroup
	for id := range 6 {
		wg.Go(func() {
			o := tb.NewOwner(int64(id))
			defer o.Close()
			rnd := rand.New(rand.NewPCG(11, uint64(id)))
			for range 2000 {
				m := AccessShare + Mode(rnd.IntN(3))
				if rnd.IntN(8) == 0 {
					m = AccessShare + Mode(rnd.IntN(8))
				}
				if _, err := tb.LockRelation(ctx, o, relation, Request{Mode: m}); err != nil {
					t.Error(err)
					return
				}
				inside[m].Add(1)
				for x := AccessShare; x <= AccessExclusive; x++ {
					others := inside[x].Load()
					if x == m {
						others--
					}
					if m.Conflicts(x) && others > 0 {
						t.Errorf("%s beside %s", m, x)
					}
				}
				inside[m].Add(-1)
				o.ReleaseTo(0)
			}
		})
	}
	wg.Wait()
	unused(t, &tb)
}

func BenchmarkWeakRelation(b *testing.B) {
	var tb Table
	b.RunParallel(func(pb *testing.PB) {
		o := tb.NewOwner(1)
		for pb.Next() {
			if _, err := tb.LockRelation(ctx, o, relation, Request{Mode: AccessShare}); err != nil {
				b.Fatal(err)
			}
			o.ReleaseTo(0)
		}
	})
}

// TestAKeyIsNoTable: a key may consist of the very bytes by which a table's lock is shown.
func TestAKeyIsNoTable(t *testing.T) {
	var tb Table
	key := string(RelationKey(relation))
	row, table, other := tb.NewOwner(1), tb.NewOwner(2), tb.NewOwner(3)
	take(t, &tb, row, key, Update)
	require.False(t, tb.Empty(), "a commit looks for row locks of keys")
	require.True(t, tb.Contested(other, []byte(key), KeyShare))
	lockRelation(t, &tb, table, AccessExclusive, Granted)
	require.Len(t, tb.States(), 2)

	table.ReleaseKeys(func(string) bool { return true })
	_, err := tb.LockRelation(ctx, other, relation, Request{Mode: AccessShare, NoWait: true})
	require.ErrorIs(t, err, ErrNotAvailable, "a commit gives back the locks of keys only")
	row.ReleaseTo(0)
	require.True(t, tb.Empty())
	table.ReleaseTo(0)
	unused(t, &tb)

	_, err = tb.Lock(ctx, row, []byte(key), Request{Mode: Exclusive})
	require.NoError(t, err)
	row.ReleaseTo(0)
	unused(t, &tb) // the strong locks of tables are counted, and this is none
}
