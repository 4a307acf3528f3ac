package sql

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/physical"
)

// kindOf returns the kind of a statement.
func kindOf(stmt ast.Statement) kind {
	if k, ok := plannedKind(stmt); ok {
		return k
	}
	for _, table := range [...]func(ast.Statement) (kind, bool){
		controlKind, sessionKind, cursorKind, utilityKind, schemaKind,
	} {
		if k, ok := table(stmt); ok {
			return k
		}
	}
	return kind{class: onData, name: "this statement", open: utility.openDDL}
}

// plannedKind is the table of statements that the planner plans.
func plannedKind(stmt ast.Statement) (kind, bool) {
	k := kind{class: onData, planned: stmt, unlocked: unlockedIfCountOnly, open: utility.openModify}
	switch st := stmt.(type) {
	case *ast.Select:
		k.name, k.tag, k.asOf = selectName(st), "SELECT ", st.AsOf
		k.returnsRows, k.unlocked, k.open = true, unlockedNever, utility.openSelect
		if intoTable(st) != nil {
			k.name, k.planned = "SELECT INTO", nil
		}
	case *ast.Insert:
		k.name, k.tag, k.returnsRows = "INSERT", "INSERT 0 ", st.Returning != nil
	case *ast.Update:
		k.name, k.tag, k.returnsRows = "UPDATE", "UPDATE ", st.Returning != nil
	case *ast.Delete:
		k.name, k.tag, k.returnsRows = "DELETE", "DELETE ", st.Returning != nil
	case *ast.Merge:
		k.name, k.tag = "MERGE", "MERGE "
	default:
		return kind{}, false
	}
	return k, true
}

// controlKind is the table of statements that begin, end and change the transaction.
func controlKind(stmt ast.Statement) (kind, bool) {
	k := kind{class: transactionControl}
	switch stmt.(type) {
	case *ast.Begin:
		k.open = func(s utility, ctx context.Context, c call) (source, error) {
			return completed(s.execBegin(ctx, c.ps.Stmt.(*ast.Begin)))
		}
	case *ast.Commit:
		k.endsBlock = true
		k.open = func(s utility, ctx context.Context, c call) (source, error) {
			return completed(s.execCommit(ctx, c.ps.Stmt.(*ast.Commit)))
		}
	case *ast.Rollback:
		k.endsBlock = true
		k.open = func(s utility, ctx context.Context, c call) (source, error) {
			return completed(s.execRollback(ctx, c.ps.Stmt.(*ast.Rollback)))
		}
	case *ast.TwoPhase:
		k.endsBlock = true
		k.open = func(s utility, ctx context.Context, c call) (source, error) {
			return completed(s.execTwoPhase(ctx, c.ps.Stmt.(*ast.TwoPhase)))
		}
	case *ast.Savepoint:
		k.open = func(s utility, ctx context.Context, c call) (source, error) {
			return completed(s.execSavepoint(ctx, c.ps.Stmt.(*ast.Savepoint)))
		}
	case *ast.Release:
		k.open = func(s utility, _ context.Context, c call) (source, error) {
			return completed(s.execRelease(c.ps.Stmt.(*ast.Release)))
		}
	case *ast.RollbackTo:
		k.endsBlock = true
		k.open = func(s utility, _ context.Context, c call) (source, error) {
			return completed(s.execRollbackTo(c.ps.Stmt.(*ast.RollbackTo)))
		}
	case *ast.SetTransaction:
		k.open = func(s utility, ctx context.Context, c call) (source, error) {
			return completed(s.execSetTransaction(ctx, c.ps.Stmt.(*ast.SetTransaction)))
		}
	case *ast.SetConstraints:
		k.open = func(s utility, ctx context.Context, c call) (source, error) {
			return completed(s.execSetConstraints(ctx, c.ps.Stmt.(*ast.SetConstraints)))
		}
	default:
		return kind{}, false
	}
	return k, true
}

