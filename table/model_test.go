package table_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// modelDesc has one of each kind of index: unique over two columns, descending, covering, NULLs not
// distinct, over a type whose keys are not exact.
func modelDesc() *table.Desc {
	return &table.Desc{
		Name: "m", NextColumnID: 6, NextIndexID: 7,
		Columns: []table.Column{
			{ID: 1, Name: "id", Type: types.TInt4, NotNull: true},
			{ID: 2, Name: "a", Type: types.TInt8},
			{ID: 3, Name: "b", Type: types.TText},
			{ID: 4, Name: "c", Type: types.TNumeric},
			{ID: 5, Name: "d", Type: types.TInt4},
		},
		RowKey: []table.IndexColumn{{ColumnID: 1}},
		Indexes: []table.Index{
			{ID: table.RowIndexID, Name: "m_pkey", Unique: true, Primary: true, Constraint: true,
				Columns: []table.IndexColumn{{ColumnID: 1}}},
			{ID: 2, Name: "m_a_b_key", Unique: true, Constraint: true,
				Columns: []table.IndexColumn{{ColumnID: 2}, {ColumnID: 3}}},
			{ID: 3, Name: "m_b_idx",
				Columns: []table.IndexColumn{{ColumnID: 3, Desc: true, NullsFirst: true}}},
			{ID: 4, Name: "m_a_idx", Columns: []table.IndexColumn{{ColumnID: 2, NullsFirst: true}},
				Include: []table.ColumnID{4}},
			{ID: 5, Name: "m_d_key", Unique: true, NullsNotDistinct: true,
				Columns: []table.IndexColumn{{ColumnID: 5}}},
			{ID: 6, Name: "m_c_idx",
				Columns: []table.IndexColumn{{ColumnID: 4}, {ColumnID: 2, Desc: true}}},
		},
	}
}

type model struct {
	rows map[int64][]types.Datum
	rnd  *rand.Rand
}

func (m *model) row() []types.Datum {
	maybe := func(d types.Datum) types.Datum {
		if m.rnd.IntN(5) == 0 {
			return types.Null
		}
		return d
	}
	dec, err := types.ParseNumeric([]string{"1.0", "1.00", "-2.5", "0",
		"12345678901234567890"}[m.rnd.IntN(5)])
	if err != nil {
		panic(err)
	}
	return []types.Datum{
		types.NewInt(m.rnd.Int64N(60)), maybe(types.NewInt(m.rnd.Int64N(8))),
		maybe(types.NewString([]string{"", "x", "x\x00y", "ä", "longer text"}[m.rnd.IntN(5)])),
		maybe(types.NewDecimal(dec)), maybe(types.NewInt(m.rnd.Int64N(50))),
	}
}

func sameKey(a, b []types.Datum, cols []int, nullsEqual bool) bool {
	for _, c := range cols {
		if a[c].Null || b[c].Null {
			if !nullsEqual || a[c].Null != b[c].Null {
				return false
			}
			continue
		}
		if a[c].I != b[c].I || a[c].S != b[c].S {
			return false
		}
	}
	return true
}

// violated names a constraint that row would break, leaving out the row with key skip.
func (m *model) violated(row []types.Datum, skip int64) []string {
	var out []string
	for id, r := range m.rows {
		if id == skip {
			continue
		}
		if id == row[0].I {
			out = append(out, "m_pkey")
		}
		if sameKey(r, row, []int{1, 2}, false) {
			out = append(out, "m_a_b_key")
		}
		if sameKey(r, row, []int{4}, true) {
			out = append(out, "m_d_key")
		}
	}
	return out
}

