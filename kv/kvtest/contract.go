package kvtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/stretchr/testify/require"
)

// The parts of the contract that need more of an engine than that it can be opened.

// testForeignRow holds kv I6: of the batch nothing is written, wherever the foreign row is in it.
func testForeignRow(t *testing.T, e kv.Engine) {
	many := make([]string, 100)
	for i := range many {
		many[i] = fmt.Sprintf("r%02d", i)
	}
	for _, named := range [][]string{{"a"}, {"b", "a"}, many} {
		group := kv.GroupOf(e, rows(named[0])[0])
		var mine [][]byte // rows of an update are of one group
		for _, r := range rows(named...) {
			if kv.GroupOf(e, r) == group {
				mine = append(mine, r)
			}
		}
		mine = mostRows(e, mine)
		for _, update := range []func(context.Context, [][]byte, kv.Step) error{
			e.Update,
			func(ctx context.Context, rows [][]byte,
				step kv.Step) error {
				return kv.UpdateLazy(ctx, e, rows, step)
			},
		} {
			err := update(context.Background(), mine, func(_ kv.Reader, b *kv.Batch) error {
				for i := range mine { // not in their order
					b.Set(append([]byte{'x'}, mine[len(mine)-1-i]...), []byte("1"))
				}
				b.Delete(key('x', "foreign", ""))
				b.Set(append([]byte{'y'}, mine[0]...), []byte("1"))
				return nil
			})
			require.ErrorIs(t, err, kv.ErrForeignRow)
			require.ErrorIs(t, err, kv.ErrNotApplied)
		}
		require.Empty(t, Dump(t, e))
		require.NoError(t, e.Update(context.Background(), mine,
			func(_ kv.Reader, b *kv.Batch) error {
				for i := range mine {
					b.Delete(append([]byte{'x'}, mine[len(mine)-1-i]...))
					b.Delete(append([]byte{'y'}, mine[i]...))
				}
				return nil
			}))
	}
}

// testGroups: an engine that has groups refuses an update of two, and the group of a row stays.
func testGroups(t *testing.T, e kv.Engine) {
	byGroup := map[uint64][][]byte{}
	for i := range 200 {
		row := rows(fmt.Sprintf("r%03d", i))[0]
		g := kv.GroupOf(e, row)
		require.Equal(t, g, kv.GroupOf(e, row))
		byGroup[g] = append(byGroup[g], row)
	}
	set := func(rows [][]byte) error {
		return e.Update(context.Background(), rows, func(_ kv.Reader, b *kv.Batch) error {
			for _, r := range rows {
				b.Set(append([]byte{'x'}, r...), []byte("1"))
			}
			return nil
		})
	}
	written := 0
	var other []byte
	for _, all := range byGroup {
		if other != nil {
			err := set([][]byte{all[0], other})
			require.ErrorIs(t, err, kv.ErrGroups)
			require.ErrorIs(t, err, kv.ErrNotApplied)
			require.Len(t, Dump(t, e), written)
		}
		other = all[0]
		all = mostRows(e, all)
		require.NoError(t, set(all))
		written += len(all)
	}
	require.Len(t, Dump(t, e), written)
}

// Crashable is an engine that can lose its power.
type Crashable interface {
	kv.Engine
	// Crash returns the engine as it is opened again after a power failure at this moment, which
	// keeps each piece of what was not synced with the given probability. The one that failed is
	// closed.
	Crash(t *testing.T, unsyncedPercent int, dice *rand.Rand) kv.Engine
}

// RunCrashes checks what of the contract is about crashes (kv I1, I3, I4).
func RunCrashes(t *testing.T, open func(t *testing.T) Crashable) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	dice := rand.New(rand.NewPCG(seed, 0))
	for _, c := range []struct {
		name string
		run  func(t *testing.T, e Crashable, dice *rand.Rand)
	}{
		{"what an update has written survives", testDurable},
		{"what an update has read survives", testReadSurvives},
		{"of lazy updates a prefix survives", testLazyPrefix},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 5 {
				c.run(t, open(t), dice)
			}
		})
	}
}

