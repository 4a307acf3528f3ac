package incremental

import (
	"slices"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
)

// copier copies trees. Each copy has columns of its own, so that a plan may hold several copies of
// one tree, and planning one of them leaves the others as they are.
type copier struct {
	meta *logical.Meta
	// ids leads from a column of the tree that is copied to that of the copy.
	ids map[logical.ColID]logical.ColID
	// before makes the copy read its relations as they were before.
	before bool
	// states are the descriptors of state relations that take the places of the templates.
	states map[*table.Desc]*table.Desc
	// past returns a table as it was before; nil: it was as it is.
	past func(table.ID) *table.Desc
}

func newCopier(meta *logical.Meta) *copier {
	return &copier{meta: meta, ids: map[logical.ColID]logical.ColID{}}
}

// node copies a tree of the nodes that a normalized query has.
func (c *copier) node(n logical.Node) logical.Node {
	switch n := n.(type) {
	case *logical.Scan:
		return c.scan(n)
	case *logical.Filter:
		return &logical.Filter{Child: c.node(n.Child), Conds: c.exprs(n.Conds)}
	case *logical.Project:
		child := c.node(n.Child)
		return &logical.Project{Child: child, Items: c.items(n.Items)}
	case *logical.Join:
		left, right := c.node(n.Left), c.node(n.Right)
		return &logical.Join{Kind: n.Kind, Left: left, Right: right, On: c.exprs(n.On)}
	case *logical.Append:
		out := &logical.Append{Inputs: make([]logical.Node, len(n.Inputs)),
			InCols: make([][]logical.ColID, len(n.Inputs))}
		for i, in := range n.Inputs {
			out.Inputs[i] = c.node(in)
			out.InCols[i] = c.columns(n.InCols[i])
		}
		out.Cols = c.fresh(n.Cols)
		return out
	case *logical.Values:
		out := &logical.Values{Cols: c.fresh(n.Cols), Rows: make([][]expr.Expr, len(n.Rows))}
		for i, row := range n.Rows {
			out.Rows[i] = c.exprs(row)
		}
		return out
	}
	f := *n.(*logical.FuncScan)
	f.Funcs, f.Cols = opt.MapTableFuncs(f.Funcs, c.expr), c.fresh(f.Cols)
	return &f
}

func (c *copier) scan(n *logical.Scan) *logical.Scan {
	d := n.Desc
	if s := c.states[d]; s != nil {
		d = s
	}
	if c.before && c.past != nil && d.Kind == table.KindTable {
		d = asBefore(d, c.past(d.ID))
	}
	s := newScan(c.meta, d, n.Alias)
	s.Before = c.before
	for i := range d.Columns {
		c.ids[n.First+i] = s.First + i
	}
	for id, conds := range n.Partial {
		if s.Partial == nil {
			s.Partial = map[table.IndexID][]expr.Expr{}
		}
		s.Partial[id] = c.exprs(conds)
	}
	return s
}

// newScan makes a scan of all columns of a relation.
func newScan(meta *logical.Meta, d *table.Desc, alias string) *logical.Scan {
	s := &logical.Scan{Desc: d, Alias: alias, First: len(meta.Cols)}
	for i := range d.Columns {
		col := &d.Columns[i]
		s.Out = append(s.Out, meta.Add(logical.Column{Name: col.Name, Type: col.Type,
			NotNull: col.NotNull}))
	}
	meta.Scans = append(meta.Scans, logical.ScanColumns{Desc: d, First: s.First})
	return s
}

// fresh gives columns that the copied node makes new IDs.
func (c *copier) fresh(ids []logical.ColID) []logical.ColID {
	out := make([]logical.ColID, len(ids))
	for i, id := range ids {
		out[i] = c.meta.Add(c.meta.Cols[id])
		c.ids[id] = out[i]
	}
	return out
}

// items copies the items of a projection. One that passes a column on keeps passing it on.
func (c *copier) items(items []logical.Item) []logical.Item {
	out := make([]logical.Item, len(items))
	made := map[logical.ColID]logical.ColID{}
	for i, it := range items {
		out[i].Expr = c.expr(it.Expr)
		if col, ok := it.Expr.(*expr.Col); ok && col.Index == it.ID {
			out[i].ID = c.ids[it.ID]
		} else {
			out[i].ID = c.meta.Add(c.meta.Cols[it.ID])
		}
		made[it.ID] = out[i].ID
	}
	for id, to := range made {
		c.ids[id] = to
	}
	return out
}

// columns returns the columns of the copy for columns of the tree.
func (c *copier) columns(ids []logical.ColID) []logical.ColID {
	out := make([]logical.ColID, len(ids))
	for i, id := range ids {
		out[i] = c.id(id)
	}
	return out
}

func (c *copier) id(id logical.ColID) logical.ColID {
	if to, ok := c.ids[id]; ok {
		return to
	}
	return id
}

// expr copies an expression over columns of the tree.
func (c *copier) expr(e expr.Expr) expr.Expr {
	return expr.Rewrite(e, func(x expr.Expr) expr.Expr {
		if col, ok := x.(*expr.Col); ok {
			if to := c.id(col.Index); to != col.Index {
				return &expr.Col{T: col.T, Index: to, Name: col.Name, Pos: col.Pos}
			}
		}
		return x
	})
}

func (c *copier) exprs(es []expr.Expr) []expr.Expr {
	out := make([]expr.Expr, len(es))
	for i, e := range es {
		out[i] = c.expr(e)
	}
	return out
}

// asBefore returns a table with its rows where they were before, and without the indexes that it
// did not have: their entries were written later, so that a reader of the past finds none.
func asBefore(d, past *table.Desc) *table.Desc {
	out := d.Clone()
	if past != nil {
		out.StorageID = past.Storage()
	}
	out.Indexes = slices.DeleteFunc(out.Indexes, func(ix table.Index) bool {
		if past == nil {
			return ix.ID != table.RowIndexID
		}
		old := past.Index(ix.ID)
		return ix.ID != table.RowIndexID && (old == nil || old.Storage() != ix.Storage())
	})
	return out
}
