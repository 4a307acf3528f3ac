package minidb_test

import (
	"context"
	stdsql "database/sql"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
)

func deref(p any) any { return reflect.ValueOf(p).Elem().Interface() }

func TestDriver(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	db, err := stdsql.Open("minidb", dir)
	require.NoError(t, err)
	require.NoError(t, db.Ping())
	again, err := stdsql.Open("minidb", dir)
	require.NoError(t, err)
	require.NoError(t, again.Ping(), "handles of one process share the directory")

	_, err = db.Exec("CREATE TABLE t (id int PRIMARY KEY, v varchar(5), n numeric(8,2), d " +
		"timestamptz)")
	require.NoError(t, err)
	res, err := db.Exec("INSERT INTO t VALUES ($1, $2, $3, $4), (2, NULL, NULL, NULL)", 1, "one",
		1.5, time.Unix(0, 0))
	require.NoError(t, err)
	n, err := res.RowsAffected()
	require.NoError(t, err)
	require.EqualValues(t, 2, n)
	_, err = res.LastInsertId()
	require.Error(t, err)

	stmt, err := again.Prepare("SELECT id, v, n, d FROM t WHERE id = $1")
	require.NoError(t, err)
	var id int
	var v stdsql.NullString
	var num float64
	var at time.Time
	require.NoError(t, stmt.QueryRow(1).Scan(&id, &v, &num, &at))
	require.Equal(t, "one", v.String)
	require.Equal(t, 1.5, num)
	require.True(t, at.Equal(time.Unix(0, 0)))
	require.NoError(t, stmt.Close())

	rows, err := db.Query("SELECT * FROM t ORDER BY id")
	require.NoError(t, err)
	cols, err := rows.ColumnTypes()
	require.NoError(t, err)
	require.Equal(t, "VARCHAR", cols[1].DatabaseTypeName())
	length, ok := cols[1].Length()
	require.True(t, ok)
	require.EqualValues(t, 5, length)
	p, s, ok := cols[2].DecimalSize()
	require.True(t, ok)
	require.EqualValues(t, []int64{8, 2}, []int64{p, s})
	require.Equal(t, reflect.TypeFor[time.Time](), cols[3].ScanType())
	count := 0
	for rows.Next() {
		count++
	}
	require.Equal(t, 2, count)
	require.NoError(t, rows.Close())

	tx, err := db.BeginTx(ctx, &stdsql.TxOptions{ReadOnly: true})
	require.NoError(t, err)
	_, err = tx.Exec("DELETE FROM t")
	require.Equal(t, "25006", state(err))
	require.NoError(t, tx.Rollback())
	_, err = db.BeginTx(ctx, &stdsql.TxOptions{Isolation: stdsql.LevelLinearizable})
	require.Equal(t, "0A000", state(err))

	tx, err = db.BeginTx(ctx, &stdsql.TxOptions{Isolation: stdsql.LevelRepeatableRead})
	require.NoError(t, err)
	_, err = tx.Exec("DELETE FROM t WHERE id = $1", 2)
	require.NoError(t, err)
	require.NoError(t, tx.Commit())

	conn, err := db.Conn(ctx)
	require.NoError(t, err)
	_, err = conn.ExecContext(ctx, "SET application_name = 'kept by nobody'; BEGIN; DELETE FROM t")
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	db.SetMaxOpenConns(1)
	var name string
	require.NoError(t, db.QueryRow("SHOW application_name").Scan(&name))
	require.Equal(t, "embedded", name)
	require.NoError(t, db.QueryRow("SELECT count(*) FROM t").Scan(&id))
	require.Equal(t, 1, id)

	require.NoError(t, db.Close())
	require.NoError(t, again.QueryRow("SELECT count(*) FROM t").Scan(&id),
		"the directory closes with its last handle")
	require.NoError(t, again.Close())
	last, err := minidb.Open(dir, quiet)
	require.NoError(t, err)
	require.NoError(t, last.Close())
}

func TestDriverCancels(t *testing.T) {
	db, err := stdsql.Open("minidb", ":memory:")
	require.NoError(t, err)
	defer db.Close()
	ctx, cancel := context.WithCancel(context.Background())
	rows, err := db.QueryContext(ctx, "SELECT * FROM generate_series(1, 1000000000)")
	require.NoError(t, err)
	require.True(t, rows.Next())
	cancel()
	for rows.Next() {
	}
	require.ErrorIs(t, rows.Err(), context.Canceled)
	require.NoError(t, db.Ping())
}

func TestOpenSQLBorrowsAHandle(t *testing.T) {
	mine := open(t)
	db := minidb.OpenSQL(mine)
	var n int
	require.NoError(t, db.QueryRow("SELECT 1").Scan(&n))
	require.NoError(t, db.Close())
	exec(t, mine, "SELECT 1")
}
