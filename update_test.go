package minidb_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
)

func counter(t *testing.T) (context.Context, *minidb.DB) {
	ctx, db := context.Background(), open(t)
	exec(t, db, "CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 0)")
	return ctx, db
}

// addOne reads, then writes what follows from that: it is right only where no other transaction
// comes between.
func addOne(ctx context.Context, tx *minidb.Tx) error {
	var n int
	if err := tx.QueryRow(ctx, "SELECT n FROM t WHERE id = 1").Scan(&n); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "UPDATE t SET n = $1 WHERE id = 1", n+1)
	return err
}

func TestUpdateRepeatsConflicts(t *testing.T) {
	ctx, db := counter(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				if err := db.Update(ctx,
					func(tx *minidb.Tx) error { return addOne(ctx, tx) }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, 80, scalar[int](t, db, "SELECT n FROM t"))

	// A conflict is repeated also when the function hides it.
	calls := 0
	require.NoError(t, db.Update(ctx, func(tx *minidb.Tx) error {
		calls++
		var n int
		require.NoError(t, tx.QueryRow(ctx, "SELECT n FROM t").Scan(&n))
		require.Equal(t, 79+calls, n, "each attempt has a snapshot of its own")
		if calls == 1 {
			exec(t, db, "UPDATE t SET n = n + 1")
		}
		_, _ = tx.Exec(ctx, "UPDATE t SET n = n + 1")
		return nil
	}))
	require.Equal(t, 2, calls)
	require.Equal(t, 82, scalar[int](t, db, "SELECT n FROM t"))
}

func TestUpdateGivesUp(t *testing.T) {
	ctx, db := counter(t)
	calls := 0
	returns := func(err error) func(*minidb.Tx) error {
		calls = 0
		return func(tx *minidb.Tx) error {
			calls++
			require.NoError(t, addOne(ctx, tx))
			return err
		}
	}
	unknown := &minidb.Error{Code: "40003"}
	require.ErrorIs(t, db.Update(ctx, returns(unknown)), unknown)
	require.Equal(t, 1, calls, "what may have happened is not done again")
	own := errors.New("own")
	require.ErrorIs(t, db.Update(ctx, returns(own)), own)
	require.Equal(t, 1, calls)

	canceled, cancel := context.WithCancel(ctx)
	err := db.Update(canceled, func(tx *minidb.Tx) error {
		if calls++; calls == 4 {
			cancel()
		}
		return &minidb.Error{Code: "40P01"}
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, "40P01", state(err))
	require.Equal(t, 4, calls)
	require.ErrorIs(t, db.Update(canceled, returns(nil)), context.Canceled)
	require.Zero(t, calls)

	require.PanicsWithValue(t, "boo", func() {
		_ = db.Update(ctx, func(tx *minidb.Tx) error {
			require.NoError(t, addOne(ctx, tx))
			panic("boo")
		})
	})
	require.ErrorIs(t, db.Update(ctx, func(tx *minidb.Tx) error {
		require.NoError(t, addOne(ctx, tx))
		require.ErrorIs(t, tx.Commit(ctx), minidb.ErrManaged)
		return tx.Rollback(ctx)
	}), minidb.ErrManaged)
	require.ErrorIs(t, db.Update(ctx, func(tx *minidb.Tx) error {
		_, err := tx.Exec(ctx, "ROLLBACK")
		return err
	}), minidb.ErrTxDone)
	require.Equal(t, 0, scalar[int](t, db, "SELECT n FROM t"), "all of these were rolled back")
	exec(t, db, "UPDATE t SET n = 1") // and hold no lock
}

func TestViewReadsOneSnapshot(t *testing.T) {
	ctx, db := counter(t)
	require.NoError(t, db.View(ctx, func(tx *minidb.Tx) error {
		for range 2 {
			var n int
			require.NoError(t, tx.QueryRow(ctx, "SELECT n FROM t").Scan(&n))
			require.Zero(t, n)
			exec(t, db, "UPDATE t SET n = n + 1")
		}
		return nil
	}))
	require.Equal(t, "25006", state(db.View(ctx,
		func(tx *minidb.Tx) error { return addOne(ctx, tx) })))
	require.Equal(t, 2, scalar[int](t, db, "SELECT n FROM t"))
}
