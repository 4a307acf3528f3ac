package eval

import (
	"bufio"
	"os"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// The lines of testdata/aggregates have an aggregate, its argument types, its rows, and the result
// of PostgreSQL 15.18.
func TestAggregatesAgreeWithPostgreSQL(t *testing.T) {
	f, err := os.Open("testdata/aggregates/basic.txt")
	require.NoError(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		text, want, ok := strings.Cut(lines.Text(), " => ")
		if !ok {
			continue
		}
		if got := aggregateText(text); got != want {
			t.Errorf("line %d: %s\n  want %s\n  got  %s", n, text, want, got)
		}
	}
}

func aggregateText(text string) string {
	parts := strings.SplitN(text, "|", 3)
	name := strings.TrimSpace(parts[0])
	var ts []*types.Type
	for _, n := range strings.Split(strings.TrimSpace(parts[1]), ",") {
		elem, array := strings.CutSuffix(n, "[]")
		t, _ := types.ByName(elem)
		if array {
			t = types.ArrayOf(t)
		}
		ts = append(ts, t)
	}
	var rows [][]types.Datum
	if list := strings.TrimSpace(parts[2]); list != "" {
		for _, r := range strings.Split(list, ";") {
			fields := []string{strings.TrimSpace(r)}
			if len(ts) > 1 {
				fields = strings.SplitN(fields[0], ",", len(ts))
			}
			var row []types.Datum
			for i, f := range fields {
				if f == "NULL" {
					row = append(row, types.Null)
					continue
				}
				d, err := types.ParseText(ts[i], f, &types.DefaultFormat)
				if err != nil {
					return showError(err)
				}
				row = append(row, d)
			}
			rows = append(rows, row)
		}
	}
	a, targets, err := builtin.ResolveAggregate(name, ts)
	if err != nil {
		return showError(err)
	}
	for _, row := range rows {
		for i := range row {
			if row[i], err = types.Cast(row[i], ts[i], targets[i], false, nil); err != nil {
				return showError(err)
			}
		}
	}
	if a.WithinGroup {
		last := len(targets) - 1
		sort.SliceStable(rows, func(i, j int) bool {
			return types.Compare(targets[last], rows[i][last], rows[j][last]) < 0
		})
	}
	result := builtin.AggregateType(a, targets)
	one := accumulate(a, targets, result, rows)
	if g := accumulateGrouped(a, targets, rows); g != one {
		return "accumulator " + one + ", grouped " + g
	}
	return one
}

func accumulate(a *expr.Aggregate, ts []*types.Type, result *types.Type,
	rows [][]types.Datum) string {
	rt := testRuntime()
	rt.ArgTypes = ts
	acc := a.New(ts)
next:
	for _, row := range rows {
		for _, d := range row {
			if d.Null && a.Strict {
				continue next
			}
		}
		if err := acc.Add(rt, row); err != nil {
			return showError(err)
		}
	}
	d, err := acc.Result(rt)
	if err != nil {
		return showError(err)
	}
	return showDatum(result, d)
}

// accumulateGrouped adds the rows to group 1 of three, in two batches.
func accumulateGrouped(a *expr.Aggregate, ts []*types.Type, rows [][]types.Datum) string {
	rt := testRuntime()
	g := builtin.NewGrouped(a, ts)
	for batch := range 2 {
		var vecs []*types.Vec
		for _, t := range ts {
			vecs = append(vecs, types.NewVec(t, 4))
		}
		var sel, groups []int32
		for i := batch * len(rows) / 2; i < (batch+1)*len(rows)/2; i++ {
			for k, v := range vecs {
				v.Append(types.Null) // a row that is not selected
				v.Append(rows[i][k])
			}
			sel, groups = append(sel, int32(vecs[0].Len-1)), append(groups, 1)
		}
		g.Grow(2 + batch)
		if err := g.Update(rt, groups, vecs, sel); err != nil {
			return showError(err)
		}
	}
	var out types.Vec
	if err := g.Results(rt, 1, 3, &out); err != nil {
		return showError(err)
	}
	return showDatum(out.Type, out.Get(0))
}
