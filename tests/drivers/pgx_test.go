package drivers

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/tests/served"
)

// querier is what pgx's connections and pools share.
type querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

type pgxClient struct{ q querier }

func (c pgxClient) exec(t *testing.T, sql string, args ...any) error {
	_, err := c.q.Exec(t.Context(), sql, args...)
	return err
}

func (c pgxClient) one(t *testing.T, dest []any, sql string, args ...any) error {
	return c.q.QueryRow(t.Context(), sql, args...).Scan(dest...)
}

func (c pgxClient) column(t *testing.T, sql string, args ...any) []string {
	rows, err := c.q.Query(t.Context(), sql, args...)
	require.NoError(t, err)
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return got
}

func pgxConn(t *testing.T, url string, mode pgx.QueryExecMode) *pgx.Conn {
	t.Helper()
	cfg, err := pgx.ParseConfig(url)
	require.NoError(t, err)
	cfg.DefaultQueryExecMode = mode
	conn, err := pgx.ConnectConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func TestPgx(t *testing.T) {
	for name, mode := range map[string]pgx.QueryExecMode{
		"cached statements": pgx.QueryExecModeCacheStatement,
		"cached describe":   pgx.QueryExecModeCacheDescribe,
		"describe":          pgx.QueryExecModeDescribeExec,
		"exec":              pgx.QueryExecModeExec,
		"simple protocol":   pgx.QueryExecModeSimpleProtocol,
	} {
		t.Run(name, func(t *testing.T) { tour(t, pgxClient{pgxConn(t, served.InMemory(t), mode)}) })
	}
}

func TestPgxPool(t *testing.T) {
	pool, err := pgxpool.New(t.Context(), served.InMemory(t))
	require.NoError(t, err)
	defer pool.Close()
	// The tour begins and ends transactions by SQL, so it stays on one connection of the pool.
	conn, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	tour(t, pgxClient{conn})
	conn.Release()

	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for n := range 20 {
				_, err := pool.Exec(t.Context(), `INSERT INTO people (name) VALUES ($1)`,
					fmt.Sprintf("pooled %d.%d", w, n))
				assert.NoError(t, err)
			}
		})
	}
	wg.Wait()
	var n int
	require.NoError(t, pool.QueryRow(t.Context(),
		`SELECT count(*) FROM people WHERE name LIKE 'pooled %'`).Scan(&n))
	require.Equal(t, 160, n)
}

func TestPgxTypesTravelInBinary(t *testing.T) {
	conn := pgxConn(t, served.InMemory(t), pgx.QueryExecModeCacheStatement)
	ctx := t.Context()
	now := time.Date(2024, 5, 6, 7, 8, 9, 123456000, time.UTC)
	var (
		b    bool
		i2   int16
		i4   int32
		i8   int64
		f4   float32
		f8   float64
		s    string
		bin  []byte
		at   time.Time
		iv   time.Duration
		u    [16]byte
		list []int64
		j    map[string]any
	)
	require.NoError(t, conn.QueryRow(ctx, `SELECT $1::bool, $2::int2, $3::int4, $4::int8,
		$5::float4, $6::float8, $7::text,
		$8::bytea, $9::timestamptz, $10::interval, $11::uuid, $12::int8[], $13::jsonb`,
		true, int16(-2), int32(3), int64(-4), float32(1.5), 2.25, "ü", []byte{7}, now,
		90*time.Minute, [16]byte{1, 2},
		[]int64{5, 6}, map[string]any{"a": 1.0}).Scan(&b, &i2, &i4, &i8, &f4, &f8, &s, &bin, &at,
		&iv, &u, &list, &j))
	require.True(t, b)
	require.EqualValues(t, []any{int16(-2), int32(3), int64(-4), float32(1.5), 2.25, "ü"},
		[]any{i2, i4, i8, f4, f8, s})
	require.Equal(t, []byte{7}, bin)
	require.True(t, now.Equal(at))
	require.Equal(t, 90*time.Minute, iv)
	require.Equal(t, [16]byte{1, 2}, u)
	require.Equal(t, []int64{5, 6}, list)
	require.Equal(t, map[string]any{"a": 1.0}, j)
}

func TestPgxInfersParameterTypes(t *testing.T) {
	conn := pgxConn(t, served.InMemory(t), pgx.QueryExecModeDescribeExec)
	ctx := t.Context()
	_, err := conn.Exec(ctx, `CREATE TABLE px (id bigint PRIMARY KEY, n text, d numeric,
		t timestamptz, u uuid, a text, j jsonb, b bytea, dt date, iv interval)`)
	require.NoError(t, err)
	sd, err := conn.Prepare(ctx, "ins",
		`INSERT INTO px (n, d, t, u, j, b, dt, iv) VALUES ($1,$2,$3,$4,$5,$6,$7,$8)`)
	require.NoError(t, err)
	require.Equal(t, []uint32{25, 1700, 1184, 2950, 3802, 17, 1082, 1186}, sd.ParamOIDs)
	require.Empty(t, sd.Fields)
	sd, err = conn.Prepare(ctx, "any", `SELECT id, n FROM px WHERE id = any($1) LIMIT $2`)
	require.NoError(t, err)
	require.Equal(t, []uint32{1016, 20}, sd.ParamOIDs)
	require.Equal(t, "id", sd.Fields[0].Name)
	require.EqualValues(t, 20, sd.Fields[0].DataTypeOID)
}

