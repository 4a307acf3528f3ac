package sql

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/sql/plpgsql"
)

// statementKind is a kind of statements as they are counted: coarser than kind, so that there are
// few.
type statementKind uint8

const (
	noStatement statementKind = iota // an empty text, which is not counted
	neverRan                         // it could not be parsed, or its parameters were wrong
	kindSelect
	kindInsert
	kindUpdate
	kindDelete
	kindMerge
	kindCopy
	kindBegin
	kindCommit
	kindRollback
	kindSavepoint
	kindPrepared // PREPARE, EXECUTE, DEALLOCATE
	kindCursor
	kindExplain
	kindSetting
	kindLock
	kindNotify
	kindDo
	kindMaintenance // VACUUM, ANALYZE, REINDEX, CHECKPOINT, REFRESH
	kindSchema
	statementKinds
)

var statementKindNames = [statementKinds]string{"", "none", "select", "insert", "update", "delete",
	"merge", "copy", "begin", "commit", "rollback", "savepoint", "prepared", "cursor", "explain",
	"setting", "lock", "notify", "do", "maintenance", "schema"}

// statementKindOf returns the kind under which a statement is counted.
func statementKindOf(stmt ast.Statement) statementKind {
	switch stmt.(type) {
	case nil:
		return noStatement
	case *ast.Select:
		return kindSelect
	case *ast.Insert:
		return kindInsert
	case *ast.Update:
		return kindUpdate
	case *ast.Delete:
		return kindDelete
	case *ast.Merge:
		return kindMerge
	case *ast.Copy:
		return kindCopy
	case *ast.Begin:
		return kindBegin
	case *ast.Commit, *ast.TwoPhase:
		return kindCommit
	case *ast.Rollback:
		return kindRollback
	case *ast.Savepoint, *ast.Release, *ast.RollbackTo:
		return kindSavepoint
	case *ast.Prepare, *ast.Execute, *ast.Deallocate:
		return kindPrepared
	case *ast.DeclareCursor, *ast.Fetch, *ast.CloseCursor:
		return kindCursor
	case *ast.Explain:
		return kindExplain
	case *ast.Set, *ast.ResetAll, *ast.Show, *ast.Discard, *ast.SetTransaction,
		*ast.SetConstraints:
		return kindSetting
	case *ast.LockTable:
		return kindLock
	case *ast.Listen, *ast.Unlisten, *ast.Notify:
		return kindNotify
	case *ast.Do:
		return kindDo
	case *ast.Maintenance, *ast.RefreshMaterializedView:
		return kindMaintenance
	}
	return kindSchema
}

// statementCounts are what sessions have counted. A session adds to one of the shards, so that
// those on other processors seldom write to the same memory.
type statementCounts struct {
	shards   [tallyShards]tallyShard
	failures sync.Map // failure → *atomic.Int64
}

const tallyShards = 8

// tallyShard is a shard. The parts of a kind are made when it is met first.
type tallyShard struct {
	kinds               [statementKinds]atomic.Pointer[kindCounts]
	readOnly, rollbacks atomic.Int64
	_                   [64]byte // the next shard is in another line of the processors' caches
}

// kindCounts are those of the statements of a kind: the durations of all.
type kindCounts struct {
	succeeded, rows atomic.Int64
	latencies       latencies
}

// failure is an outcome of a statement that is an error.
type failure struct {
	kind statementKind
	code string
}

// tally returns the tally of a session.
func (c *statementCounts) tally(pid int32) tally {
	return tally{counts: c, shard: &c.shards[uint32(pid)%tallyShards]}
}

// add counts a statement.
func (c *statementCounts) add(to *tallyShard, kind statementKind, code string, rows int64,
	took time.Duration) {
	k := to.kinds[kind].Load()
	if k == nil {
		k = &kindCounts{}
		if !to.kinds[kind].CompareAndSwap(nil, k) {
			k = to.kinds[kind].Load()
		}
	}
	k.latencies.add(max(took, 0))
	if rows > 0 {
		k.rows.Add(rows)
	}
	if code == "" {
		k.succeeded.Add(1)
	} else {
		c.fail(kind, code)
	}
}

// fail counts an error. Programs can raise any SQLSTATE: those that PostgreSQL does not have are
// counted together.
func (c *statementCounts) fail(kind statementKind, code string) {
	if !plpgsql.IsCondition(code) {
		code = "other"
	}
	n, known := c.failures.Load(failure{kind, code})
	if !known {
		n, _ = c.failures.LoadOrStore(failure{kind, code}, new(atomic.Int64))
	}
	n.(*atomic.Int64).Add(1)
}

// Refused counts a statement that does not get as far as to run: its text or its parameters are
// wrong.
func (s *Session) Refused(err error) {
	if err != nil {
		s.engine.statements.fail(neverRan, codeOf(err))
	}
}

// Answered is called when a session of the program has the outcome of its statement: it ends then,
// as one of a client does with Idle.
func (s *Session) Answered() {
	if s.tally.pending {
		s.tally.idle(time.Now())
	}
}

// StatementCount is how many statements of a kind had an outcome.
type StatementCount struct {
	Kind, SQLState string // "00000" is success
	Count          int64
}

// StatementKind is what is known of all statements of a kind that have run.
type StatementKind struct {
	Kind      string
	Succeeded int64
	Rows      int64 // that they returned or changed
	Latencies Latencies
}

// StatementKinds lists the kinds that have been met.
func (e *Engine) StatementKinds() (all []StatementKind) {
	for kind := range statementKinds {
		one, met := StatementKind{Kind: statementKindNames[kind]}, false
		for i := range e.statements.shards {
			if k := e.statements.shards[i].kinds[kind].Load(); k != nil {
				met = true
				one.Succeeded += k.succeeded.Load()
				one.Rows += k.rows.Load()
				k.latencies.addTo(&one.Latencies)
			}
		}
		if met {
			all = append(all, one)
		}
	}
	return all
}

// StatementCounts lists the outcomes that have been met, sorted.
func (e *Engine) StatementCounts() (all []StatementCount) {
	e.statements.failures.Range(func(key, n any) bool {
		f := key.(failure)
		all = append(all, StatementCount{statementKindNames[f.kind], f.code,
			n.(*atomic.Int64).Load()})
		return true
	})
	for _, k := range e.StatementKinds() {
		all = append(all, StatementCount{k.Kind, "00000", k.Succeeded})
	}
	slices.SortFunc(all, func(a, b StatementCount) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.SQLState, b.SQLState))
	})
	return all
}

// TransactionCounts are how transactions of sessions ended that wrote nothing, or were undone.
type TransactionCounts struct {
	ReadOnly   int64 // committed, without a write
	RolledBack int64 // by ROLLBACK, by an error, by a commit that failed
}

// TransactionCounts adds up what sessions have counted.
func (e *Engine) TransactionCounts() (n TransactionCounts) {
	for i := range e.statements.shards {
		n.ReadOnly += e.statements.shards[i].readOnly.Load()
		n.RolledBack += e.statements.shards[i].rollbacks.Load()
	}
	return n
}
