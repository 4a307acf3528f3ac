package table_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn"
)

// TestPiecesAreTheWholeTable: each begins where the one before ends, and together they have the
// rows in their order, also those whose keys are far apart.
func TestPiecesAreTheWholeTable(t *testing.T) {
	ctx := context.Background()
	d := memory(t)
	desc := d.create(wide())
	fillMany(t, d, desc)
	tx, err := d.store.Begin(ctx, txn.BeginOptions{ReadOnly: true})
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(ctx) }()
	whole := d.scan(tx, table.ScanSpec{Desc: desc, Out: []int{0, 2},
		Spans: []kv.Span{desc.IndexSpan(table.RowIndexID)}})
	for _, n := range []int{1, 2, 7, 1000} {
		p, err := table.RowPieces(ctx, tx, desc, n)
		require.NoError(t, err)
		require.Equal(t, n, p.Len())
		var spans []kv.Span
		for i := range n {
			s, err := p.Span(i)
			require.NoError(t, err)
			if i > 0 {
				require.Equal(t, spans[i-1].End, s.Start)
			}
			spans = append(spans, s)
		}
		require.Equal(t, whole, d.scan(tx, table.ScanSpec{Desc: desc, Out: []int{0, 2},
			Spans: spans}))
	}
}
