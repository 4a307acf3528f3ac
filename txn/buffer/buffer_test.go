package buffer

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/stretchr/testify/require"
)

// contents prints what a return to a savepoint brings back.
func contents(b *Buffer) (out []string) {
	b.Each(func(w Write) bool {
		out = append(out, fmt.Sprintf("%s=%s kind %d absent %t fresh %t notes %d", w.Key, w.Value,
			w.Kind, w.MustNotExist, w.Fresh, len(w.Notes())))
		return true
	})
	return out
}

// change makes one write at random.
func change(b *Buffer, dice *rand.Rand) {
	key, value := fmt.Appendf(nil, "k%d", dice.IntN(8)), fmt.Appendf(nil, "%d", dice.Uint32())
	if dice.IntN(4) == 0 {
		b.Note(key, mvcc.Note{Observer: dice.Uint32N(2), HasOld: true}, value)
	}
	switch dice.IntN(4) {
	case 0:
		b.Set(key, value)
	case 1:
		b.SetNew(key, value)
	case 2:
		b.Insert(key, value)
	default:
		b.Delete(key)
	}
}

// TestASavepointBringsBackAllOfTheBuffer: random writes, savepoints, returns to them and forgotten
// ones. A return finds what was there, and the count of bytes is that of the writes.
func TestASavepointBringsBackAllOfTheBuffer(t *testing.T) {
	for seed := range uint64(200) {
		dice := rand.New(rand.NewPCG(seed, 1))
		b := &Buffer{}
		type point struct {
			at   uint64
			then []string
		}
		var points []point
		for range 60 {
			switch n := dice.IntN(12); {
			case n == 0:
				points = append(points, point{b.Savepoint(), contents(b)})
			case n == 1 && len(points) > 0:
				i := dice.IntN(len(points))
				points = points[:i+1]
				require.Nil(t, b.RollbackTo(points[i].at, false).End)
				require.Equal(t, points[i].then, contents(b), "seed %d", seed)
			case n == 2 && len(points) > 0:
				i := dice.IntN(len(points))
				points = points[:i+1]
				b.ForgetSavepointsAfter(points[i].at)
			case n == 3 && dice.IntN(4) == 0:
				points = nil
				b.ForgetSavepoints()
			default:
				change(b, dice)
			}
			size := 0
			b.Each(func(w Write) bool { size += w.size(); return true })
			require.Equal(t, size, b.Bytes(), "seed %d", seed)
		}
	}
}

// TestOlderWritesAreThoseOfSavepoints: a key has at most one older write for each savepoint,
// however often it is written.
func TestOlderWritesAreThoseOfSavepoints(t *testing.T) {
	b := &Buffer{}
	key := []byte("k")
	for range 3 {
		for i := range 1000 {
			b.Set(key, fmt.Appendf(nil, "%d", i))
		}
		b.Savepoint()
	}
	b.Set(key, nil)
	w, _ := b.Get(key)
	n := 0
	for v := w.older; v != nil; v = v.older {
		n++
	}
	require.Equal(t, 3, n)
}

// TestAFrozenBufferShowsWhatWasThere: reads see the writes before Freeze, writers see all.
func TestAFrozenBufferShowsWhatWasThere(t *testing.T) {
	b := &Buffer{}
	b.Set([]byte("a"), []byte("1"))
	b.Freeze()
	b.Set([]byte("a"), []byte("2"))
	b.Set([]byte("b"), []byte("2"))

	w, found := b.Visible([]byte("a"))
	require.True(t, found)
	require.Equal(t, "1", string(w.Value))
	_, found = b.Visible([]byte("b"))
	require.False(t, found)
	w, _ = b.Get([]byte("a"))
	require.Equal(t, "2", string(w.Value))
	c := b.Cursor(kv.Span{}, true, false)
	require.Equal(t, "a", string(c.Item().Key))
	c.Next()
	require.False(t, c.Valid())

	b.Thaw()
	c = b.Cursor(kv.Span{}, true, false)
	require.Equal(t, "b", string(c.Item().Key))
}

// TestAnArenaKeepsWhatIsEmpty: the value of a row whose columns are all in its key is empty, and a
// value that is nil is none.
func TestAnArenaKeepsWhatIsEmpty(t *testing.T) {
	var a Arena
	require.NotNil(t, a.Keep([]byte{}))
	require.Equal(t, "x", string(a.Keep([]byte("x"))))
	require.NotNil(t, a.Keep(nil))
}
