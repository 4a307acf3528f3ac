package sql_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestASessionEndsWithWhatItLastsWith: statements do not descend from that context, and end with it
// all the same.
func TestASessionEndsWithWhatItLastsWith(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := newSession(t, newEngine(t))
	s.LastsWith(ctx)
	var n nowhere
	require.NoError(t, s.Query(ctx, "SELECT 1", &n))
	time.AfterFunc(20*time.Millisecond, cancel)
	require.Error(t, s.Query(ctx, "SELECT pg_sleep(5)", &n))
	require.Error(t, s.Query(ctx, "SELECT 1", &n))
	require.True(t, s.Terminated())
}
