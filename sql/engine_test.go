package sql_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql"
)

// A session that begins a long statement while the engine closes must not hold the closing up.
func TestNoStatementRunsOnAClosedEngine(t *testing.T) {
	e := newEngine(t)
	s := newSession(t, e)
	require.NoError(t, s.Query(context.Background(), "BEGIN", &transcript{s: s}))
	e.Close()
	err := s.Query(context.Background(), "SELECT pg_sleep(3600)", &transcript{s: s})
	var se *sqlerr.Error
	require.True(t, errors.As(err, &se), "%v", err)
	require.Equal(t, sqlerr.AdminShutdown, se.Code)
	_, err = e.NewSession(context.Background(), sql.SessionOptions{User: "postgres"})
	require.Error(t, err)
}
