package sql_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
)

// Nothing of a locking clause is silently left out: what cannot be locked is refused.
func TestLockingClausesLockOrRefuse(t *testing.T) {
	s := newSession(t, newEngine(t))
	run := func(text string) *sqlerr.Error {
		err := s.Query(context.Background(), text, &transcript{s: s})
		var e *sqlerr.Error
		if err != nil {
			require.True(t, errors.As(err, &e), "%v", err)
		}
		return e
	}
	require.Nil(t, run("CREATE TABLE t(id int PRIMARY KEY); INSERT INTO t VALUES (1); CREATE VIEW v AS SELECT * FROM t"))
	require.Nil(t, run("SELECT * FROM t, (SELECT 1) q FOR UPDATE OF t"))
	require.Nil(t, run("SELECT * FROM t FOR UPDATE SKIP LOCKED"))
	require.Nil(t, run("CREATE VIEW few AS SELECT DISTINCT id FROM t"))
	require.Nil(t, run("SELECT * FROM v FOR UPDATE"))
	require.Nil(t, run("SELECT * FROM (SELECT * FROM t) x FOR SHARE"))
	for text, pos := range map[string]int{
		"SELECT * FROM few FOR UPDATE":                         19,
		"SELECT * FROM (SELECT * FROM t LIMIT 1) x FOR SHARE":  43,
		"SELECT * FROM t, (SELECT 1) q FOR UPDATE OF q":        45,
		"SELECT * FROM (t a JOIN t b USING (id)) j FOR UPDATE": 43,
	} {
		e := run(text)
		require.NotNil(t, e, text)
		require.Equal(t, sqlerr.FeatureNotSupported, e.Code, text)
		require.Equal(t, pos, e.Position, text)
	}
	e := run("BEGIN READ ONLY; SELECT * FROM t FOR NO KEY UPDATE")
	require.NotNil(t, e)
	require.Equal(t, "cannot execute SELECT FOR NO KEY UPDATE in a read-only transaction", e.Message)
}
