package minidb_test

import (
	"context"
	"testing"
	"time"

	"github.com/minidb/minidb"
	"github.com/stretchr/testify/require"
)

// TestMomentsInParameters: the moment of AS OF SYSTEM TIME may come with the statement's execution,
// over the wire, through the embedded handle and by EXECUTE.
func TestMomentsInParameters(t *testing.T) {
	ctx, p := context.Background(), openPast(t)
	wire := p.connect()
	p.run("CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t VALUES (1, 'old')")
	var exact int64
	require.NoError(t, p.QueryRow(ctx, "SELECT minidb_last_commit_timestamp()").Scan(&exact))
	then := p.moment()
	p.run("UPDATE t SET v = 'new'")
	later := p.moment()

	std := minidb.OpenSQL(p.db)
	defer func() { require.NoError(t, std.Close()) }()
	scan := map[string]func(text string, args ...any) (string, error){
		"embedded": func(text string, args ...any) (v string, err error) {
			return v, p.QueryRow(ctx, text, args...).Scan(&v)
		},
		"database/sql": func(text string, args ...any) (v string, err error) {
			return v, std.QueryRowContext(ctx, text, args...).Scan(&v)
		},
		"wire": func(text string, args ...any) (v string, err error) {
			return v, wire.QueryRow(ctx, text, args...).Scan(&v)
		},
	}
	for name, query := range scan {
		for _, at := range []struct {
			moment string
			arg    any
			want   string
		}{
			{"$1", then, "old"}, {"$1::bigint", exact,
				"old"}, {"$1::timestamptz + interval '-1 us'", then, "old"},
			{"$1::interval", "-0.000001s", "new"}, {"$1::text", "-0.000001s", "new"},
		} {
			v, err := query("SELECT v FROM t AS OF SYSTEM TIME "+at.moment, at.arg)
			require.NoError(t, err, "%s: %s", name, at.moment)
			require.Equal(t, at.want, v, "%s: %s", name, at.moment)
			v, err = query("SELECT v FROM t AS OF SYSTEM TIME "+at.moment+" WHERE id = $2", at.arg,
				1)
			require.NoError(t, err, "%s: %s", name, at.moment)
			require.Equal(t, at.want, v, "%s: %s", name, at.moment)
		}
		for _, arg := range []any{time.Now().Add(time.Hour), nil} {
			_, err := query("SELECT v FROM t AS OF SYSTEM TIME $1", arg)
			require.Equal(t, "22023", state(err), name)
		}
		v, err := query("SELECT v FROM t")
		require.NoError(t, err)
		require.Equal(t, "new", v, "the next statement reads the present")
	}

	// A statement that is prepared once reads each time at the timestamp of its parameter.
	var v string
	for _, at := range []struct {
		moment any
		want   string
	}{{then, "old"}, {later, "new"}, {then, "old"}} {
		require.NoError(t, wire.QueryRow(ctx, "SELECT v FROM t AS OF SYSTEM TIME $1",
			at.moment).Scan(&v))
		require.Equal(t, at.want, v)
	}
	p.run("PREPARE p AS SELECT v FROM t AS OF SYSTEM TIME $1")
	text := "EXECUTE p('" + then.Format(time.RFC3339Nano) + "')"
	require.Equal(t, "old", p.value(text))
	require.Contains(t, p.value("EXPLAIN "+text), "Scan")
}