// sessionKind is the table of statements that touch the session alone.
func sessionKind(stmt ast.Statement) (kind, bool) {
	k := kind{class: sessionCommand}
	switch stmt.(type) {
	case *ast.Set:
		k.open = func(s utility, ctx context.Context, c call) (source, error) {
			return completed(s.execSet(ctx, c.ps.Stmt.(*ast.Set)))
		}
	case *ast.ResetAll:
		k.open = func(s utility, _ context.Context, _ call) (source, error) {
			s.settings.ResetAll()
			return tagSource("RESET"), nil
		}
	case *ast.Show:
		k.describe = func(s utility, stmt ast.Statement) ([]physical.Column, bool, error) {
			return showColumns(stmt.(*ast.Show).Name), true, nil
		}
		k.open = func(s utility, ctx context.Context, c call) (source, error) {
			return s.openShow(ctx, c.ps.Stmt.(*ast.Show))
		}
	case *ast.Discard:
		k.open = func(s utility, ctx context.Context, c call) (source, error) {
			return completed(s.execDiscard(ctx, c.ps.Stmt.(*ast.Discard)))
		}
	case *ast.LockTable:
		k.open = func(s utility, ctx context.Context, c call) (source, error) {
			return completed(s.execLockTable(ctx, c.ps.Stmt.(*ast.LockTable)))
		}
	case *ast.Listen:
		k.open = func(s utility, _ context.Context, c call) (source, error) {
			return completed(s.execListen(c.ps.Stmt.(*ast.Listen)))
		}
	case *ast.Unlisten:
		k.open = func(s utility, _ context.Context, c call) (source, error) {
			return completed(s.execUnlisten(c.ps.Stmt.(*ast.Unlisten)))
		}
	case *ast.Notify:
		k.open = func(s utility, _ context.Context, c call) (source, error) {
			return completed(s.execNotify(c.ps.Stmt.(*ast.Notify)))
		}
	case *ast.Unsupported:
		k.open = func(_ utility, _ context.Context, c call) (source, error) {
			st := c.ps.Stmt.(*ast.Unsupported)
			return nil, sqlerr.Unsupported(int(st.Pos), st.Construct)
		}
	default:
		return kind{}, false
	}
	return k, true
}

// cursorKind is the table of statements on prepared statements and cursors.
func cursorKind(stmt ast.Statement) (kind, bool) {
	k := kind{class: sessionCommand}
	switch st := stmt.(type) {
	case *ast.Prepare:
		k.open = func(s utility, ctx context.Context, c call) (source, error) {
			return completed(s.execPrepare(ctx, c.ps.Stmt.(*ast.Prepare)))
		}
	case *ast.Execute:
		k.describe = utility.describeExecute
		k.open = func(s utility, ctx context.Context, c call) (source, error) {
			return s.openExecute(ctx, c.ps.Stmt.(*ast.Execute), c.results)
		}
	case *ast.Deallocate:
		k.open = func(s utility, _ context.Context, c call) (source, error) {
			return completed(s.execDeallocate(c.ps.Stmt.(*ast.Deallocate)))
		}
	case *ast.DeclareCursor:
		k.class, k.planned, k.asOf, k.unlocked = onData, st.Query, st.Query.AsOf, unlockedNever
		k.open = func(s utility, ctx context.Context, c call) (source, error) {
			return s.openDeclare(ctx, c.ps, c.ps.Stmt.(*ast.DeclareCursor), c.params)
		}
	case *ast.Fetch:
		k.class, k.unlocked, k.describe = onData, unlockedNever, utility.describeFetch
		k.open = func(s utility, ctx context.Context, c call) (source, error) {
			return s.openFetch(ctx, c.ps.Stmt.(*ast.Fetch))
		}
	case *ast.CloseCursor:
		k.open = func(s utility, _ context.Context, c call) (source, error) {
			return completed(s.execCloseCursor(c.ps.Stmt.(*ast.CloseCursor)))
		}
	default:
		return kind{}, false
	}
	return k, true
}

// utilityKind is the table of the other statements that need a snapshot, but change no schema.
func utilityKind(stmt ast.Statement) (kind, bool) {
	k := kind{class: onData}
	switch st := stmt.(type) {
	case *ast.Explain:
		inner := kindOf(st.Statement)
		k.planned, k.asOf, k.unlocked = inner.planned, inner.asOf, unlockedNever
		k.describe = func(_ utility, stmt ast.Statement) ([]physical.Column, bool, error) {
			return explainColumns(stmt.(*ast.Explain)), true, nil
		}
		k.open = func(s utility, ctx context.Context, c call) (source, error) {
			return s.openExplain(ctx, c.ps, c.ps.Stmt.(*ast.Explain), c.params)
		}
	case *ast.Copy:
		k.name, k.unlocked = "COPY FROM", unlockedIfSingle
		if st.Query != nil {
			k.planned, k.asOf = st.Query, st.Query.AsOf
		}
		k.open = func(s utility, ctx context.Context, c call) (source, error) {
			return s.openCopy(ctx, c.ps, c.ps.Stmt.(*ast.Copy), c.params, c.results)
		}
	case *ast.AlterSettings:
		k.name = "ALTER DATABASE"
		if st.System {
			k.name, k.alone = "ALTER SYSTEM", true
		}
		k.open = func(s utility, ctx context.Context, c call) (source, error) {
			return completed(s.alterSettings(ctx, c.ps.Stmt.(*ast.AlterSettings)))
		}
	case *ast.AlterRoleSettings:
		k.name = "ALTER ROLE"
		k.open = func(s utility, ctx context.Context, c call) (source, error) {
			return completed(s.alterRoleSettings(ctx, c.ps.Stmt.(*ast.AlterRoleSettings)))
		}
	case *ast.Do:
		k.name, k.unlocked = "", unlockedNever
		k.open = func(s utility, ctx context.Context, c call) (source, error) {
			return completed(s.execDo(ctx, c.ps.Stmt.(*ast.Do)))
		}
	case *ast.Maintenance:
		k.open = func(s utility, ctx context.Context, c call) (source, error) {
			return completed(maintenance{s}.maintain(ctx, c.ps.Stmt.(*ast.Maintenance)))
		}
	default:
		return kind{}, false
	}
	return k, true
}

