package advance

import (
	"bytes"
	"context"
	"fmt"
	"math"

	"github.com/minidb/minidb/planner/incremental"
	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/codec"
	"github.com/minidb/minidb/table/types"
)

// Verify compares the rows of a view with those of its query, and its states with what they are
// computed from, as env.Before reads all of them. p is from incremental.View.CompileCheck. report
// gets each difference.
func Verify(ctx context.Context, env *exec.Env, p *incremental.Program, view *table.Desc,
	report func(string)) error {
	r := newRunner(env)
	defer r.held.Release()
	for i, st := range p.Stages {
		v := &verifier{runner: r, report: func(format string, args ...any) {
			report(fmt.Sprintf("state %d: ", i+1) + fmt.Sprintf(format, args...))
		}}
		if err := v.stage(ctx, st); err != nil {
			return err
		}
		r.held.Release()
	}
	v := &verifier{runner: r, report: func(format string, args ...any) {
		report(fmt.Sprintf(format, args...))
	}}
	return v.rows(ctx, p, view)
}

type verifier struct {
	*runner
	report func(format string, args ...any)
}

// stored calls fn with the rows of a relation of the view.
func (v *verifier) stored(ctx context.Context, d *table.Desc,
	fn func(row []types.Datum) error) error {
	return catalog.Rows(ctx, v.env.Before.Views, d, fn)
}

// rows verifies the rows of the view and their keys.
func (v *verifier) rows(ctx context.Context, p *incremental.Program, view *table.Desc) error {
	m := newMultiset(v.runner, view)
	if err := v.run(ctx, p.All, m.add); err != nil {
		return err
	}
	last := map[imageHash]int64{}
	err := v.stored(ctx, view, func(row []types.Datum) error {
		kept := append([]types.Datum(nil), row...)
		if err := m.add(kept[:m.visible:m.visible], -1); err != nil {
			return err
		}
		hash := m.hash()
		if hash != imageHash([]byte(row[m.visible].S)) || row[m.visible+1].I != last[hash] {
			v.report("row %s has a wrong key", table.FormatRow(view, row))
		}
		last[hash]++
		return nil
	})
	if err != nil {
		return err
	}
	for i := range m.order {
		switch w := &m.order[i]; {
		case w.weight > 0:
			v.report("row %s of the query is missing, %d times", table.FormatRow(view,
				m.whole(w, 0)), w.weight)
		case w.weight < 0:
			v.report("row %s is not a row of the query, %d times", table.FormatRow(view,
				m.whole(w, 0)), -w.weight)
		}
	}
	return nil
}

// stage verifies the groups of a stage, and their values.
func (v *verifier) stage(ctx context.Context, st *incremental.Stage) error {
	g := newGroups(v.runner, st)
	g.whole = true
	if err := v.run(ctx, st.All, g.add); err != nil {
		return err
	}
	if st.Keys == 0 {
		if _, err := g.group(nil); err != nil {
			return err
		}
	}
	expected := len(g.order)
	seen := map[*group]bool{}
	err := v.stored(ctx, st.State, func(row []types.Datum) error {
		to, err := g.group(append([]types.Datum(nil), row[:st.Keys]...))
		if err != nil {
			return err
		}
		seen[to] = true
		return v.group(g, to, row)
	})
	if err != nil {
		return err
	}
	for _, to := range g.order[:expected] {
		if !seen[to] {
			v.report("a group is missing: %s", v.keys(g, to))
		}
	}
	for n, d := range st.Values {
		if err := v.values(ctx, g, n, d); err != nil {
			return err
		}
	}
	return nil
}

// keys is the text of a group's keys.
func (v *verifier) keys(g *groups, to *group) string {
	row := g.empty()
	copy(row, to.keys)
	return table.FormatRow(g.stage.State, row)
}

// group compares a stored group with what it is computed to be.
func (v *verifier) group(g *groups, to *group, row []types.Datum) error {
	now, err := g.computed(to)
	if err != nil {
		return err
	}
	if now == nil {
		v.report("a group has no rows: %s", v.keys(g, to))
		return nil
	}
	for i := range row[:g.stage.Keys+len(g.stage.Aggs)] {
		if !alike(g.stage.State.Columns[i].Type, row[i], now[i]) {
			v.report("group %s is computed as %s", table.FormatRow(g.stage.State, row),
				table.FormatRow(g.stage.State, now))
			return nil
		}
	}
	same, err := v.sameStates(g, row, now)
	if err == nil && !same {
		v.report("group %s has the state %x, which is computed as %x",
			table.FormatRow(g.stage.State, row), row[len(row)-1].S, now[len(now)-1].S)
	}
	return err
}

// sameStates compares the states of two rows, but for which of equal values min and max have.
func (v *verifier) sameStates(g *groups, a, b []types.Datum) (bool, error) {
	rows, of, err := g.states(a)
	if err != nil {
		return false, err
	}
	rowsNow, now, err := g.states(b)
	if err != nil || rows != rowsNow {
		return false, err
	}
	for i := range of {
		of[i].best, now[i].best = types.Null, types.Null
		x, err := appendState(nil, &g.stage.Aggs[i], &of[i])
		if err != nil {
			return false, err
		}
		y, err := appendState(nil, &g.stage.Aggs[i], &now[i])
		if err != nil || !bytes.Equal(x, y) {
			return false, err
		}
	}
	return true, nil
}

// alike reports whether two values are equal, or floats that differ by the order of additions.
func alike(t *types.Type, a, b types.Datum) bool {
	if a.Null || b.Null {
		return a.Null == b.Null
	}
	if t.Family == types.Float && math.Abs(a.F-b.F) <= 1e-9*max(math.Abs(a.F), math.Abs(b.F)) {
		return true
	}
	return types.Compare(t, a, b) == 0
}

// values verifies how often each value of an argument of min and max is there.
func (v *verifier) values(ctx context.Context, g *groups, n int, d *table.Desc) error {
	left := map[string]int64{}
	key := func(keys []types.Datum, field string) (string, error) {
		if _, err := g.group(keys); err != nil {
			return "", err
		}
		return string(g.key) + "\x00" + field, nil
	}
	for _, to := range g.order {
		for i := range g.stage.Aggs {
			a := &g.stage.Aggs[i]
			if !a.Kind.Ordered() || a.Values != n {
				continue
			}
			for field, value := range to.parts[i].values {
				k, err := key(to.keys, field)
				if err != nil {
					return err
				}
				left[k] = value.weight
			}
		}
	}
	err := v.stored(ctx, d, func(row []types.Datum) error {
		field, err := codec.EncodeValue(d.Columns[g.stage.Keys].Type, row[g.stage.Keys])
		if err != nil {
			return err
		}
		k, err := key(append([]types.Datum(nil), row[:g.stage.Keys]...), string(field))
		if err != nil {
			return err
		}
		if left[k] != row[len(row)-1].I {
			v.report("value %s is there %d times", table.FormatRow(d, row), left[k])
		}
		delete(left, k)
		return nil
	})
	for range left {
		v.report("a value is missing")
	}
	return err
}
