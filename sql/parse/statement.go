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
	case kwSelect, kwWith, kwValues, kwTable, kwInsert, kwUpdate, kwDelete, kwMerge:
		return p.queryOrDML()
	case kwCreate:
		return p.create()
	case kwDrop:
		return p.drop()
	case kwAlter:
		return p.alter()
	case kwTruncate:
		return p.truncate()
	case kwCopy:
		return p.copyStatement()
	case kwComment:
		return p.comment()
	case kwBegin, kwStart, kwCommit, kwEnd, kwRollback, kwAbort, kwSavepoint, kwRelease:
		return p.transaction()
	case kwSet:
		return p.set()
	case kwReset:
		return p.reset()
	case kwShow:
		return p.show()
	case kwDiscard:
		return p.discard()
	case kwPrepare:
		return p.prepare()
	case kwExecute:
		return p.execute()
	case kwDeallocate:
		return p.deallocate()
	case kwDeclare:
		return p.declareCursor()
	case kwFetch, kwMove:
		return p.fetch()
	case kwClose:
		return p.closeCursor()
	case kwExplain:
		return p.explain()
	case kwVacuum, kwAnalyze, kwAnalyse:
		return p.vacuum()
	case kwCheckpoint:
		return p.checkpoint()
	case kwReindex:
		return p.reindex()
	case kwCluster:
		return p.cluster()
	case kwLock:
		return p.lockTable()
	case kwListen, kwUnlisten, kwNotify:
		return p.notify()
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
	kwCall: "CALL", kwDo: "DO", kwGrant: "GRANT", kwRevoke: "REVOKE", kwImport: "IMPORT FOREIGN SCHEMA",
	kwLoad: "LOAD", kwReassign: "REASSIGN OWNED", kwRefresh: "REFRESH MATERIALIZED VIEW",
	kwSecurity: "SECURITY LABEL",
}