func TestPgxBatchesArePipelined(t *testing.T) {
	conn := pgxConn(t, served.InMemory(t), pgx.QueryExecModeCacheStatement)
	ctx := t.Context()
	b := &pgx.Batch{}
	b.Queue(`CREATE TABLE b (a int PRIMARY KEY)`)
	for i := range 50 {
		b.Queue(`INSERT INTO b VALUES ($1)`, i)
	}
	// Statements that name the new table are described before the batch runs: make it first.
	_, err := conn.Exec(ctx, `CREATE TABLE b (a int PRIMARY KEY)`)
	require.NoError(t, err)
	b.QueuedQueries = b.QueuedQueries[1:]
	require.NoError(t, conn.SendBatch(ctx, b).Close())
	var n int
	require.NoError(t, conn.QueryRow(ctx, `SELECT count(*) FROM b`).Scan(&n))
	require.Equal(t, 50, n)

	// One failure undoes the implicit transaction up to Sync.
	b = &pgx.Batch{}
	b.Queue(`INSERT INTO b VALUES (100)`)
	b.Queue(`INSERT INTO b VALUES (1)`)
	require.Equal(t, "23505", sqlState(conn.SendBatch(ctx, b).Close()))
	require.NoError(t, conn.QueryRow(ctx, `SELECT count(*) FROM b`).Scan(&n))
	require.Equal(t, 50, n)
}

func TestPgxCancelsARunningQuery(t *testing.T) {
	conn := pgxConn(t, served.InMemory(t), pgx.QueryExecModeCacheStatement)
	ctx, cancel := context.WithCancel(t.Context())
	rows, err := conn.Query(ctx, `SELECT n FROM generate_series(1, 1000000000) AS g (n)`)
	require.NoError(t, err)
	require.True(t, rows.Next())
	cancel()
	for rows.Next() {
	}
	require.Error(t, rows.Err())
}

func TestConcurrentTransactionsConflictWith40001(t *testing.T) {
	url := served.InMemory(t)
	a, b := pgxConn(t, url, pgx.QueryExecModeSimpleProtocol), pgxConn(t, url,
		pgx.QueryExecModeSimpleProtocol)
	ctx := t.Context()
	_, err := a.Exec(ctx, `CREATE TABLE c (id int PRIMARY KEY, v int); INSERT INTO c VALUES (1, 0)`)
	require.NoError(t, err)
	for _, conn := range []*pgx.Conn{a, b} {
		_, err := conn.Exec(ctx, `BEGIN ISOLATION LEVEL REPEATABLE READ`)
		require.NoError(t, err)
		var v int
		require.NoError(t, conn.QueryRow(ctx, `SELECT v FROM c WHERE id = 1`).Scan(&v))
	}
	_, err = a.Exec(ctx, `UPDATE c SET v = v + 1 WHERE id = 1`)
	require.NoError(t, err)
	_, err = a.Exec(ctx, `COMMIT`)
	require.NoError(t, err)
	_, err = b.Exec(ctx, `UPDATE c SET v = v + 1 WHERE id = 1`)
	if err == nil {
		_, err = b.Exec(ctx, `COMMIT`)
	}
	require.Equal(t, "40001", sqlState(err))
}

// TestAPoolOfBlocksMeetsNoConflict (C3): programs that lock what they change, and never heard of
// 40001, are right at the default level. The connection string chooses another one.
func TestAPoolOfBlocksMeetsNoConflict(t *testing.T) {
	ctx, url := t.Context(), served.InMemory(t)
	cfg, err := pgxpool.ParseConfig(url)
	require.NoError(t, err)
	cfg.MaxConns = 8
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	require.NoError(t, err)
	defer pool.Close()
	_, err = pool.Exec(ctx, "CREATE TABLE counter (id int PRIMARY KEY, n int)")
	require.NoError(t, err)
	_, err = pool.Exec(ctx, "INSERT INTO counter VALUES (1, 0)")
	require.NoError(t, err)
	block := func() error {
		return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			var n int
			if err := tx.QueryRow(ctx,
				"SELECT n FROM counter WHERE id = 1 FOR UPDATE").Scan(&n); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "UPDATE counter SET n = $1 WHERE id = 1", n+1)
			return err
		})
	}
	// Several statements in one message, and in one batch, are a transaction too.
	message := func() error {
		_, err := pool.Exec(ctx, "UPDATE counter SET n = n + 1 WHERE id = 1; SELECT n FROM counter",
			pgx.QueryExecModeSimpleProtocol)
		return err
	}
	batch := func() error {
		b := &pgx.Batch{}
		b.Queue("UPDATE counter SET n = n + $1 WHERE id = 1 RETURNING n", 1)
		b.Queue("SELECT n FROM counter WHERE id = $1", 1)
		return pool.SendBatch(ctx, b).Close()
	}
	var wg sync.WaitGroup
	for _, f := range []func() error{block, message, batch} {
		for range 40 {
			wg.Go(func() { assert.NoError(t, f()) })
		}
	}
	wg.Wait()
	var n int
	require.NoError(t, pool.QueryRow(ctx, "SELECT n FROM counter").Scan(&n))
	require.Equal(t, 120, n)

	conn := pgxConn(t, url+"&options=-c%20default_transaction_isolation%3Dserializable",
		pgx.QueryExecModeSimpleProtocol)
	var level string
	require.NoError(t, conn.QueryRow(ctx, "SHOW transaction_isolation").Scan(&level))
	require.Equal(t, "serializable", level)
}
