package txn_test

import (
	"context"
	"testing"

	"github.com/minidb/minidb/txn"
	"github.com/stretchr/testify/require"
)

// TestAssumptions: a transaction that takes a key to be as it was is refused when another one has
// changed it meanwhile, before it began or after: by its first read, or by its commit.
func TestAssumptions(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name                 string
		before, after, reads bool
		refusedRead, refused bool
	}{
		{name: "unchanged"},
		{name: "unchanged, with a read", reads: true},
		{name: "changed before it began", before: true, refused: true},
		{name: "changed before it began, with a read", before: true, reads: true,
			refusedRead: true},
		{name: "changed after", after: true, refused: true},
		{name: "changed after, with a read", after: true, reads: true, refused: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			shop := openShop(t, 3)
			here, there := shop.store(nil), shop.store(nil)
			commit(t, there, "schema", "1", "row", "x")
			first := begin(t, here)
			require.Equal(t, "1", get(t, first, "schema"))
			change := func(do bool) {
				if do {
					commit(t, there, "schema", "2")
				}
			}
			change(c.before)
			tx := begin(t, here)
			tx.Assume([]byte("schema"), []byte("1"), first.StartTS())
			if c.reads {
				_, err := tx.Get(ctx, []byte("row"))
				if c.refusedRead {
					wanted[*txn.WriteConflictError](t, err)
					require.True(t, tx.Assumes())
					return
				}
				require.NoError(t, err)
				require.False(t, tx.Assumes(), "it was confirmed")
			}
			change(c.after)
			have, err := tx.Peek(ctx, []byte("row"))
			require.NoError(t, err)
			require.Equal(t, c.reads, have != nil, "it looks only once it has confirmed")
			require.NoError(t, tx.Insert([]byte("new"), []byte("y")))
			if err := tx.Commit(ctx); c.refused {
				wanted[*txn.WriteConflictError](t, err)
			} else {
				require.NoError(t, err)
			}
		})
	}
}

// TestWhatIsTakenForAbsentIsInserted only if it is absent.
func TestWhatIsTakenForAbsentIsInserted(t *testing.T) {
	ctx := context.Background()
	shop := openShop(t, 0)
	s := shop.store(nil)
	commit(t, s, "schema", "1", "row", "x")
	tx := begin(t, s)
	tx.Assume([]byte("schema"), []byte("1"), tx.StartTS())
	have, err := tx.Peek(ctx, []byte("row"))
	require.NoError(t, err)
	require.Nil(t, have)
	require.NoError(t, tx.Insert([]byte("row"), []byte("y")))
	have, err = tx.Peek(ctx, []byte("row"))
	require.NoError(t, err)
	require.Equal(t, "y", string(have), "its own write")
	wanted[*txn.AlreadyExistsError](t, tx.Commit(ctx))
}

func wanted[E error](t *testing.T, err error) {
	t.Helper()
	var want E
	require.ErrorAs(t, err, &want)
}
