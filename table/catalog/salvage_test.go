package catalog

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn"
)

// TestLostSequencesGoOnBehindTheirColumns salvages sequences whose positions cannot be read.
func TestLostSequencesGoOnBehindTheirColumns(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		sequence table.Sequence
		seen     map[table.ID]seenValues
		last     int64 // of the salvaged position; 0: it begins anew
		lost     string
	}{
		"up": {table.Sequence{Increment: 1, Min: 1, Max: 100}, map[table.ID]seenValues{7: {3, 9}},
			9,
			"s: the position of the sequence cannot be read: it goes on behind 9, the highest " +
				"value in its column"},
		"down": {table.Sequence{Increment: -1, Min: -100, Max: -1},
			map[table.ID]seenValues{7: {-9, -3}}, -9,
			"s: the position of the sequence cannot be read: it goes on behind -9, the lowest " +
				"value in its column"},
		"beyond its bounds": {table.Sequence{Increment: -1, Min: -5, Max: -1},
			map[table.ID]seenValues{7: {-9, -3}}, 0,
			"s: the position of the sequence cannot be read: it begins anew"},
		"no rows": {table.Sequence{Increment: 1, Min: 1, Max: 100}, nil, 0,
			"s: the position of the sequence cannot be read: it begins anew"},
	} {
		t.Run(name, func(t *testing.T) {
			store, err := txn.Open(ctx, memkv.New(memkv.Options{}), txn.Options{})
			require.NoError(t, err)
			var lost []string
			s := &salvage{seen: c.seen, out: salvageWriter{store: store},
				opts: SalvageOptions{Lost: func(p Problem) { lost = append(lost, p.String()) }}}
			d := &table.Desc{ID: 7, Kind: table.KindSequence, Sequence: &c.sequence}
			require.NoError(t, s.lostSequence(ctx, salvagedRelation{name: "s", desc: d}))
			require.NoError(t, s.out.flush(ctx))
			require.Equal(t, []string{c.lost}, lost)
			tx, err := store.Begin(ctx, txn.BeginOptions{ReadOnly: true})
			require.NoError(t, err)
			value, err := tx.Get(ctx, sequenceKey(7, 0))
			require.NoError(t, err)
			var want []byte
			if c.last != 0 {
				want = position{last: c.last, called: true}.encode()
			}
			require.Equal(t, want, value)
			require.NoError(t, tx.Rollback(ctx))
			require.NoError(t, store.Close())
		})
	}
}
