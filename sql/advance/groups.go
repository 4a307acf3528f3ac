package advance

import (
	"bytes"
	"context"
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/planner/incremental"
	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/codec"
	"github.com/minidb/minidb/table/types"
)

// groups collects what a delta does to the groups of a stage, and applies it to the state relation.
type groups struct {
	*runner
	stage  *incremental.Stage
	writer *table.Writer
	byKey  map[string]*group
	order  []*group
	key    []byte
	// whole means that the rows are all those of their groups, not changes of them.
	whole  bool
	values []*valueStore
	// distinct is the number of values of min and max that are held.
	distinct int
	// rereads means that one of the aggregates is always computed from all rows of a group.
	rereads bool
}

// group is what becomes of a group.
type group struct {
	keys   []types.Datum
	weight int64 // of its rows
	gone   bool  // rows of it went
	parts  []part
	old    []types.Datum // its row in the state relation, nil: there is none
}

func newGroups(r *runner, st *incremental.Stage) *groups {
	g := &groups{runner: r, stage: st, writer: table.NewWriter(st.State, r.env.RowIDs),
		byKey: map[string]*group{}}
	for _, d := range st.Values {
		g.values = append(g.values, newValueStore(r, d, st.Keys))
	}
	for i := range st.Aggs {
		g.rereads = g.rereads || st.Aggs[i].Kind == incremental.Reread
	}
	return g
}

// groupBytes is about the memory of a group beside its keys, partBytes that of an aggregate, and
// valueBytes that of a value of min and max beside the value.
const (
	groupBytes = 200
	partBytes  = 200
	valueBytes = 120
)

// group returns the group with the keys.
func (g *groups) group(keys []types.Datum) (*group, error) {
	var err error
	g.key = g.key[:0]
	for i, d := range keys {
		t := g.stage.State.Columns[i].Type
		if g.key, err = codec.AppendKey(g.key, t, d, false, false); err != nil {
			return nil, err
		}
	}
	if found := g.byKey[string(g.key)]; found != nil {
		return found, nil
	}
	size := groupBytes + partBytes*int64(len(g.stage.Aggs)) + types.RowSize(keys)
	if err := g.held.Grow(size); err != nil {
		return nil, err
	}
	added := &group{keys: keys, parts: make([]part, len(g.stage.Aggs))}
	g.byKey[string(g.key)] = added
	g.order = append(g.order, added)
	return added, nil
}