// schemaKind is the table of statements that change the schema.
func schemaKind(stmt ast.Statement) (kind, bool) {
	k := kind{class: onData, open: utility.openDDL}
	switch st := stmt.(type) {
	case *ast.CreateTable:
		if k.name = "CREATE TABLE"; st.As != nil {
			k.name = "CREATE TABLE AS"
		}
	case *ast.CreateIndex:
		if k.name, k.alone = "CREATE INDEX", st.Concurrently; st.Concurrently {
			k.name = "CREATE INDEX CONCURRENTLY"
		}
	case *ast.CreateView:
		k.name = "CREATE VIEW"
	case *ast.CreateMaterializedView:
		k.name = "CREATE MATERIALIZED VIEW"
	case *ast.RefreshMaterializedView:
		k.name = "REFRESH MATERIALIZED VIEW"
	case *ast.CreateSequence:
		k.name = "CREATE SEQUENCE"
	case *ast.AlterSequence:
		k.name = "ALTER SEQUENCE"
	case *ast.CreateType:
		k.name = "CREATE TYPE"
	case *ast.CreateDomain:
		k.name = "CREATE DOMAIN"
	case *ast.AlterType:
		k.name = "ALTER " + st.Kind.Upper()
	case *ast.CreateExtension:
		k.name = "CREATE EXTENSION"
	case *ast.AlterExtension:
		k.name = "ALTER EXTENSION"
	case *ast.CreateSchema:
		k.name = "CREATE SCHEMA"
	case *ast.RenameSchema:
		k.name = "ALTER SCHEMA"
	case *ast.CreateDatabase:
		k.name, k.alone = "CREATE DATABASE", true
	case *ast.Drop:
		k.name, k.alone = "DROP "+st.Kind.Upper(), st.Kind == ast.DatabaseObject || st.Concurrently
		if st.Concurrently {
			k.name += " CONCURRENTLY"
		}
	case *ast.AlterTable:
		k.name = "ALTER " + st.Kind.Upper()
	case *ast.Truncate:
		k.name = "TRUNCATE TABLE"
	case *ast.Comment:
		k.name = "COMMENT"
	case *ast.CreatePolicy:
		k.name = "CREATE POLICY"
	case *ast.AlterPolicy:
		k.name = "ALTER POLICY"
	case *ast.RenamePolicy:
		k.name = "ALTER POLICY"
	case *ast.DropPolicy:
		k.name = "DROP POLICY"
	case *ast.CreateRole:
		k.name = "CREATE ROLE"
	case *ast.AlterRole:
		k.name = "ALTER ROLE"
	case *ast.RenameRole:
		k.name = "ALTER ROLE"
	case *ast.DropRole:
		k.name = "DROP ROLE"
	case *ast.GrantRole:
		if k.name = "GRANT ROLE"; st.Revoke {
			k.name = "REVOKE ROLE"
		}
	case *ast.AlterOwner:
		k.name = "ALTER " + st.Kind.Upper()
	case *ast.Grant:
		if k.name = "GRANT"; st.Revoke {
			k.name = "REVOKE"
		}
	case *ast.AlterDefaultPrivileges:
		k.name = "ALTER DEFAULT PRIVILEGES"
	case *ast.ReassignOwned:
		k.name = "REASSIGN OWNED"
	case *ast.DropOwned:
		k.name = "DROP OWNED"
	case *ast.CreateObserver:
		k.name = "CREATE OBSERVER"
	default:
		return kind{}, false
	}
	return k, true
}

// selectName returns the name of a query that writes or locks rows, for "cannot execute …". It is
// "" for a query that writes by functions only: these check for themselves.
func selectName(st *ast.Select) string {
	if st.With != nil {
		for i := range st.With.CTEs {
			inner := st.With.CTEs[i].Statement
			if _, query := inner.(*ast.Select); !query {
				return kindOf(inner).name
			}
		}
	}
	if len(st.Locking) > 0 {
		return lockingNames[st.Locking[0].Strength]
	}
	return ""
}

var lockingNames = map[string]string{
	"update": "SELECT FOR UPDATE", "no key update": "SELECT FOR NO KEY UPDATE",
	"share": "SELECT FOR SHARE", "key share": "SELECT FOR KEY SHARE",
}
