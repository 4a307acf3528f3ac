package bind

import (
	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/logical"
)

func (b *binder) statement(stmt ast.Statement, outer *scope) *logical.Query {
	switch s := stmt.(type) {
	case *ast.Select:
		return b.query(s, outer, false)
	case *ast.Insert:
		return b.insert(s, outer)
	case *ast.Update:
		return b.update(s, outer)
	case *ast.Delete:
		return b.delete(s, outer)
	case *ast.Merge:
		return b.merge(s, outer)
	}
	panic(failure.At(0, sqlerr.InternalError, "planner: unexpected statement %T", stmt))
}
