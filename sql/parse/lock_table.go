package parse

import (
	"strings"

	"github.com/minidb/minidb/planner/ast"
)

// lockTable parses LOCK [TABLE] names [IN mode MODE] [NOWAIT].
func (p *parser) lockTable() ast.Statement {
	l := &ast.LockTable{Pos: p.pos(), Mode: ast.AccessExclusive}
	p.next()
	p.accept("table")
	p.list(func() {
		n, _ := p.relation()
		l.Tables = append(l.Tables, n)
	})
	if p.accept("in") {
		l.Mode = p.lockMode()
		p.want("mode")
	}
	l.NoWait = p.accept("nowait")
	return l
}

// lockMode parses the words between IN and MODE.
func (p *parser) lockMode() ast.TableLockMode {
	var words []string
	for p.err == nil && !p.at("mode") {
		if !p.at("access") && !p.at("row") && !p.at("share") && !p.at("update") &&
			!p.at("exclusive") {
			p.unexpected()
		}
		words = append(words, p.next().str)
	}
	switch mode := ast.TableLockMode(strings.Join(words, " ")); mode {
	case ast.AccessShare, ast.RowShare, ast.RowExclusive, ast.ShareUpdateExclusive, ast.Share,
		ast.ShareRowExclusive, ast.Exclusive, ast.AccessExclusive:
		return mode
	}
	p.unexpected()
	return ""
}
