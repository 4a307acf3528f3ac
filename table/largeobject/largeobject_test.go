package largeobject_test

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/largeobject"
	"github.com/minidb/minidb/txn"
)

const database table.ID = 5

// account counts what handles hold.
type account struct{ held int64 }

func (a *account) Grow(n int64) error { a.held += n; return nil }
func (a *account) Shrink(n int64)     { a.held -= n }

func open(t *testing.T) *txn.Store {
	t.Helper()
	engine := memkv.New(memkv.Options{})
	store, err := txn.Open(context.Background(), engine, txn.Options{})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, store.Close())
		require.NoError(t, engine.Close())
	})
	return store
}

func begin(t *testing.T, s *txn.Store, a *account) (*txn.Txn, *largeobject.Objects) {
	t.Helper()
	tx, err := s.Begin(context.Background(), txn.BeginOptions{})
	require.NoError(t, err)
	return tx, largeobject.NewObjects(tx, database, a)
}

// content reads all of an object.
func content(t *testing.T, h *largeobject.Handle) []byte {
	t.Helper()
	ctx := context.Background()
	size, err := h.Size(ctx)
	require.NoError(t, err)
	b, at := make([]byte, size+1), h.Offset()
	_, err = h.Seek(ctx, 0, io.SeekStart)
	require.NoError(t, err)
	n, err := h.Read(ctx, b)
	require.NoError(t, err)
	require.Equal(t, int(size), n)
	h.SetOffset(at)
	return b[:n]
}

// model is an object as a slice.
type model struct {
	b  []byte
	at int
}

func (m *model) size(n int) {
	if n <= len(m.b) {
		m.b = m.b[:n:n]
		return
	}
	m.b = append(m.b[:len(m.b):len(m.b)], make([]byte, n-len(m.b))...)
}

func (m *model) write(p []byte) {
	b := bytes.Clone(m.b)
	m.b = b
	if m.at+len(p) > len(m.b) {
		m.size(m.at + len(p))
	}
	copy(m.b[m.at:], p)
	m.at += len(p)
}

// TestAnObjectIsAFile: random writes, truncations, seeks and reads have the effects that they have
// on a slice, whatever lies between the pages; and handles for reading alone, opened in between,
// show the object as it was then (I2).
func TestAnObjectIsAFile(t *testing.T) {
	ctx, s, a := context.Background(), open(t), &account{}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	dice := rand.New(rand.NewPCG(seed, 0))
	tx, objects := begin(t, s, a)
	require.NoError(t, objects.Create(ctx, 7, &largeobject.Record{}))
	h, m := objects.Open(7, true), &model{}
	type reader struct {
		h    *largeobject.Handle
		then []byte
	}
	var readers []reader
	const most = 9 * largeobject.PageBytes
	for step := range 600 {
		switch dice.IntN(7) {
		case 0, 1:
			p := bytes.Repeat([]byte{byte(step)}, dice.IntN(3*largeobject.PageBytes))
			require.NoError(t, h.Write(ctx, p))
			if len(p) > 0 {
				m.write(p)
			}
		case 2:
			n := dice.IntN(most)
			require.NoError(t, h.Truncate(ctx, int64(n)))
			m.size(n)
		case 3:
			m.at = dice.IntN(most)
			at, err := h.Seek(ctx, int64(m.at), io.SeekStart)
			require.NoError(t, err)
			require.EqualValues(t, m.at, at)
		case 4:
			p := make([]byte, dice.IntN(3*largeobject.PageBytes))
			n, err := h.Read(ctx, p)
			require.NoError(t, err)
			want := m.b[min(m.at, len(m.b)):]
			want = want[:min(len(want), len(p))]
			require.True(t, bytes.Equal(want, p[:n]), "step %d", step)
			m.at += n
		case 5:
			readers = append(readers, reader{objects.Open(7, false), bytes.Clone(m.b)})
		case 6:
			if len(readers) > 0 {
				r := readers[dice.IntN(len(readers))]
				require.True(t, bytes.Equal(r.then, content(t, r.h)), "step %d", step)
			}
			if step%50 == 0 {
				require.NoError(t, tx.Commit(ctx))
				objects.Close()
				require.Zero(t, a.held)
				tx, objects = begin(t, s, a)
				at := h.Offset()
				h, readers = objects.Open(7, true), nil
				h.SetOffset(at)
			}
		}
		require.True(t, bytes.Equal(m.b, content(t, h)), "step %d", step)
	}
	require.NoError(t, objects.Unlink(ctx, 7, func(*largeobject.Record) error { return nil }))
	for _, r := range readers {
		require.True(t, bytes.Equal(r.then, content(t, r.h)))
	}
	require.NoError(t, tx.Commit(ctx))
	tx, _ = begin(t, s, a)
	it, err := tx.Scan(ctx, largeobject.Span(database), txn.ScanOptions{})
	require.NoError(t, err)
	require.False(t, it.Next(), "nothing is left of it")
	require.NoError(t, it.Close())
	require.NoError(t, tx.Rollback(ctx))
}

// TestTwoTransactionsThatWriteOneObjectConflict, though they write different pages of it, and so do
// a removal and a write: no page is left without a record (I1).
func TestTwoTransactionsThatWriteOneObjectConflict(t *testing.T) {
	ctx, s, a := context.Background(), open(t), &account{}
	tx, objects := begin(t, s, a)
	require.NoError(t, objects.Create(ctx, 7, &largeobject.Record{}))
	require.NoError(t, tx.Commit(ctx))

	one, objects1 := begin(t, s, a)
	two, objects2 := begin(t, s, a)
	far := objects1.Open(7, true)
	far.SetOffset(1 << 30)
	require.NoError(t, far.Write(ctx, []byte("x")))
	require.NoError(t, objects2.Unlink(ctx, 7, func(*largeobject.Record) error { return nil }))
	require.NoError(t, two.Commit(ctx))
	var conflict *txn.WriteConflictError
	require.ErrorAs(t, one.Commit(ctx), &conflict)

	tx, objects = begin(t, s, a)
	err := objects.Open(7, true).Write(ctx, []byte("x"))
	var e *sqlerr.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, sqlerr.UndefinedObject, e.Code)
	require.NoError(t, tx.Rollback(ctx))
}