func (m *model) any() []types.Datum {
	ids := make([]int64, 0, len(m.rows))
	for id := range m.rows {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return m.rows[ids[m.rnd.IntN(len(ids))]]
}

func TestRandomWritesAgreeWithAModel(t *testing.T) {
	variants(t, func(t *testing.T, d *db) {
		desc := d.create(modelDesc())
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		m := &model{rows: map[int64][]types.Datum{}, rnd: rand.New(rand.NewPCG(seed, 1))}
		for range 60 {
			before := make(map[int64][]types.Datum, len(m.rows))
			for k, v := range m.rows {
				before[k] = v
			}
			errAbort := errors.New("abort")
			err := d.run(func(tx *txn.Txn) error {
				w := table.NewWriter(desc, d.cat)
				for range 1 + m.rnd.IntN(12) {
					m.step(t, tx, w)
				}
				if m.rnd.IntN(4) == 0 {
					return errAbort
				}
				return nil
			})
			if err != nil {
				require.ErrorIs(t, err, errAbort)
				m.rows = before
			}
			m.compare(d, desc)
		}
		d.check()
	})
}

// step does one random write, in the model and in the table, and compares the results.
func (m *model) step(t *testing.T, tx *txn.Txn, w *table.Writer) {
	ctx := context.Background()
	sp := tx.Savepoint()
	row := m.row()
	expect := func(err error, broken []string) bool {
		if len(broken) == 0 {
			require.NoError(t, err)
			return true
		}
		var se *sqlerr.Error
		require.ErrorAs(t, err, &se)
		require.Equal(t, sqlerr.UniqueViolation, se.Code)
		require.Contains(t, broken, se.Constraint)
		tx.RollbackTo(sp)
		return false
	}
	switch op := m.rnd.IntN(4); {
	case op <= 1 || len(m.rows) == 0:
		_, _, found, err := w.Conflict(ctx, tx, row, nil)
		require.NoError(t, err)
		broken := m.violated(row, -1)
		require.Equal(t, len(broken) > 0, found, "%v", row)
		if expect(w.Insert(ctx, tx, row), broken) {
			m.rows[row[0].I] = row
		}
	case op == 2:
		old := m.any()
		if m.rnd.IntN(2) == 0 {
			row[0] = old[0]
		}
		if expect(w.Update(ctx, tx, old, row), m.violated(row, old[0].I)) {
			delete(m.rows, old[0].I)
			m.rows[row[0].I] = row
		}
	default:
		old := m.any()
		require.NoError(t, w.Delete(ctx, tx, old))
		delete(m.rows, old[0].I)
	}
}

func show(desc *table.Desc, rows [][]types.Datum) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = table.FormatRow(desc, r)
	}
	return out
}

// compare reads the table by every index, both ways, covering or not.
func (m *model) compare(d *db, desc *table.Desc) {
	var want [][]types.Datum
	for _, r := range m.rows {
		want = append(want, r)
	}
	sorted := show(desc, want)
	slices.Sort(sorted)
	all := []int{0, 1, 2, 3, 4}
	d.must(func(tx *txn.Txn) error {
		for i := range desc.Indexes {
			ix := &desc.Indexes[i]
			var orders [2][]string
			for j, reverse := range []bool{false, true} {
				spans, err := table.Spans(desc, ix, nil, reverse)
				require.NoError(d.t, err)
				rows := show(desc,
					d.scan(tx, table.ScanSpec{Desc: desc, Index: ix, Out: all, Spans: spans,
						Reverse: reverse, BatchRows: 7}))
				orders[j] = slices.Clone(rows)
				slices.Sort(rows)
				require.Equal(d.t, len(sorted), len(rows), "index %s", ix.Name)
				if len(rows) > 0 {
					require.Equal(d.t, sorted, rows, "index %s", ix.Name)
				}
			}
			slices.Reverse(orders[1])
			require.Equal(d.t, orders[0], orders[1], "index %s backwards", ix.Name)
		}
		m.ranges(d, tx, desc)
		return nil
	})
}

// ranges compares random sections of an index with the model.
func (m *model) ranges(d *db, tx *txn.Txn, desc *table.Desc) {
	for range 5 {
		ix := desc.Index(table.IndexID(3 + m.rnd.IntN(2)))
		o := desc.ColumnByID(ix.Columns[0].ColumnID)
		less := func(a, b types.Datum) bool { return a.I < b.I || a.I == b.I && a.S < b.S }
		var lo, hi *types.Datum
		if v := m.row()[o]; !v.Null && m.rnd.IntN(3) > 0 {
			lo = &v
		}
		if v := m.row()[o]; !v.Null && m.rnd.IntN(3) > 0 {
			hi = &v
		}
		r := table.Range{Low: lo, High: hi, LowIncl: m.rnd.IntN(2) == 0,
			HighIncl: m.rnd.IntN(2) == 0}
		var want []string
		for _, row := range m.rows {
			v := row[o]
			in := lo == nil && hi == nil || !v.Null
			in = in && (lo == nil || less(*lo, v) || r.LowIncl && !less(v, *lo))
			in = in && (hi == nil || less(v, *hi) || r.HighIncl && !less(*hi, v))
			if in {
				want = append(want, fmt.Sprint(row[0].I))
			}
		}
		spans, err := table.Spans(desc, ix, []table.Range{r}, false)
		require.NoError(d.t, err)
		var got []string
		for _, row := range d.scan(tx,
			table.ScanSpec{Desc: desc, Index: ix, Out: []int{0}, Spans: spans}) {
			got = append(got, fmt.Sprint(row[0].I))
		}
		slices.Sort(want)
		slices.Sort(got)
		require.Equal(d.t, want, got, "index %s, range %+v", ix.Name, r)
	}
}
