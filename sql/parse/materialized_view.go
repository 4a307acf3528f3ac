package parse

import (
	"github.com/minidb/minidb/planner/ast"
)

// createMaterializedView parses MATERIALIZED VIEW behind CREATE [UNLOGGED].
func (p *parser) createMaterializedView(v *ast.CreateMaterializedView) ast.Statement {
	p.want("materialized", "view")
	v.IfNotExists = p.ifNotExists()
	v.Name = p.qualified()
	v.Columns = p.optIdents()
	p.accessMethod()
	if p.accept("with") {
		v.Options = p.storageOptions()
	}
	p.tablespace()
	p.want("as")
	v.Query = p.definition()
	v.WithNoData = p.withNoData()
	return v
}

// refresh parses REFRESH MATERIALIZED VIEW [CONCURRENTLY] name [WITH [NO] DATA].
func (p *parser) refresh() ast.Statement {
	r := &ast.RefreshMaterializedView{Pos: p.pos()}
	p.next()
	p.want("materialized", "view")
	r.Concurrently = p.accept("concurrently")
	r.Name = p.qualified()
	r.WithNoData = p.withNoData()
	return r
}
