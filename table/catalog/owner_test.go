package catalog

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn"
)

// Finding the tables of indexes goes through the tables of the database once, however many indexes
// there are to be found, and again only when the schema has changed.
func TestOwnersAreFoundByOneWalk(t *testing.T) {
	f := memory(t)
	var made []*table.Desc
	for i := range 50 {
		made = append(made, f.simple(fmt.Sprintf("t%d", i)))
	}
	find := func(v *View) {
		for range 3 {
			for _, d := range made {
				found, err := v.Owner(f.ctx, PostgresID, d.Indexes[0].OID)
				require.NoError(t, err)
				require.Equal(t, d.Name, found.Name)
			}
		}
	}
	f.must(func(_ *txn.Txn, v *View) error {
		for _, d := range made {
			if err := v.CreateRelation(f.ctx, d); err != nil {
				return err
			}
		}
		find(v) // in the transaction that made them
		return nil
	})
	require.Equal(t, int64(1), f.cat.Walks())
	for range 3 {
		f.must(func(_ *txn.Txn, v *View) error {
			find(v)
			return nil
		})
	}
	require.Equal(t, int64(2), f.cat.Walks())
}
