package parse

import (
	"github.com/minidb/minidb/planner/ast"
)

// transaction parses BEGIN, COMMIT, ROLLBACK, savepoints and their synonyms.
func (p *parser) transaction() ast.Statement {
	pos := p.pos()
	switch p.next().kw {
	case kwStart:
		p.want(kwTransaction)
		return &ast.Begin{Pos: pos, Modes: p.txnModes(), Start: true}
	case kwBegin:
		p.acceptAny(kwWork, kwTransaction)
		return &ast.Begin{Pos: pos, Modes: p.txnModes()}
	case kwCommit:
		if p.at(kwPrepared) {
			p.unsupported(pos, "COMMIT PREPARED")
		}
		return &ast.Commit{Pos: pos, Chain: p.chained()}
	case kwEnd:
		return &ast.Commit{Pos: pos, Chain: p.chained()}
	case kwRollback:
		return p.rollback(pos)
	case kwAbort:
		return &ast.Rollback{Pos: pos, Chain: p.chained()}
	case kwSavepoint:
		return &ast.Savepoint{Pos: pos, Name: p.name()}
	}
	p.savepointWord()
	return &ast.Release{Pos: pos, Name: p.name()}
}

// savepointWord moves past SAVEPOINT unless it is the savepoint's name.
func (p *parser) savepointWord() {
	if p.at(kwSavepoint) && p.peek(1).colID() {
		p.next()
	}
}

func (p *parser) rollback(pos ast.Pos) ast.Statement {
	if p.at(kwPrepared) {
		p.unsupported(pos, "ROLLBACK PREPARED")
	}
	p.acceptAny(kwWork, kwTransaction)
	if p.accept(kwTo) {
		p.savepointWord()
		return &ast.RollbackTo{Pos: pos, Name: p.name()}
	}
	return &ast.Rollback{Pos: pos, Chain: p.andChain()}
}

// chained parses [WORK|TRANSACTION] [AND [NO] CHAIN].
func (p *parser) chained() bool {
	p.acceptAny(kwWork, kwTransaction)
	return p.andChain()
}

func (p *parser) andChain() bool {
	if !p.accept(kwAnd) {
		return false
	}
	no := p.accept(kwNo)
	p.want(kwChain)
	return !no
}

// txnModes parses transaction modes, whose commas are optional.
func (p *parser) txnModes() (m ast.TxnModes) {
	for first := true; p.err == nil; first = false {
		comma := !first && p.punct(',')
		switch {
		case p.accept(kwIsolation, kwLevel):
			m.Isolation = p.isolationLevel()
		case p.accept(kwRead, kwOnly):
			m.ReadOnly = ptr(true)
		case p.accept(kwRead, kwWrite):
			m.ReadOnly = ptr(false)
		case p.accept(kwDeferrable):
			m.Deferrable = ptr(true)
		case p.accept(kwNot, kwDeferrable):
			m.Deferrable = ptr(false)
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

func ptr[T any](v T) *T { return &v }

// isolationLevel parses the words of an isolation level.
func (p *parser) isolationLevel() string {
	switch {
	case p.accept(kwSerializable):
		return "serializable"
	case p.accept(kwRepeatable, kwRead):
		return "repeatable read"
	case p.accept(kwRead, kwCommitted):
		return "read committed"
	case p.accept(kwRead, kwUncommitted):
		return "read uncommitted"
	}
	if p.acceptAny(kwRead, kwRepeatable) {
		p.unexpected()
		return ""
	}
	p.unexpected()
	return ""
}
