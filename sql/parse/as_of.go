package parse

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// atAsOf reports whether AS OF SYSTEM TIME or AS OF TIMESTAMP stands here. AS OF alone is an alias.
func (p *parser) atAsOf() bool {
	return p.tok().kw == kwAs && (p.at(kwAs, kwOf, kwSystem, kwTime) || p.at(kwAs, kwOf, kwTimestamp))
}

// asOf parses AS OF SYSTEM TIME x, CockroachDB's words, or AS OF TIMESTAMP x, TiDB's.
func (p *parser) asOf() *ast.AsOf {
	a := &ast.AsOf{Pos: p.pos()}
	if !p.accept(kwAs, kwOf, kwSystem, kwTime) {
		p.accept(kwAs, kwOf, kwTimestamp)
	}
	first := p.i
	a.Moment, a.Text = p.exprText()
	for i := first; i < p.i && p.err == nil; i++ {
		a.Params = a.Params || p.toks[i].kind == tokParam
	}
	return a
}

// fromAsOf parses the clause behind an entry of FROM, or behind all of them. A statement reads at one
// moment: where the clause stands several times it must say the same.
func (p *parser) fromAsOf() {
	if !p.atAsOf() {
		return
	}
	a := p.asOf()
	switch {
	case p.past == nil:
		p.past = a
	case p.past.Text != a.Text:
		p.failAt(a.Pos, sqlerr.FeatureNotSupported, "a statement cannot read at several times")
	}
}

// keepAsOf hands what fromAsOf found to the query of the statement that reads at that moment.
func (p *parser) keepAsOf(stmt ast.Statement) {
	if p.past == nil || p.err != nil {
		return
	}
	q := pastQuery(stmt)
	if q == nil {
		p.failAt(p.past.Pos, sqlerr.FeatureNotSupported, "AS OF SYSTEM TIME is only allowed in SELECT")
		return
	}
	q.AsOf, p.past = p.past, nil
}

// pastQuery is the query of a statement that does nothing but read, or nil.
func pastQuery(stmt ast.Statement) *ast.Select {
	switch st := stmt.(type) {
	case *ast.Select:
		if !hasInto(st.Body) {
			return st
		}
	case *ast.Explain:
		return pastQuery(st.Statement)
	case *ast.Prepare:
		return pastQuery(st.Statement)
	case *ast.DeclareCursor:
		return st.Query
	case *ast.Copy:
		return st.Query
	}
	return nil
}

func hasInto(body ast.QueryBody) bool {
	switch b := body.(type) {
	case *ast.SelectCore:
		return b.Into != nil
	case *ast.SetOp:
		return hasInto(b.Left)
	case *ast.Select:
		return hasInto(b.Body)
	}
	return false
}
