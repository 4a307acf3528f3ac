package minidb_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/tests/served"
)

func TestTheHandleUsesTheDatabaseThatIsNamed(t *testing.T) {
	dir := t.TempDir()
	db, err := minidb.Open(dir, quiet)
	require.NoError(t, err)
	exec(t, db, "CREATE DATABASE other")
	require.NoError(t, db.Close())
	db, err = minidb.Open(dir, quiet, minidb.Database("other"))
	require.NoError(t, err)
	require.Equal(t, "other", scalar[string](t, db, "SELECT current_database()"))
	require.NoError(t, db.Close())
}

// TestMaxConnectionsBoundsClients, and not the program's own use of the handle.
func TestMaxConnectionsBoundsClients(t *testing.T) {
	ctx := context.Background()
	db := open(t, minidb.MaxConnections(1))
	url, _ := served.DB(t, db)
	first, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	_, err = pgx.Connect(ctx, url)
	var refused *pgconn.PgError
	require.True(t, errors.As(err, &refused), "%v", err)
	require.Equal(t, "53300", refused.Code)
	require.Equal(t, "1", scalar[string](t, db, "SELECT '1'"))
	require.NoError(t, first.Close(ctx))
}
