package advance

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// valueStore is the relation with the values of an argument of min or max: in each group they are
// in order, each with the number of rows that have it.
type valueStore struct {
	*runner
	desc   *table.Desc
	writer *table.Writer
	keys   int // columns of the group
}

func newValueStore(r *runner, d *table.Desc, keys int) *valueStore {
	return &valueStore{runner: r, desc: d, writer: table.NewWriter(d, r.env.RowIDs), keys: keys}
}

// apply adds to the numbers of rows.
func (v *valueStore) apply(ctx context.Context, keys []types.Datum,
	changed map[string]*valueWeight) error {
	for field, c := range changed {
		if c.weight == 0 {
			continue
		}
		row := make([]types.Datum, len(v.desc.Columns))
		copy(row, keys)
		row[v.keys] = c.value
		if last := len(row) - 1; last > v.keys+1 {
			image := sha256.Sum256([]byte(field))
			row[last-1] = types.NewString(string(image[:len(imageHash{})]))
		}
		if err := v.count(ctx, row, c.weight); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// count adds to the number of rows with a value.
func (v *valueStore) count(ctx context.Context, row []types.Datum, weight int64) error {
	tx, last := v.env.Tx, len(row)-1
	old := make([]types.Datum, len(row))
	found, err := v.writer.Find(ctx, tx, row, old)
	if err != nil {
		return err
	}
	if !found {
		old[last] = types.NewInt(0)
	}
	row[last] = types.NewInt(old[last].I + weight)
	switch {
	case row[last].I < 0:
		return fmt.Errorf("view %q: a value of a group is there %d times: %w", v.desc.Name,
			row[last].I, kv.ErrCorruption)
	case row[last].I == 0:
		return v.writer.Delete(ctx, tx, old)
	case !found:
		return v.writer.Insert(ctx, tx, row)
	}
	copy(row[:last], old) // of equal keys the first that came
	return v.writer.Update(ctx, tx, old, row)
}

// extreme returns the least or the greatest value of a group; NULL when there is none.
func (v *valueStore) extreme(ctx context.Context, keys []types.Datum, greatest bool) (types.Datum,
	error) {
	spans, err := table.Spans(v.desc, nil, []table.Range{{Eq: keys}}, greatest)
	if err != nil {
		return types.Null, err
	}
	return v.first(ctx, v.desc, v.keys, spans, greatest)
}
