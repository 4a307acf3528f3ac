package minidb_test

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/tests/served"
)

// TestEndingWhatWaitsForItsClient: a COPY that waits for its client is cancelled, and the
// connection goes on; a session that waits for its client is terminated.
func TestEndingWhatWaitsForItsClient(t *testing.T) {
	ctx, db := context.Background(), open(t)
	exec(t, db, "CREATE TABLE t (id int PRIMARY KEY)")
	url, ended := served.DB(t, db)
	conn, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	pid := conn.PgConn().PID()

	client, feed := io.Pipe()
	copied := make(chan error, 1)
	go func() {
		_, err := conn.PgConn().CopyFrom(ctx, client, "COPY t FROM STDIN")
		copied <- err
	}()
	for i := range 300 {
		_, err := fmt.Fprintf(feed, "%d\n", i)
		require.NoError(t, err)
	}
	await := func(query string) {
		t.Helper()
		for n := 0; n == 0; {
			require.NoError(t, db.QueryRow(ctx, query).Scan(&n))
		}
	}
	await(fmt.Sprintf("SELECT count(*) FROM pg_stat_progress_copy WHERE pid = %d AND command = "+
		"'COPY FROM' AND relid = 't'::regclass AND bytes_processed > 0", pid))
	var done bool
	require.NoError(t, db.QueryRow(ctx, "SELECT pg_cancel_backend($1)", pid).Scan(&done))
	require.True(t, done)
	await(fmt.Sprintf("SELECT count(*) FROM pg_stat_activity WHERE pid = %d AND state = 'idle' "+
		"AND wait_event = 'ClientRead'", pid))
	require.NoError(t, feed.Close())
	require.Equal(t, "57014", state(<-copied))
	var n int
	require.NoError(t, conn.QueryRow(ctx, "SELECT count(*) FROM t").Scan(&n))
	require.Zero(t, n)

	_, err = conn.Exec(ctx, "BEGIN; INSERT INTO t VALUES (1)")
	require.NoError(t, err)
	require.NoError(t, db.QueryRow(ctx, "SELECT pg_terminate_backend($1, 60000)", pid).Scan(&done))
	require.True(t, done)
	_, err = conn.Exec(ctx, "COMMIT")
	require.Error(t, err)
	require.NoError(t, db.QueryRow(ctx, "SELECT count(*) FROM t").Scan(&n))
	require.Zero(t, n)
	require.NoError(t, db.Shutdown(ctx))
	require.NoError(t, <-ended)
}
