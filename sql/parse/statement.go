package parse

import (
	"github.com/minidb/minidb/planner/ast"
)

// statement parses one statement by its first word.
func (p *parser) statement() ast.Statement {
	if p.tok().is('(') {
		return p.queryOrDML()
	}
	switch p.tok().kw {
	case "select", "with", "values", "table", "insert", "update", "delete", "merge":
		return p.queryOrDML()
	case "create":
		return p.create()
	case "drop":
		return p.drop()
	case "alter":
		return p.alter()
	case "truncate":
		return p.truncate()
	case "copy":
		return p.copyStatement()
	case "comment":
		return p.comment()
	case "begin", "start", "commit", "end", "rollback", "abort", "savepoint", "release":
		return p.transaction()
	case "set":
		return p.set()
	case "reset":
		return p.reset()
	case "show":
		return p.show()
	case "discard":
		return p.discard()
	case "prepare":
		return p.prepare()
	case "execute":
		return p.execute()
	case "deallocate":
		return p.deallocate()
	case "declare":
		return p.declareCursor()
	case "fetch", "move":
		return p.fetch()
	case "close":
		return p.closeCursor()
	case "explain":
		return p.explain()
	case "vacuum", "analyze", "analyse":
		return p.vacuum()
	case "checkpoint":
		return p.checkpoint()
	case "reindex":
		return p.reindex()
	case "cluster":
		return p.cluster()
	case "refresh":
		return p.refresh()
	case "lock":
		return p.lockTable()
	case "listen", "unlisten", "notify":
		return p.notify()
	case "grant", "revoke":
		return p.grant()
	case "do":
		return p.do()
	case "reassign":
		return p.reassign()
	}
	if name := unsupportedStatements[p.tok().kw]; name != "" {
		p.unsupported(p.pos(), name)
		return nil
	}
	p.unexpected()
	return nil
}

// unsupportedStatements are PostgreSQL's statements that the tree has no node for.
var unsupportedStatements = map[keyword]string{
	"call": "CALL", "import": "IMPORT FOREIGN SCHEMA", "load": "LOAD",
	"security": "SECURITY LABEL",
}
