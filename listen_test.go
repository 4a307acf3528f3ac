package minidb_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
)

// TestListenHearsCommitsInTheirOrder: notifications come in the order of the commit timestamps,
// after what was written is visible, and those of transactions that fail do not come.
func TestListenHearsCommitsInTheirOrder(t *testing.T) {
	const writers, each = 6, 50
	ctx, db := context.Background(), open(t)
	exec(t, db, "CREATE TABLE t (id int PRIMARY KEY)")
	l, err := db.Listen(ctx, "done")
	require.NoError(t, err)
	commits := map[string]int64{} // by payload
	var mu sync.Mutex
	var wg sync.WaitGroup
	for w := range writers {
		c, err := db.Conn(ctx)
		require.NoError(t, err)
		wg.Go(func() {
			defer c.Close()
			for n := range each {
				id := w*each + n
				end := "COMMIT"
				if n%5 == 4 {
					end = "ROLLBACK"
				}
				for _, text := range []string{"BEGIN", fmt.Sprintf("INSERT INTO t VALUES (%d)", id),
					fmt.Sprintf("NOTIFY done, '%d'", id), end} {
					if _, err := c.Exec(ctx, text); err != nil {
						t.Error(err)
						return
					}
				}
				var ts int64
				if err := c.QueryRow(ctx,
					"SELECT minidb_last_commit_timestamp()").Scan(&ts); err != nil {
					t.Error(err)
					return
				}
				if end == "COMMIT" {
					mu.Lock()
					commits[fmt.Sprint(id)] = ts
					mu.Unlock()
				}
			}
		})
	}
	var heard []string
	for range writers * each / 5 * 4 {
		n, err := l.Next(ctx)
		require.NoError(t, err)
		require.Equal(t, "done", n.Channel)
		var there int
		require.NoError(t, db.QueryRow(ctx, "SELECT count(*) FROM t WHERE id = $1::int",
			n.Payload).Scan(&there))
		require.Equal(t, 1, there, "what it tells of is visible")
		heard = append(heard, n.Payload)
	}
	wg.Wait()
	require.Len(t, commits, len(heard))
	require.True(t, slices.IsSortedFunc(heard,
		func(a, b string) int { return int(commits[a] - commits[b]) }))

	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = l.Next(ended)
	require.ErrorIs(t, err, context.Canceled, "nothing else was sent")
	require.NoError(t, l.Close())

	_, err = db.Exec(ctx, "LISTEN done")
	require.ErrorContains(t, err, "LISTEN through the embedded handle")
	_, err = db.Listen(ctx, "a")
	require.NoError(t, err)
}

func TestListenEndsWithTheDatabase(t *testing.T) {
	ctx, db := context.Background(), open(t)
	l, err := db.Listen(ctx, "c")
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() {
		_, err := l.Next(ctx)
		done <- err
	}()
	require.NoError(t, db.Close())
	require.ErrorIs(t, <-done, minidb.ErrClosed)
	_, err = db.Listen(ctx, "c")
	require.ErrorIs(t, err, minidb.ErrClosed)
}
