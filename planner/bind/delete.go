package bind

import (
	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/logical"
)

// delete binds DELETE: the rows of the table joined with USING and filtered.
func (b *binder) delete(s *ast.Delete, outer *scope) *logical.Query {
	if s.CurrentOf != "" {
		panic(failure.Unsupported(s.Pos, "WHERE CURRENT OF"))
	}
	sc := outer.inner()
	if s.With != nil {
		b.with(sc, s.With)
	}
	d := b.modifiedTable(s.Table, "DELETE")
	node, old := b.modifiedRows(sc, d, s.Alias, s.Using, s.Where)
	del := &logical.Delete{Desc: d, Child: node, Old: old, HasRows: len(s.Returning) > 0}
	q := &logical.Query{Node: del}
	if del.HasRows {
		del.Returning, q.Cols = b.returning(sc, s.Returning)
	}
	changeable(d)
	return q
}
