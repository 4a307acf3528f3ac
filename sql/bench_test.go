package sql_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/table/types"
)

// nowhere is a result writer that drops everything.
type nowhere struct{ rows int }

func (n *nowhere) Describe([]physical.Column) error { return nil }
func (n *nowhere) Rows(_ *types.Batch, from, to int) error {
	n.rows += to - from
	return nil
}
func (n *nowhere) Complete(string) error { return nil }
func (n *nowhere) Empty() error          { return nil }
func (n *nowhere) Notice(*sql.Notice)    {}
func (n *nowhere) Mark()                 {}
func (n *nowhere) Rewind() bool          { return true }

func benchSession(b *testing.B) *sql.Session {
	s := newSession(b, newEngine(b))
	require.NoError(b, s.Query(context.Background(), "CREATE TABLE t (id int PRIMARY KEY, v text)",
		&nowhere{}))
	require.NoError(b, s.Query(context.Background(),
		"INSERT INTO t SELECT g, 'v' || g FROM generate_series(1, 1000) g", &nowhere{}))
	return s
}

func BenchmarkPointSelectPrepared(b *testing.B) {
	ctx, s := context.Background(), benchSession(b)
	ps, err := s.Prepare(ctx, "q", "SELECT v FROM t WHERE id = $1", nil, nil)
	require.NoError(b, err)
	require.NoError(b, s.Sync(ctx))
	n := &nowhere{}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		p, err := s.Bind(ctx, "", ps, []types.Datum{types.NewInt(int64(i%1000 + 1))})
		require.NoError(b, err)
		_, err = s.Execute(ctx, p, 0, n)
		require.NoError(b, err)
		require.NoError(b, s.Sync(ctx))
	}
}

func BenchmarkPointSelectSimple(b *testing.B) {
	ctx, s := context.Background(), benchSession(b)
	n := &nowhere{}
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, s.Query(ctx, "SELECT v FROM t WHERE id = 17", n))
	}
}

func BenchmarkUpdatePrepared(b *testing.B) {
	ctx, s := context.Background(), benchSession(b)
	ps, err := s.Prepare(ctx, "q", "UPDATE t SET v = $2 WHERE id = $1", nil, nil)
	require.NoError(b, err)
	require.NoError(b, s.Sync(ctx))
	n := &nowhere{}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		p, err := s.Bind(ctx, "", ps,
			[]types.Datum{types.NewInt(int64(i%1000 + 1)), types.NewString("x")})
		require.NoError(b, err)
		_, err = s.Execute(ctx, p, 0, n)
		require.NoError(b, err)
		require.NoError(b, s.Sync(ctx))
	}
}