func lazily(t *testing.T, e kv.Engine, row, value string) {
	require.NoError(t, kv.UpdateLazy(context.Background(), e, rows(row),
		func(_ kv.Reader, b *kv.Batch) error {
			b.Set(key('x', row, ""), []byte(value))
			b.Set(key('y', row, ""), []byte(value))
			return nil
		}))
}

func testDurable(t *testing.T, e Crashable, dice *rand.Rand) {
	lazily(t, e, "before", "1")
	set(t, e, "a", "1")
	set(t, e, "a", "2")
	after := e.Crash(t, 0, dice)
	s := snapshot(t, after)
	require.Equal(t, "2", read(t, s, key('x', "a", "")))
	require.Equal(t, "1", read(t, s, key('x', "before", "")), "a lazy update that returned before")
	require.NoError(t, s.Close())
	require.NoError(t, after.Close())
}

// testReadSurvives: also when the update that read it has nothing to write.
func testReadSurvives(t *testing.T, e Crashable, dice *rand.Rand) {
	lazily(t, e, "a", "1")
	var seen any
	require.NoError(t, e.Update(context.Background(), rows("a"),
		func(r kv.Reader, _ *kv.Batch) error {
			seen = read(t, r, key('x', "a", ""))
			return nil
		}))
	require.Equal(t, "1", seen)
	after := e.Crash(t, 0, dice)
	s := snapshot(t, after)
	require.Equal(t, "1", read(t, s, key('x', "a", "")))
	require.NoError(t, s.Close())
	require.NoError(t, after.Close())
}

// testLazyPrefix: each of the updates survives whole or not at all, and with it all before it.
func testLazyPrefix(t *testing.T, e Crashable, dice *rand.Rand) {
	const updates = 60
	for i := range updates {
		lazily(t, e, fmt.Sprintf("r%02d", i), string(make([]byte, dice.IntN(3000))))
	}
	after := e.Crash(t, []int{0, 20, 50, 80, 100}[dice.IntN(5)], dice)
	s := snapshot(t, after)
	lost := -1
	for i := range updates {
		row := fmt.Sprintf("r%02d", i)
		x, y := read(t, s, key('x', row, "")), read(t, s, key('y', row, ""))
		require.Equal(t, x, y, "a batch is there whole")
		if x == nil && lost < 0 {
			lost = i
		}
		require.False(t, x != nil && lost >= 0, "update %d is there, and %d is not", i, lost)
	}
	require.NoError(t, s.Close())
	require.NoError(t, after.Close())
}

// RunUnknown checks what an engine promises of an update whose result is unknown: a later update of
// the row is ordered after it. lose makes the result of the next update get lost.
func RunUnknown(t *testing.T, open func(t *testing.T) (e kv.Engine, lose func())) {
	for _, lazy := range []bool{false, true} {
		e, lose := open(t)
		update := e.Update
		if lazy {
			update = func(ctx context.Context, rows [][]byte,
				step kv.Step) error {
				return kv.UpdateLazy(ctx, e, rows, step)
			}
		}
		set(t, e, "a", "0")
		for i := range 20 {
			lose()
			err := update(context.Background(), rows("a"), func(_ kv.Reader, b *kv.Batch) error {
				b.Set(key('x', "a", ""), fmt.Appendf(nil, "lost %d", i))
				return nil
			})
			require.Error(t, err)
			require.NotErrorIs(t, err, kv.ErrNotApplied)
			set(t, e, "other", "1")
			var found any
			require.NoError(t,
				e.Update(context.Background(), rows("a"), func(r kv.Reader, b *kv.Batch) error {
					found = read(t, r, key('x', "a", ""))
					b.Set(key('y', "a", ""), []byte("asked"))
					return nil
				}))
			require.Contains(t, []any{"0", fmt.Sprintf("lost %d", i)}, found)
			set(t, e, "other", "2")
			s := snapshot(t, e)
			require.Equal(t, found, read(t, s, key('x', "a", "")), "it does not land any more")
			require.NoError(t, s.Close())
			set(t, e, "a", "0")
		}
		require.NoError(t, e.Close())
	}
}
