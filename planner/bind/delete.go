package bind

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/logical"
)

// delete binds DELETE: the rows of the table joined with USING and filtered.
func (b *binder) delete(s *ast.Delete, outer *scope) (*logical.Query, error) {
	if s.CurrentOf != "" {
		return nil, sqlerr.Unsupported(int(s.Pos), "WHERE CURRENT OF")
	}
	sc := outer.inner()
	if s.With != nil {
		if err := b.with(sc, s.With); err != nil {
			return nil, err
		}
	}
	d, err := b.modifiedTable(s.Table, "DELETE")
	if err != nil {
		return nil, err
	}
	node, old, err := b.modifiedRows(sc, d, s.Alias, s.Using, s.Where)
	if err != nil {
		return nil, err
	}
	del := &logical.Delete{Desc: d, Child: node, Old: old, HasRows: len(s.Returning) > 0}
	q := &logical.Query{Node: del}
	if del.HasRows {
		if del.Returning, q.Cols, err = b.returning(sc, s.Returning); err != nil {
			return nil, err
		}
	}
	return q, changeable(d)
}