// add adds a row: the keys of its group, then the arguments of the aggregates.
func (g *groups) add(row []types.Datum, weight int64) error {
	to, err := g.group(row[:g.stage.Keys:g.stage.Keys])
	if err != nil {
		return err
	}
	to.weight += weight
	to.gone = to.gone || weight < 0
	for i := range to.parts {
		a, p := &g.stage.Aggs[i], &to.parts[i]
		switch {
		case a.Kind == incremental.Reread:
			if g.whole {
				had := len(p.seen)
				err = p.accumulate(g.env.Runtime, a, row)
				if len(p.seen) > had && err == nil {
					err = g.held.Grow(valueBytes + row[a.Arg].ExtraSize())
				}
			}
		case a.Arg < 0:
			p.n += weight
		case !row[a.Arg].Null:
			had := len(p.values)
			err = p.add(a, row[a.Arg], weight)
			if n := len(p.values) - had; n > 0 && err == nil {
				g.distinct += n
				err = g.held.Grow(valueBytes + row[a.Arg].ExtraSize())
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// apply writes what becomes of the groups, and returns the delta of the state relation.
func (g *groups) apply(ctx context.Context) (*exec.Delta, error) {
	out := &exec.Delta{}
	var again []*group
	for _, to := range g.order {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		row, inexact, err := g.next(ctx, to)
		if err != nil {
			return nil, err
		}
		if inexact {
			again = append(again, to)
			continue
		}
		if err := g.put(ctx, to.old, row, out); err != nil {
			return nil, err
		}
	}
	return out, g.reread(ctx, again, out)
}

// next works out the row of a group: nil if the group is gone. inexact reports that the rows of the
// group have to be read again for that.
func (g *groups) next(ctx context.Context, to *group) (row []types.Datum, inexact bool, err error) {
	if to.old, err = g.find(ctx, to.keys); err != nil {
		return nil, false, err
	}
	rows, states, err := g.states(to.old)
	if err != nil {
		return nil, false, err
	}
	if rows += to.weight; rows < 0 {
		return nil, false, fmt.Errorf("view %q: a group has %d rows: %w", g.stage.State.Name, rows,
			kv.ErrCorruption)
	}
	if err := g.count(ctx, to); err != nil {
		return nil, false, err
	}
	if rows == 0 && g.stage.Keys > 0 {
		return nil, false, nil
	}
	if !g.whole && to.gone && g.stage.InexactKeys {
		return nil, true, nil
	}
	for i := range states {
		if g.whole && g.stage.Aggs[i].Kind == incremental.Reread {
			continue
		}
		again, err := states[i].apply(&g.stage.Aggs[i], &to.parts[i])
		if err == nil && again && g.stage.Aggs[i].Kind.Ordered() {
			states[i].best, err = g.extreme(ctx, to.keys, &g.stage.Aggs[i])
			again = false
		}
		if err != nil {
			return nil, false, err
		}
		inexact = inexact || again
	}
	if inexact {
		return nil, true, nil
	}
	row, err = g.row(to, rows, states)
	return row, false, err
}

// empty is a row of the state relation without values. A stage without key columns has one row,
// under a key of its own.
func (g *groups) empty() []types.Datum {
	row := make([]types.Datum, len(g.stage.State.Columns))
	for i := range row[:len(row)-1] {
		row[i] = types.Null
	}
	if g.stage.Keys == 0 {
		row[len(row)-2] = types.NewInt(0)
	}
	return row
}

// count adds what changes of the values of min and max to their relations. Two aggregates of one
// argument have one.
func (g *groups) count(ctx context.Context, to *group) error {
	for n, v := range g.values {
		for i := range g.stage.Aggs {
			if a := &g.stage.Aggs[i]; a.Kind.Ordered() && a.Values == n {
				if err := v.apply(ctx, to.keys, to.parts[i].values); err != nil {
					return err
				}
				break
			}
		}
	}
	return nil
}

// extreme looks the least or greatest value of a group up.
func (g *groups) extreme(ctx context.Context, keys []types.Datum,
	a *incremental.Aggregate) (types.Datum, error) {
	return g.values[a.Values].extreme(ctx, keys, a.Kind == incremental.Max)
}

// find reads the row of a group in the state relation.
func (g *groups) find(ctx context.Context, keys []types.Datum) ([]types.Datum, error) {
	key := g.empty()
	copy(key, keys)
	row := make([]types.Datum, len(key))
	found, err := g.writer.Find(ctx, g.env.Tx, key, row)
	if err != nil || !found {
		return nil, err
	}
	return row, nil
}

// states reads the number of rows of a group and the states of its aggregates.
func (g *groups) states(row []types.Datum) (rows int64, states []state, err error) {
	states = make([]state, len(g.stage.Aggs))
	if row == nil {
		for i := range states {
			states[i] = newState()
		}
		return 0, states, nil
	}
	r := stateReader{b: []byte(row[len(row)-1].S)}
	rows = r.varint()
	for i := range states {
		states[i] = r.state(&g.stage.Aggs[i])
	}
	return rows, states, r.err
}

// row makes the row of a group.
func (g *groups) row(to *group, rows int64, states []state) ([]types.Datum, error) {
	row := g.empty()
	copy(row, to.keys)
	if to.old != nil && !(g.whole && g.stage.InexactKeys) {
		copy(row, to.old[:g.stage.Keys]) // of equal keys the first that came
	}
	var err error
	b := appendVarints(nil, rows)
	for i := range states {
		a := &g.stage.Aggs[i]
		if row[g.stage.Keys+i], err = g.result(a, &to.parts[i], &states[i]); err != nil {
			return nil, err
		}
		if b, err = appendState(b, a, &states[i]); err != nil {
			return nil, err
		}
	}
	row[len(row)-1] = types.NewString(string(b))
	return row, nil
}

func (g *groups) result(a *incremental.Aggregate, p *part, s *state) (types.Datum, error) {
	if a.Kind != incremental.Reread {
		return s.result(a)
	}
	if p.accumulator == nil {
		p.accumulator = a.Func.New([]*types.Type{a.ArgType})
	}
	return p.accumulator.Result(g.env.Runtime)
}

// put writes the row of a group in the place of its old one; either may be nil.
func (g *groups) put(ctx context.Context, old, row []types.Datum, out *exec.Delta) error {
	visible := g.stage.Keys + len(g.stage.Aggs)
	tx := g.env.Tx
	switch {
	case old == nil && row == nil:
		return nil
	case old == nil:
		out.Add(row[:visible:visible], 1)
		return g.writer.Insert(ctx, tx, row)
	case row == nil:
		out.Add(old[:visible:visible], -1)
		return g.writer.Delete(ctx, tx, old)
	}
	same, err := g.same(old, row, len(row))
	if err != nil || same {
		return err
	}
	if same, err = g.same(old, row, visible); err != nil {
		return err
	}
	if !same {
		out.Add(old[:visible:visible], -1)
		out.Add(row[:visible:visible], 1)
	}
	return g.writer.Update(ctx, tx, old, row)
}

// same reports whether the first n columns of two rows are the same bytes in the store.
func (g *groups) same(a, b []types.Datum, n int) (bool, error) {
	for i := range n {
		t := g.stage.State.Columns[i].Type
		if a[i].Null || b[i].Null {
			if a[i].Null != b[i].Null {
				return false, nil
			}
			continue
		}
		x, err := codec.EncodeValue(t, a[i])
		if err != nil {
			return false, err
		}
		y, err := codec.EncodeValue(t, b[i])
		if err != nil || !bytes.Equal(x, y) {
			return false, err
		}
	}
	return true, nil
}

// reread computes groups from all of their rows, as they are after the delta.
func (g *groups) reread(ctx context.Context, again []*group, out *exec.Delta) error {
	if len(again) == 0 {
		return nil
	}
	fresh := newGroups(g.runner, g.stage)
	fresh.whole = true
	var keys [2]exec.Delta // without and with NULLs
	for _, to := range again {
		with := 0
		for _, d := range to.keys {
			if d.Null {
				with = 1
			}
		}
		keys[with].Add(to.keys, 1)
	}
	for i, plan := range []*incremental.Term{{Plan: g.stage.Groups}, {Plan: g.stage.AnyGroups}} {
		if len(keys[i].Rows) == 0 {
			continue
		}
		r := &runner{env: &exec.Env{}, held: g.held}
		*r.env = *g.env
		r.env.Deltas = map[table.ID]*exec.Delta{g.stage.State.ID: &keys[i]}
		if err := r.run(ctx, plan.Plan, fresh.add); err != nil {
			return err
		}
	}
	for _, to := range again {
		now, err := fresh.group(to.keys)
		if err != nil {
			return err
		}
		row, err := fresh.computed(now)
		if err != nil {
			return err
		}
		if err := g.put(ctx, to.old, row, out); err != nil {
			return err
		}
	}
	return nil
}

// computed is the row of a group of which all rows were added; nil if there are none.
func (g *groups) computed(to *group) ([]types.Datum, error) {
	if to.weight == 0 && g.stage.Keys > 0 {
		return nil, nil
	}
	_, states, err := g.states(nil)
	if err != nil {
		return nil, err
	}
	for i := range states {
		if g.stage.Aggs[i].Kind == incremental.Reread {
			continue
		}
		if _, err := states[i].apply(&g.stage.Aggs[i], &to.parts[i]); err != nil {
			return nil, err
		}
	}
	return g.row(to, to.weight, states)
}
