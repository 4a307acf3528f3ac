package minidb_test

import (
	"context"
	stdsql "database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/tests/served"
)

var quiet = minidb.Logger(slog.New(slog.DiscardHandler))

func open(t testing.TB, opts ...minidb.Option) *minidb.DB {
	t.Helper()
	db, err := minidb.Open("", append(opts, minidb.InMemory(), quiet)...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func exec(t testing.TB, db *minidb.DB, text string, args ...any) minidb.Result {
	t.Helper()
	res, err := db.Exec(context.Background(), text, args...)
	require.NoError(t, err)
	return res
}

func state(err error) string {
	var e interface{ SQLState() string }
	if errors.As(err, &e) {
		return e.SQLState()
	}
	return ""
}

func TestADirectoryKeepsWhatWasCommitted(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	db, err := minidb.Open(dir, quiet)
	require.NoError(t, err)
	exec(t, db, "CREATE TABLE t (id serial PRIMARY KEY, v text); INSERT INTO t (v) VALUES ('a'), "+
		"('b')")
	_, err = minidb.Open(dir, quiet)
	require.ErrorIs(t, err, kv.ErrInUse)
	require.ErrorContains(t, err, dir)
	require.NoError(t, db.Close())
	require.NoError(t, db.Close())

	db, err = minidb.Open(dir, quiet)
	require.NoError(t, err)
	defer db.Close()
	var n int
	require.NoError(t, db.QueryRow(ctx, "INSERT INTO t (v) VALUES ('c') RETURNING id").Scan(&n))
	require.Equal(t, 3, n, "an orderly shutdown leaves no gap")
	require.NoError(t, db.QueryRow(ctx, "SELECT count(*) FROM t").Scan(&n))
	require.Equal(t, 3, n)
}

func TestExecAndQuery(t *testing.T) {
	ctx, db := context.Background(), open(t)
	res := exec(t, db, "CREATE TABLE t (id int PRIMARY KEY, v text)")
	require.Equal(t, "CREATE TABLE", res.Tag())
	require.EqualValues(t, 0, res.RowsAffected())
	require.EqualValues(t, 1, exec(t, db, "INSERT INTO t VALUES ($1, $2)", 1, "one").RowsAffected())
	require.EqualValues(t, 2, exec(t, db,
		"INSERT INTO t VALUES (2, 'two'), (3, NULL)").RowsAffected())

	rows, err := db.Query(ctx, "SELECT id, v FROM t WHERE id >= $1 ORDER BY id", 2)
	require.NoError(t, err)
	require.Equal(t, []string{"id", "v"}, rows.Columns())
	require.Equal(t, "integer", rows.ColumnTypes()[0].Type)
	require.True(t, rows.Next())
	var id int
	var v *string
	require.NoError(t, rows.Scan(&id, &v))
	require.Equal(t, 2, id)
	require.Equal(t, "two", *v)
	require.True(t, rows.Next())
	require.NoError(t, rows.Scan(&id, &v))
	require.Nil(t, v)
	require.False(t, rows.Next())
	require.NoError(t, rows.Err())
	require.NoError(t, rows.Close())

	require.ErrorIs(t, db.QueryRow(ctx, "SELECT 1 WHERE false").Scan(&id), stdsql.ErrNoRows)
	_, err = db.Exec(ctx, "INSERT INTO t VALUES ($1, $2)", 1, "again")
	require.Equal(t, "23505", state(err))
	_, err = db.Query(ctx, "SELECT nope")
	require.Equal(t, "42703", state(err))
	_, err = db.Exec(ctx, "INSERT INTO t VALUES ($1, $2)", 1)
	require.Equal(t, "08P01", state(err))
	_, err = db.Exec(ctx, "INSERT INTO t VALUES ($1, $2)", "x", "y")
	require.Equal(t, "22P02", state(err))
}

func TestALongResultIsStreamed(t *testing.T) {
	ctx, db := context.Background(), open(t)
	exec(t, db, "CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t SELECT * FROM "+
		"generate_series(1, 5000)")
	rows, err := db.Query(ctx, "SELECT id FROM t ORDER BY id")
	require.NoError(t, err)
	for want := 1; rows.Next(); want++ {
		var id int
		require.NoError(t, rows.Scan(&id))
		require.Equal(t, want, id)
		if want == 2000 { // the reader keeps its snapshot
			exec(t, db, "DELETE FROM t")
		}
		if want == 4999 {
			break
		}
	}
	require.NoError(t, rows.Err())
	require.NoError(t, rows.Close())
	require.False(t, rows.Next())
	var n int
	require.NoError(t, db.QueryRow(ctx, "SELECT count(*) FROM t").Scan(&n))
	require.Zero(t, n)
}

func TestTransactions(t *testing.T) {
	ctx, db := context.Background(), open(t)
	exec(t, db, "CREATE TABLE t (id int PRIMARY KEY)")
	tx, err := db.Begin(ctx)
	require.NoError(t, err)
	_, err = tx.Exec(ctx, "INSERT INTO t VALUES ($1)", 1)
	require.NoError(t, err)
	var n int
	require.NoError(t, tx.QueryRow(ctx, "SELECT count(*) FROM t").Scan(&n))
	require.Equal(t, 1, n)
	require.NoError(t, db.QueryRow(ctx, "SELECT count(*) FROM t").Scan(&n))
	require.Equal(t, 0, n)
	require.NoError(t, tx.Commit(ctx))
	require.ErrorIs(t, tx.Commit(ctx), minidb.ErrTxDone)
	require.ErrorIs(t, tx.Rollback(ctx), minidb.ErrTxDone)

	tx, err = db.Begin(ctx)
	require.NoError(t, err)
	_, err = tx.Exec(ctx, "INSERT INTO t VALUES ($1)", 1)
	require.Equal(t, "23505", state(err))
	_, err = tx.Exec(ctx, "INSERT INTO t VALUES ($1)", 2)
	require.Equal(t, "25P02", state(err))
	require.ErrorIs(t, tx.Commit(ctx), minidb.ErrRolledBack)

	tx, err = db.Begin(ctx, minidb.ReadOnly())
	require.NoError(t, err)
	_, err = tx.Exec(ctx, "DELETE FROM t")
	require.Equal(t, "25006", state(err))
	require.NoError(t, tx.Rollback(ctx))
	_, err = db.Begin(ctx, minidb.Isolation("chaos"))
	require.Equal(t, "22023", state(err))
	tx, err = db.Begin(ctx, minidb.Isolation("serializable"))
	require.NoError(t, err)
	require.NoError(t, tx.Rollback(ctx))
}

func TestConflicts(t *testing.T) {
	ctx, db := context.Background(), open(t)
	exec(t, db, "CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 0)")
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 20 {
				if _, err := db.Exec(ctx, "UPDATE t SET n = n + $1 WHERE id = 1", 1); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	var n int
	require.NoError(t, db.QueryRow(ctx, "SELECT n FROM t").Scan(&n))
	require.Equal(t, 160, n, "implicit transactions are repeated until they are through")

	tx, err := db.Begin(ctx, minidb.Isolation("repeatable read"))
	require.NoError(t, err)
	require.NoError(t, tx.QueryRow(ctx, "SELECT n FROM t").Scan(&n))
	exec(t, db, "UPDATE t SET n = 0")
	_, err = tx.Exec(ctx, "UPDATE t SET n = 1")
	if err == nil {
		err = tx.Commit(ctx)
	} else {
		require.NoError(t, tx.Rollback(ctx))
	}
	require.Equal(t, "40001", state(err))
}

func TestContextsCancel(t *testing.T) {
	db := open(t)
	ctx, cancel := context.WithCancel(context.Background())
	rows, err := db.Query(ctx, "SELECT * FROM generate_series(1, 1000000000)")
	require.NoError(t, err)
	require.True(t, rows.Next())
	cancel()
	for rows.Next() {
	}
	require.ErrorIs(t, rows.Err(), context.Canceled)
	require.Equal(t, "57014", state(rows.Err()))
	_, err = db.Exec(ctx, "SELECT 1")
	require.ErrorIs(t, err, context.Canceled)
	exec(t, db, "SELECT 1")
}

func TestCloseEndsWhatIsOpen(t *testing.T) {
	ctx := context.Background()
	db, err := minidb.Open("", minidb.InMemory(), quiet)
	require.NoError(t, err)
	exec(t, db, "CREATE TABLE t (id int)")
	tx, err := db.Begin(ctx)
	require.NoError(t, err)
	_, err = tx.Exec(ctx, "INSERT INTO t VALUES (1)")
	require.NoError(t, err)
	rows, err := db.Query(ctx, "SELECT * FROM generate_series(1, 1000000000)")
	require.NoError(t, err)
	require.True(t, rows.Next())
	few, err := db.Query(ctx, "SELECT * FROM generate_series(1, 3)")
	require.NoError(t, err)
	require.True(t, few.Next())
	require.NoError(t, db.Close())
	for _, r := range []*minidb.Rows{rows, few} { // rows that are in memory already, too
		require.False(t, r.Next())
		require.ErrorIs(t, r.Err(), minidb.ErrClosed)
		require.NoError(t, r.Close())
	}
	_, err = tx.Exec(ctx, "SELECT 1")
	require.ErrorIs(t, err, minidb.ErrClosed)
	require.ErrorIs(t, tx.Commit(ctx), minidb.ErrClosed)
	_, err = db.Exec(ctx, "SELECT 1")
	require.ErrorIs(t, err, minidb.ErrClosed)
	_, err = db.Begin(ctx)
	require.ErrorIs(t, err, minidb.ErrClosed)
}

// O24: a program finds what an error is about without minidb's inner packages.
func TestErrorsTellWhatTheyAreAbout(t *testing.T) {
	ctx, db := context.Background(), open(t)
	exec(t, db, "CREATE TABLE u (id int CONSTRAINT u_key PRIMARY KEY, n int NOT NULL)")
	exec(t, db, "INSERT INTO u VALUES (1, 1)")
	sqldb := minidb.OpenSQL(db)
	defer sqldb.Close()
	for name, do := range map[string]func(text string) error{
		"embedded":     func(text string) error { _, err := db.Exec(ctx, text); return err },
		"database/sql": func(text string) error { _, err := sqldb.Exec(text); return err },
	} {
		t.Run(name, func(t *testing.T) {
			var e *minidb.Error
			require.ErrorAs(t, do("INSERT INTO u VALUES (1, 2)"), &e)
			require.Equal(t, minidb.Error{Code: "23505",
				Message: `duplicate key value violates unique constraint "u_key"`,
				Detail:  "Key (id)=(1) already exists.", Schema: "public", Table: "u",
				Constraint: "u_key"}, *e)
			require.ErrorAs(t, do("INSERT INTO u VALUES (2, NULL)"), &e)
			require.Equal(t, "23502 u n", e.SQLState()+" "+e.Table+" "+e.Column)
			require.ErrorAs(t, do("SELECT 1 || nope FROM u"), &e)
			require.Equal(t, 13, e.Position)
			require.ErrorAs(t, do("SELECT nopefn(1)"), &e)
			require.NotEmpty(t, e.Hint)
		})
	}
}

func TestServeBesideTheHandle(t *testing.T) {
	ctx, db := context.Background(), open(t)
	exec(t, db, "CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1)")
	url, ended := served.DB(t, db)
	conn, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	var n int
	require.NoError(t, conn.QueryRow(ctx, "SELECT id FROM t WHERE id = $1", 1).Scan(&n))
	exec(t, db, "INSERT INTO t VALUES (2)")
	require.NoError(t, conn.QueryRow(ctx, "SELECT count(*) FROM t").Scan(&n))
	require.Equal(t, 2, n)
	require.NoError(t, db.Shutdown(ctx))
	require.NoError(t, <-ended)
	require.Error(t, conn.Ping(ctx))
	exec(t, db, "INSERT INTO t VALUES (3)")
}

func TestAStatementFollowsTheSchema(t *testing.T) {
	ctx, db := context.Background(), open(t)
	exec(t, db, "CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1)")
	for i := range 3 {
		rows, err := db.Query(ctx, "SELECT * FROM t WHERE id = $1", 1)
		require.NoError(t, err)
		require.Len(t, rows.Columns(), 1+i)
		require.NoError(t, rows.Close())
		exec(t, db, "ALTER TABLE t ADD COLUMN c"+string(rune('a'+i))+" int")
	}
}

func TestGoValues(t *testing.T) {
	ctx, db := context.Background(), open(t)
	at := time.Date(2024, 2, 29, 12, 34, 56, 789000, time.FixedZone("", 3600))
	uuid := [16]byte{0: 0x55, 15: 0x0e}
	type point struct{ X, Y int }
	for _, c := range []struct {
		typ      string
		in       any
		out      any // pointer to a variable of the wanted type
		want     any
		asAny    any
		skipSame bool
	}{
		{typ: "int4", in: int8(7), out: new(int64), want: int64(7), asAny: int64(7)},
		{typ: "int8", in: uint32(7), out: new(uint8), want: uint8(7), asAny: int64(7)},
		{typ: "int2", in: "12", out: new(string), want: "12", asAny: int64(12)},
		{typ: "float8", in: 1.5, out: new(float64), want: 1.5, asAny: 1.5},
		{typ: "float8", in: math.Inf(1), out: new(float64), want: math.Inf(1), asAny: math.Inf(1)},
		{typ: "float4", in: float32(0.1), out: new(float32), want: float32(0.1),
			asAny: float64(float32(0.1))},
		{typ: "numeric(6,2)", in: 12, out: new(float64), want: 12.0, asAny: "12.00"},
		{typ: "numeric", in: "123456789012345678901234567890", out: new(string),
			want: "123456789012345678901234567890", asAny: "123456789012345678901234567890"},
		{typ: "numeric", in: uint64(math.MaxUint64), out: new(uint64), want: uint64(math.MaxUint64),
			asAny: "18446744073709551615"},
		{typ: "text", in: "ä", out: new([]byte), want: []byte("ä"), asAny: "ä"},
		{typ: "text", in: 42, out: new(int), want: 42, asAny: "42"},
		{typ: "varchar(3)", in: []byte("abc"), out: new(string), want: "abc", asAny: "abc"},
		{typ: "bytea", in: []byte{0, 255}, out: new([]byte), want: []byte{0, 255},
			asAny: []byte{0, 255}},
		{typ: "bytea", in: "\x00\xff", out: new(string), want: "\x00\xff", asAny: []byte{0, 255}},
		{typ: "bool", in: true, out: new(bool), want: true, asAny: true},
		{typ: "timestamptz", in: at, out: new(time.Time), want: at.Truncate(time.Microsecond).UTC(),
			asAny: at.Truncate(time.Microsecond).UTC()},
		{typ: "timestamp", in: at, out: new(string), want: "2024-02-29 12:34:56.000789",
			asAny: time.Date(2024, 2, 29, 12, 34, 56, 789000, time.UTC)},
		{typ: "date", in: at, out: new(time.Time),
			want: time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC), asAny: time.Date(2024, 2, 29, 0, 0,
				0, 0, time.UTC)},
		{typ: "time", in: at, out: new(time.Duration), want: 12*time.Hour + 34*time.Minute +
			56*time.Second + 789*time.Microsecond, asAny: "12:34:56.000789"},
		{typ: "interval", in: 90 * time.Minute, out: new(time.Duration), want: 90 * time.Minute,
			asAny: "01:30:00"},
		{typ: "uuid", in: uuid, out: new([16]byte), want: uuid,
			asAny: "55000000-0000-0000-0000-00000000000e"},
		{typ: "uuid", in: "55000000-0000-0000-0000-00000000000e", out: new(string),
			want:  "55000000-0000-0000-0000-00000000000e",
			asAny: "55000000-0000-0000-0000-00000000000e"},
		{typ: "inet", in: netip.MustParsePrefix("10.1.2.3/8"), out: new(netip.Prefix),
			want: netip.MustParsePrefix("10.1.2.3/8"), asAny: "10.1.2.3/8"},
		{typ: "inet", in: netip.MustParsePrefix("10.1.2.3/32"), out: new(netip.Addr),
			want: netip.MustParseAddr("10.1.2.3"), asAny: "10.1.2.3"},
		{typ: "cidr", in: &net.IPNet{IP: net.IP{10, 1, 0, 0}, Mask: net.CIDRMask(16, 32)},
			out: new(*net.IPNet), want: &net.IPNet{IP: net.IP{10, 1, 0, 0},
				Mask: net.CIDRMask(16, 32)}, asAny: "10.1.0.0/16"},
		{typ: "inet", in: net.ParseIP("::1"), out: new(net.IP), want: net.ParseIP("::1"),
			asAny: "::1"},
		{typ: "macaddr", in: net.HardwareAddr{8, 0, 0x2b, 1, 2, 3}, out: new([6]byte),
			want: [6]byte{8, 0, 0x2b, 1, 2, 3}, asAny: "08:00:2b:01:02:03"},
		{typ: "varbit", in: "101", out: new(string), want: "101", asAny: "101"},
		{typ: "inet[]", in: []netip.Addr{netip.MustParseAddr("::1")}, out: new([]netip.Addr),
			want: []netip.Addr{netip.MustParseAddr("::1")}, asAny: []any{"::1"}},
		{typ: "jsonb", in: point{1, 2}, out: new(point), want: point{1, 2},
			asAny: `{"X": 1, "Y": 2}`},
		{typ: "jsonb", in: json.RawMessage(`[1]`), out: new([]int), want: []int{1}, asAny: `[1]`},
		{typ: "json", in: map[string]int{"a": 1}, out: new(map[string]int),
			want: map[string]int{"a": 1}, asAny: `{"a":1}`},
		{typ: "int4[]", in: []int{1, 2}, out: new([]int32), want: []int32{1, 2},
			asAny: []any{int64(1), int64(2)}},
		{typ: "text[]", in: []*string{nil}, out: new([]*string), want: []*string{nil},
			asAny: []any{nil}},
		{typ: "int4", in: (*int)(nil), out: new(*int), want: (*int)(nil), asAny: nil},
		{typ: "text", in: stdsql.NullString{}, out: new(stdsql.NullString),
			want: stdsql.NullString{}, asAny: nil},
		{typ: "text", in: stdsql.NullString{String: "x", Valid: true},
			out: new(stdsql.Null[string]), want: stdsql.Null[string]{V: "x",
				Valid: true}, asAny: "x"},
	} {
		t.Run(c.typ, func(t *testing.T) {
			var any_ any
			require.NoError(t, db.QueryRow(ctx, "SELECT v, v FROM (SELECT $1::"+c.typ+" AS v) s",
				c.in).Scan(c.out, &any_))
			require.Equal(t, c.want, deref(c.out))
			require.Equal(t, c.asAny, any_)
		})
	}
	var n int
	for _, c := range []struct {
		text string
		dest any
	}{
		{"SELECT inet '10.0.0.1/8'", new(net.IP)}, {"SELECT NULL::inet", new(netip.Prefix)},
		{"SELECT NULL::int", &n}, {"SELECT 300", new(int8)}, {"SELECT -1",
			new(uint)}, {"SELECT 'x'", &n}, {"SELECT 1, 2", &n},
		{"SELECT true", &n}, {"SELECT 1", new(bool)}, {"SELECT 1", n}, {"SELECT '1 mon'::interval",
			new(time.Duration)},
		{"SELECT 'infinity'::timestamptz", new(time.Time)}, {"SELECT 1", new(struct{})},
	} {
		require.Error(t, db.QueryRow(ctx, c.text).Scan(c.dest), c.text)
	}
	_, err := db.Exec(ctx, "SELECT $1::int", struct{}{})
	require.ErrorContains(t, err, "argument $1")
}
