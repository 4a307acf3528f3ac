package pgwire

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/types"
)

// TestAPanicInAMessageLeavesNoHalfOfIt: a value that cannot be written ends the connection with an
// error that the client can read.
func TestAPanicInAMessageLeavesNoHalfOfIt(t *testing.T) {
	var sent bytes.Buffer
	o := &output{w: &sent}
	o.complete("SELECT 1")
	whole := len(o.buf)
	b := types.NewBatch([]*types.Type{types.TInt4, types.ArrayOf(types.TInt4)})
	b.AppendRow([]types.Datum{types.NewInt(1), {}}) // an array that is neither there nor NULL
	require.Panics(t, func() { _ = o.rows(b, 0, 1, nil, &types.Format{}) })
	require.Greater(t, len(o.buf), whole)
	o.abandon()
	require.Len(t, o.buf, whole)
	o.abandon()
	o.error(sqlerr.New(sqlerr.InternalError, "internal error"), "FATAL", "")
	require.Equal(t, byte('E'), o.buf[whole])
}
