package parse

import (
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// alterSet parses the actions that begin with SET: properties of the relation as a whole.
func (p *parser) alterSet(a *ast.AlterAction) {
	t := p.tok()
	switch {
	case p.peek(1).is('('):
		p.next()
		a.Kind, a.Options = "set options", p.storageOptions()
	case p.accept("set", "without", "cluster"):
		a.Kind = "set without cluster"
	case p.accept("set", "without"):
		if p.tok().str != "oids" {
			p.unexpected()
		}
		p.next()
		a.Kind = "set without oids"
	case p.accept("set", "logged"):
		a.Kind = "set logged"
	case p.accept("set", "unlogged"):
		a.Kind = "set unlogged"
	case p.at("set", "with"):
		p.next()
		p.unexpected()
	default:
		p.alterUnsupported(t)
	}
}

// alterCluster parses CLUSTER ON index.
func (p *parser) alterCluster(a *ast.AlterAction) {
	p.want("cluster", "on")
	a.Kind, a.Name = "cluster on", p.ident()
}

// replicaIdentity parses REPLICA IDENTITY.
func (p *parser) replicaIdentity(a *ast.AlterAction) {
	p.want("replica", "identity")
	a.Kind = "replica identity"
	switch {
	case p.accept("using", "index"):
		a.Word, a.Name = "using index", p.ident()
	case p.at("nothing"), p.at("full"), p.at("default"):
		a.Word = p.tok().str
		p.next()
	default:
		p.unexpected()
	}
}

// columnNumber parses the number of an index's column.
func (p *parser) columnNumber() int64 {
	pos, n := p.pos(), p.integer()
	if n < 1 || n > 32767 {
		p.failAt(pos, sqlerr.InvalidParameterValue,
			"column number must be in range from 1 to 32767")
	}
	return n
}

// alterColumnProperty parses the properties of a column that are hints to the storage and the
// planner.
func (p *parser) alterColumnProperty(a *ast.AlterAction) {
	switch {
	case p.accept("set", "statistics"):
		a.Kind, a.Number = "set statistics", p.integer()
	case p.accept("set", "storage"):
		a.Kind, a.Word = "set storage", p.ident().Name
	case p.accept("set", "compression"):
		a.Kind, a.Word = "set compression", p.compression()
	case p.at("set") && p.peek(1).is('('):
		p.next()
		a.Kind, a.Options = "set column options", p.storageOptions()
	case p.accept("reset"):
		a.Kind, a.Options = "reset column options", p.storageOptions()
	default:
		p.unsupported(p.pos(), "ALTER COLUMN … "+strings.ToUpper(p.tok().str+" "+p.peek(1).str))
	}
}

// compression parses the name of a compression method, or DEFAULT.
func (p *parser) compression() string {
	if p.accept("default") {
		return "default"
	}
	return p.name()
}
