package parse

import (
	"github.com/minidb/minidb/planner/ast"
)

// exclusion parses behind EXCLUDE: [USING method] ( element WITH operator, … ) [INCLUDE …]
// [WHERE ( predicate )].
func (p *parser) exclusion(k *ast.TableConstraint) {
	k.Kind = "exclude"
	if p.accept("using") {
		k.Method = p.name()
	}
	p.parenList(func() {
		e := p.indexElem()
		p.want("with")
		if p.at("operator") {
			e.Operator = p.operatorClause()
		} else {
			e.Operator = p.anyOperator()
		}
		if e.Operator == "!=" {
			e.Operator = "<>"
		}
		k.Elems = append(k.Elems, e)
	})
	if p.accept("include") {
		k.Include = p.idents()
	}
	p.indexParameters()
	if p.accept("where") {
		k.Where = p.parenExpr()
	}
}
