package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/recipes"
)

func open(t *testing.T, setup ...string) *minidb.DB {
	db, err := minidb.Open("", minidb.InMemory(),
		minidb.Logger(slog.New(slog.NewTextHandler(io.Discard, nil))))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	for _, q := range setup {
		_, err := db.Exec(context.Background(), q)
		require.NoError(t, err)
	}
	return db
}

func scalar(t *testing.T, db *minidb.DB, query string) (v int64) {
	require.NoError(t, db.QueryRow(context.Background(), query).Scan(&v))
	return v
}

// votes is a table of counts, and a fold that reads and writes it in two statements.
const votes = "CREATE TABLE votes (key text, item text, n bigint, PRIMARY KEY (key, item))"

func foldVotes(ctx context.Context, tx *minidb.Tx, sums []recipes.Delta) error {
	for _, d := range sums {
		var n *int64
		err := tx.QueryRow(ctx, "SELECT max(n) FROM votes WHERE key = $1 AND item = $2", d.Key,
			d.Item).Scan(&n)
		if err != nil {
			return err
		}
		if n == nil {
			_, err = tx.Exec(ctx, "INSERT INTO votes VALUES ($1, $2, $3)", d.Key, d.Item, d.By)
		} else {
			_, err = tx.Exec(ctx, "UPDATE votes SET n = $3 WHERE key = $1 AND item = $2", d.Key,
				d.Item, *n+d.By)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func TestManyWritersAddToHotAggregates(t *testing.T) {
	ctx := context.Background()
	db := open(t, votes)
	c := &recipes.Combine{Name: "poll", Fold: foldVotes}
	require.NoError(t, c.Open(ctx, db))
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 25 {
				attempts := 0
				err := db.Update(ctx, func(tx *minidb.Tx) error {
					attempts++
					return errors.Join(
						c.Add(ctx, tx, recipes.Delta{Key: "hot", Item: "yes", By: 2}),
						c.Add(ctx, tx, recipes.Delta{Key: "hot", Item: "no", By: 1},
							recipes.Delta{Key: fmt.Sprint(w, i), By: 1},
							recipes.Delta{Key: "hot", Item: "no", By: -2}))
				})
				require.NoError(t, err)
				require.Equal(t, 1, attempts, "no writer conflicts with another one")
			}
		})
	}
	wg.Wait()
	refused := errors.New("rolled back")
	require.ErrorIs(t, db.Update(ctx, func(tx *minidb.Tx) error {
		err := c.Add(ctx, tx, recipes.Delta{Key: "hot", Item: "yes", By: 1000})
		return errors.Join(err, refused)
	}), refused)
	require.NoError(t, db.Settle(ctx, 0))
	for query, want := range map[string]int{
		"SELECT n FROM votes WHERE key = 'hot' AND item = 'yes'": 400,
		"SELECT n FROM votes WHERE key = 'hot' AND item = 'no'":  -200,
		"SELECT count(*) FROM votes WHERE item = '' AND n = 1":   200,
	} {
		require.EqualValues(t, want, scalar(t, db, query), query)
	}
	require.Zero(t, scalar(t, db, "SELECT count(*) FROM poll_deltas"))
}

func TestAFoldThatFailsIsRunAgain(t *testing.T) {
	ctx := context.Background()
	db := open(t, votes)
	failures := 0
	c := &recipes.Combine{Name: "poll", Buckets: 1,
		Fold: func(ctx context.Context, tx *minidb.Tx, sums []recipes.Delta) error {
			if err := foldVotes(ctx, tx, sums); err != nil {
				return err
			}
			if failures++; failures < 3 {
				return errors.New("not now")
			}
			return nil
		}}
	require.NoError(t, c.Open(ctx, db))
	require.NoError(t, db.Update(ctx, func(tx *minidb.Tx) error {
		return c.Add(ctx, tx, recipes.Delta{Key: "a", By: 1}, recipes.Delta{Key: "b", By: 0})
	}))
	require.NoError(t, db.Settle(ctx, 0))
	require.EqualValues(t, 1, scalar(t, db, "SELECT sum(n)::bigint FROM votes"))
	require.EqualValues(t, 2, scalar(t, db, "SELECT count(*) FROM votes"))
}

func TestDeltasWaitForAProgramThatFolds(t *testing.T) {
	db := open(t, votes)
	c := &recipes.Combine{Name: "poll", Fold: foldVotes}
	ctx, stop := context.WithCancel(context.Background())
	require.NoError(t, c.Open(ctx, db))
	stop()
	ctx = context.Background()
	for range 3 {
		require.NoError(t, db.Update(ctx, func(tx *minidb.Tx) error {
			return c.Add(ctx, tx, recipes.Delta{Key: "a", By: 1})
		}))
	}
	require.NoError(t, (&recipes.Combine{Name: "poll", Fold: foldVotes}).Open(ctx, db))
	require.NoError(t, db.Settle(ctx, 0))
	require.EqualValues(t, 3, scalar(t, db, "SELECT n FROM votes"))
}

func TestACombineThatCannotBe(t *testing.T) {
	ctx := context.Background()
	db := open(t)
	for _, c := range []*recipes.Combine{{Fold: foldVotes}, {Name: "a; DROP", Fold: foldVotes},
		{Name: "a"}, {Name: "a", Fold: foldVotes, Buckets: -1}} {
		require.Error(t, c.Open(ctx, db))
	}
}
