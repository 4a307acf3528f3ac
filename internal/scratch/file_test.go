package scratch

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func newFile(t *testing.T, opts Options) *File {
	dir := t.TempDir()
	opts.Create = func() (Handle, error) { return CreateIn(dir) }
	f := New(opts)
	t.Cleanup(func() {
		require.NoError(t, f.Close())
		names, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, names)
	})
	return f
}

// TestExtentsComeBack writes, reads and releases extents of all sizes from several goroutines.
func TestExtentsComeBack(t *testing.T) {
	f := newFile(t, Options{})
	var work sync.WaitGroup
	for seed := range uint64(4) {
		work.Go(func() {
			dice := rand.New(rand.NewPCG(seed, 1))
			kept := map[byte]Extent{}
			room := make([]byte, 1<<16)
			for range 2000 {
				fill := byte(dice.IntN(20))
				e, ok := kept[fill]
				if !ok {
					b := bytes.Repeat([]byte{fill ^ byte(seed)<<6}, 4+dice.IntN(len(room)-4))
					var err error
					kept[fill], err = f.Write(b)
					if err != nil {
						t.Error(err)
					}
					continue
				}
				b, err := f.Read(e, room)
				if err != nil || len(b) != e.Bytes()-4 ||
					bytes.Count(b, []byte{fill ^ byte(seed)<<6}) != len(b) {
					t.Error(fill, err)
				}
				f.Release(e)
				delete(kept, fill)
			}
			for _, e := range kept {
				f.Release(e)
			}
		})
	}
	work.Wait()
	require.Zero(t, f.Live())
	require.Less(t, f.Size(), int64(4*20<<16))
}

func TestALimitIsKept(t *testing.T) {
	f := newFile(t, Options{Limit: 3 * Page})
	b := make([]byte, Page)
	var es []Extent
	for range 3 {
		e, err := f.Write(b)
		require.NoError(t, err)
		es = append(es, e)
	}
	_, err := f.Write(b)
	require.ErrorIs(t, err, ErrLimit)
	f.Release(es[1])
	e, err := f.Write(b[:100])
	require.NoError(t, err)
	require.Equal(t, 100, e.Bytes())
	require.EqualValues(t, 3*Page, f.Live())
	for _, e := range []Extent{es[0], e, es[2]} {
		f.Release(e)
	}
	_, err = f.Write(make([]byte, 3*Page))
	require.NoError(t, err, "all of it is free, as one")
}

// TestASmallExtentTakesNoLargeOne: what is wasted is no more than what is used.
func TestASmallExtentTakesNoLargeOne(t *testing.T) {
	f := newFile(t, Options{})
	write := func(pages int) Extent {
		e, err := f.Write(make([]byte, pages*Page))
		require.NoError(t, err)
		return e
	}
	large := write(8)
	write(1)
	f.Release(large)
	size := f.Size()
	write(3)
	require.Greater(t, f.Size(), size)
	size = f.Size()
	write(5)
	require.Equal(t, size, f.Size())
}

// TestAnyBitThatChangesIsFound: of what was written, and of the checksum.
func TestAnyBitThatChangesIsFound(t *testing.T) {
	f := newFile(t, Options{})
	e, err := f.Write(bytes.Repeat([]byte("x"), 50))
	require.NoError(t, err)
	room := make([]byte, 50)
	for at := range int64(50) {
		_, err := f.h.ReadAt(room[:1], at)
		require.NoError(t, err)
		right := room[0]
		_, err = f.h.WriteAt([]byte{right ^ 1<<(at%8)}, at)
		require.NoError(t, err)
		_, err = f.Read(e, room)
		require.ErrorIs(t, err, ErrDamaged)
		_, err = f.h.WriteAt([]byte{right}, at)
		require.NoError(t, err)
	}
	_, err = f.Read(e, room)
	require.NoError(t, err)
}

func TestAClosedFileIsRefused(t *testing.T) {
	f := newFile(t, Options{})
	require.False(t, f.Written())
	e, err := f.Write(make([]byte, 9))
	require.NoError(t, err)
	require.True(t, f.Written())
	require.NoError(t, f.Close())
	_, err = f.Read(e, make([]byte, 9))
	require.ErrorIs(t, err, os.ErrClosed)
	_, err = f.Write(make([]byte, 9))
	var op *OpError
	require.True(t, errors.As(err, &op))
	f.Release(e)
}
