package sql

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// TestOnlyWhatEndsAStatementCancelsIt: a limit inside that ran out is not the client's wish.
func TestOnlyWhatEndsAStatementCancelsIt(t *testing.T) {
	running := context.Background()
	ended, cancel := context.WithCancelCause(running)
	cancel(errCanceledByUser)
	for _, c := range []struct {
		ctx  context.Context
		err  error
		code string
	}{
		{ended, context.Canceled, sqlerr.QueryCanceled},
		{ended, kv.NotApplied(context.Canceled), sqlerr.QueryCanceled},
		{running, kv.NotApplied(context.DeadlineExceeded), sqlerr.CannotConnectNow},
		{running, kv.ErrUnavailable, sqlerr.CannotConnectNow},
		{running, fmt.Errorf("%w: %v", tso.ErrUnavailable, errors.New("refused")),
			sqlerr.CannotConnectNow},
	} {
		var e *sqlerr.Error
		require.ErrorAs(t, toSQL(c.ctx, c.err), &e)
		require.Equal(t, c.code, e.Code, "%v", c.err)
	}
}
