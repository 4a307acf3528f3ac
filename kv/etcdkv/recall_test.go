package etcdkv_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/etcdkv"
)

// two are two processes on a store, of which the first remembers two rows.
type two struct {
	t           *testing.T
	here, there *etcdkv.Engine
	runs        int // of the last step here
}

var (
	rowX, rowY = []byte("x\x00\x01"), []byte("y\x00\x01")
	keyX, keyY = append([]byte{'f'}, rowX...), append([]byte{'f'}, rowY...)
)

func newTwo(t *testing.T) *two {
	prefix := newPrefix()
	w := &two{t: t, here: openIn(t, prefix), there: openIn(t, prefix)}
	t.Cleanup(func() {
		require.NoError(t, w.here.Close())
		require.NoError(t, w.there.Close())
	})
	for range 20 { // until the engine has the habit of reading the family
		for _, row := range [][]byte{rowX, rowY} {
			require.NoError(t, w.update(row, func(r kv.Reader, b *kv.Batch) error {
				_, err := r.Get(context.Background(), append([]byte{'f'}, row...))
				b.Set(append([]byte{'f'}, row...), []byte("1"))
				return err
			}))
		}
	}
	return w
}

func (w *two) update(row []byte, step kv.Step) error {
	w.runs = 0
	return w.here.Update(context.Background(), [][]byte{row},
		func(r kv.Reader, b *kv.Batch) error {
			w.runs++
			return step(r, b)
		})
}

// change writes a row in the other process.
func (w *two) change(row []byte, cells ...string) {
	require.NoError(w.t, w.there.Update(context.Background(), [][]byte{row},
		func(_ kv.Reader, b *kv.Batch) error {
			for i := 0; i < len(cells); i += 2 {
				b.Set(append(append([]byte{'f'}, row...), cells[i]...), []byte(cells[i+1]))
			}
			return nil
		}))
}

func (w *two) get(key []byte) string {
	s, err := w.there.Snapshot()
	require.NoError(w.t, err)
	v, err := s.Get(context.Background(), key)
	require.NoError(w.t, err)
	require.NoError(w.t, s.Close())
	return string(v)
}

// copied is a step that writes the value of y into x.
func copied(r kv.Reader, b *kv.Batch) error {
	if _, err := r.Get(context.Background(), keyX); err != nil {
		return err
	}
	v, err := r.Get(context.Background(), keyY)
	b.Set(keyX, v)
	return err
}

// TestWhatIsRememberedIsNotAskedFor: neither the row that an update names nor one that its step
// only reads, and not after an update that the process has made itself.
func TestWhatIsRememberedIsNotAskedFor(t *testing.T) {
	w := newTwo(t)
	before, _ := w.here.Requests()
	for range 3 {
		require.NoError(t, w.update(rowX, copied))
		require.Equal(t, 1, w.runs)
	}
	after, _ := w.here.Requests()
	require.Equal(t, before, after)
}

// TestWhatIsRememberedMayBeOld: an update sees what others have done before it was called, in the
// row that it names, in one that its step only reads, and between the cells that it knows; it does
// not fail, or succeed without a write, for what is no more.
func TestWhatIsRememberedMayBeOld(t *testing.T) {
	ctx := context.Background()
	refused := errors.New("x is 1")
	for _, c := range []struct {
		name   string
		change func(w *two)
		step   kv.Step
		want   string
	}{
		{"the named row", func(w *two) { w.change(rowX, "", "2") },
			func(r kv.Reader, b *kv.Batch) error {
				v, err := r.Get(ctx, keyX)
				b.Set(keyX, append([]byte("was "), v...))
				return err
			}, "was 2"},
		{"a row that is read", func(w *two) { w.change(rowY, "", "2") }, copied, "2"},
		{"a gap", func(w *two) { w.change(rowX, "v2", "2") },
			func(r kv.Reader, b *kv.Batch) (err error) {
				it, err := r.NewIter(ctx, kv.Span{Start: keyX, End: kv.PrefixEnd(keyX)})
				if err != nil {
					return err
				}
				n := byte('0')
				for ok := it.First(); ok; ok = it.Next() {
					n++
				}
				b.Set(keyX, []byte{n})
				return errors.Join(it.Err(), it.Close())
			}, "2"},
		{"a refusal", func(w *two) { w.change(rowX, "", "2") },
			func(r kv.Reader, b *kv.Batch) error {
				v, err := r.Get(ctx, keyX)
				if string(v) == "1" {
					return refused
				}
				b.Set(keyX, []byte("done"))
				return err
			}, "done"},
		{"nothing to do", func(w *two) { w.change(rowX, "", "2") },
			func(r kv.Reader, b *kv.Batch) error {
				v, err := r.Get(ctx, keyX)
				if string(v) != "1" {
					b.Set(keyX, []byte("done"))
				}
				return err
			}, "done"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newTwo(t)
			c.change(w)
			require.NoError(t, w.update(rowX, c.step))
			require.Equal(t, 2, w.runs, "once on what was remembered")
			require.Equal(t, c.want, w.get(keyX))
		})
	}
}

// TestAnUpdateShowsItsState: the snapshot is of the moment at which the batch was applied.
func TestAnUpdateShowsItsState(t *testing.T) {
	ctx := context.Background()
	w := newTwo(t)
	shown, err := w.here.UpdateShown(ctx, [][]byte{rowX}, copied)
	require.NoError(t, err)
	w.change(rowX, "", "later")
	w.change(rowY, "", "later")
	for _, key := range [][]byte{keyX, keyY} {
		v, err := shown.Get(ctx, key)
		require.NoError(t, err)
		require.Equal(t, "1", string(v))
	}
	require.NoError(t, shown.Close())
	shown, err = w.here.UpdateShown(ctx, [][]byte{rowX}, func(kv.Reader, *kv.Batch) error {
		return nil
	})
	require.NoError(t, err)
	require.Nil(t, shown, "nothing was written")
}

// TestARowThatIsNotRememberedIsTakenForNew: an update of one that is new asks for nothing before,
// one of a row that another process has written sees that, and after it the next updates read
// first.
func TestARowThatIsNotRememberedIsTakenForNew(t *testing.T) {
	w := newTwo(t)
	row := func(name string) []byte { return []byte(name + "\x00\x01") }
	key := func(name string) []byte { return append([]byte{'f'}, row(name)...) }
	var seen string
	add := func(name string) (reads int64) {
		before, _ := w.here.Requests()
		require.NoError(t, w.update(row(name), func(r kv.Reader, b *kv.Batch) error {
			v, err := r.Get(context.Background(), key(name))
			seen = string(v)
			b.Set(key(name), append(v, '+'))
			return err
		}))
		after, _ := w.here.Requests()
		return after - before
	}
	for _, name := range []string{"a", "b", "c"} {
		require.Zero(t, add(name))
		require.Equal(t, 1, w.runs)
		require.Zero(t, add(name), "it is remembered")
		require.Equal(t, "++", w.get(key(name)))
	}
	w.change(row("d"), "", "x")
	require.NotZero(t, add("d"))
	require.Equal(t, "x", seen)
	require.Equal(t, "x+", w.get(key("d")))
	for _, name := range []string{"e", "f"} {
		require.NotZero(t, add(name), "rows were not new lately")
	}
	require.Zero(t, add("g"))
	require.Equal(t, "+", w.get(key("g")))
}
