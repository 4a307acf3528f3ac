package bind

import (
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/logical"
)

// delete binds DELETE: the rows of the table joined with USING and filtered.
func (b *binder) delete(s *ast.Delete, outer *scope) *logical.Query {
	sc := outer.inner()
	if s.With != nil {
		b.with(sc, s.With)
	}
	t := b.destination(s.Table, deletes)
	d := t.d
	node, old, _ := b.modifiedRows(sc, t, s.Alias, s.Using, rowsOf{s.Where, s.CurrentOf})
	del := &logical.Delete{Desc: d, Alias: t.alias(s.Alias), Child: node, Old: old,
		HasRows: len(s.Returning) > 0}
	q := &logical.Query{Node: del}
	if del.HasRows {
		del.Returning, q.Cols = b.returning(sc, s.Returning)
	}
	t.settle()
	changeable(d)
	return q
}
