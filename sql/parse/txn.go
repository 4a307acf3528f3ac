package parse

import (
	"github.com/minidb/minidb/planner/ast"
)

// transaction parses BEGIN, COMMIT, ROLLBACK, savepoints and their synonyms.
func (p *parser) transaction() ast.Statement {
	pos := p.pos()
	switch p.next().kw {
	case "start":
		p.want("transaction")
		return &ast.Begin{Pos: pos, Modes: p.txnModes(), Start: true}
	case "begin":
		p.acceptAny("work", "transaction")
		return &ast.Begin{Pos: pos, Modes: p.txnModes()}
	case "commit":
		if p.accept("prepared") {
			return &ast.TwoPhase{Pos: pos, Verb: "COMMIT PREPARED", ID: p.stringLit()}
		}
		return &ast.Commit{Pos: pos, Chain: p.chained()}
	case "end":
		return &ast.Commit{Pos: pos, Chain: p.chained()}
	case "rollback":
		return p.rollback(pos)
	case "abort":
		return &ast.Rollback{Pos: pos, Chain: p.chained()}
	case "savepoint":
		return &ast.Savepoint{Pos: pos, Name: p.name()}
	}
	p.savepointWord()
	return &ast.Release{Pos: pos, Name: p.name()}
}

// savepointWord moves past SAVEPOINT unless it is the savepoint's name.
func (p *parser) savepointWord() {
	if p.at("savepoint") && p.peek(1).colID() {
		p.next()
	}
}

func (p *parser) rollback(pos ast.Pos) ast.Statement {
	if p.accept("prepared") {
		return &ast.TwoPhase{Pos: pos, Verb: "ROLLBACK PREPARED", ID: p.stringLit()}
	}
	p.acceptAny("work", "transaction")
	if p.accept("to") {
		p.savepointWord()
		return &ast.RollbackTo{Pos: pos, Name: p.name()}
	}
	return &ast.Rollback{Pos: pos, Chain: p.andChain()}
}

// chained parses [WORK|TRANSACTION] [AND [NO] CHAIN].
func (p *parser) chained() bool {
	p.acceptAny("work", "transaction")
	return p.andChain()
}

func (p *parser) andChain() bool {
	if !p.accept("and") {
		return false
	}
	no := p.accept("no")
	p.want("chain")
	return !no
}

// txnModes parses transaction modes, whose commas are optional.
func (p *parser) txnModes() (m ast.TxnModes) {
	for first := true; p.err == nil; first = false {
		comma := !first && p.punct(',')
		switch {
		case p.accept("isolation", "level"):
			m.Isolation = p.isolationLevel()
		case p.accept("read", "only"):
			m.ReadOnly = new(true)
		case p.accept("read", "write"):
			m.ReadOnly = new(false)
		case p.accept("deferrable"):
			m.Deferrable = new(true)
		case p.accept("not", "deferrable"):
			m.Deferrable = new(false)
		case p.atAsOf():
			if m.AsOf = p.asOf(); m.AsOf.Params {
				p.unsupported(m.AsOf.Pos, "parameter in AS OF SYSTEM TIME of a transaction")
			}
		default:
			if comma {
				p.unexpected()
			}
			return m
		}
	}
	return m
}

// isolationLevel parses the words of an isolation level.
func (p *parser) isolationLevel() string {
	switch {
	case p.accept("serializable"):
		return "serializable"
	case p.accept("repeatable", "read"):
		return "repeatable read"
	case p.accept("read", "committed"):
		return "read committed"
	case p.accept("read", "uncommitted"):
		return "read uncommitted"
	}
	if p.acceptAny("read", "repeatable") {
		p.unexpected()
		return ""
	}
	p.unexpected()
	return ""
}
