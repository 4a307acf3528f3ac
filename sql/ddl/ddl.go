package ddl

import (
	"context"
	"fmt"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
)

// Env is what a statement runs in.
type Env struct {
	Tx           *txn.Txn
	Catalog      *catalog.Catalog
	View         *catalog.View
	Planner      *planner.Env
	Database     table.ID
	DatabaseName string
	// SearchPath lists schemas in the order in which names are looked up; those that do not exist
	// are passed over.
	SearchPath []string
	// Implied is how many of the first of them are searched without being named by the user: no
	// object is made there.
	Implied int
	// Temporary returns the session's temporary schema and makes it if it has none; nil: there is
	// no session.
	Temporary func(ctx context.Context) (catalog.Schema, error)
	Runtime   *expr.Runtime
	// Authority returns what the session is allowed; nil: everything, as the bootstrap superuser.
	Authority func(ctx context.Context) (*acl.Authority, error)
	// System finds the objects that the server has made; nil: none.
	System SystemObjects
	// Notice sends a message beside the result, detail may be empty; nil drops it.
	Notice func(severity, code, message, detail string)
	// Shared: other processes may use the store.
	Shared bool
	// RunQuery runs a query and inserts its rows into a relation that has none: CREATE TABLE AS and
	// its like.
	RunQuery func(ctx context.Context, q *ast.Select, into *table.Desc) (int64, error)
	// RefreshRows runs the query of a materialized view and makes the view's rows those that it
	// gives: REFRESH … CONCURRENTLY.
	RefreshRows func(ctx context.Context, q *ast.Select, view *table.Desc) error
	// FillView computes the rows of an incremental view, and of those that are computed from it.
	// fresh means that it has none yet; only then it returns their number.
	FillView func(ctx context.Context, view *table.Desc, fresh bool) (int64, error)
	// Cleared is called for each table whose rows are all gone; nil: not called.
	Cleared func(id table.ID)
	// FirstRow runs the text of a query and returns its first row, nil when there is none.
	FirstRow func(ctx context.Context, text string) ([]types.Datum, error)
	// Lock locks a relation until the transaction's end, before anything of it is changed; nil:
	// there are no other sessions. An error ends the statement.
	Lock func(ctx context.Context, id table.ID, mode rowlock.Mode) error
	// InUse returns why a table, or with an index ID that index, may not be changed now: the
	// session itself still uses it. It returns "" when it may be changed. nil: nothing is in use.
	InUse func(id table.ID, index table.IndexID) (why string)
	// Building is called before the entries of an index are made by CREATE INDEX or REINDEX, and
	// returns a function that is called with the number of rows read so far; nil: not called.
	Building func(command string, d *table.Desc, ix *table.Index) (seen func(rows int64))

	gathered gathered
}

// build writes the entries of a new index.
func (env *Env) build(ctx context.Context, command string, d *table.Desc, ix *table.Index) error {
	var seen func(rows int64)
	if env.Building != nil {
		seen = env.Building(command, d, ix)
	}
	return catalog.Backfill(ctx, env.Tx, d, ix, seen)
}

// unused refuses a command that changes a table that the session is not done with: plans that are
// half run, and checks that wait, rest on its descriptor.
func (env *Env) unused(command string, d *table.Desc) error {
	if !d.HasRows() {
		return nil
	}
	return env.usable(command, d.Name, d.ID, 0)
}

func (env *Env) usable(command, name string, id table.ID, index table.IndexID) error {
	if env.InUse == nil {
		return nil
	}
	if why := env.InUse(id, index); why != "" {
		return sqlerr.New(sqlerr.ObjectInUse, "cannot %s \"%s\" because %s", command, name, why)
	}
	return nil
}

func (env *Env) lock(ctx context.Context, d *table.Desc, mode rowlock.Mode) error {
	return env.take(ctx, d.ID, mode)
}

// Execute runs a statement and returns its command tag.
func Execute(ctx context.Context, env *Env, stmt ast.Statement) (tag string, err error) {
	switch s := stmt.(type) {
	case *ast.CreateTable:
		return env.createTable(ctx, s)
	case *ast.CreateIndex:
		return "CREATE INDEX", env.createIndex(ctx, s)
	case *ast.CreateView:
		return "CREATE VIEW", env.createView(ctx, s)
	case *ast.CreateMaterializedView:
		return env.createMaterializedView(ctx, s)
	case *ast.RefreshMaterializedView:
		return "REFRESH MATERIALIZED VIEW", env.refresh(ctx, s)
	case *ast.CreateSequence:
		return "CREATE SEQUENCE", env.createSequence(ctx, s)
	case *ast.AlterSequence:
		return "ALTER SEQUENCE", env.alterSequence(ctx, s)
	case *ast.CreateType:
		return "CREATE TYPE", env.createType(ctx, s)
	case *ast.CreateDomain:
		return "CREATE DOMAIN", env.createDomain(ctx, s)
	case *ast.AlterType:
		return env.alterType(ctx, s)
	case *ast.CreateExtension:
		return "CREATE EXTENSION", env.createExtension(ctx, s)
	case *ast.AlterExtension:
		return "ALTER EXTENSION", env.alterExtension(ctx, s)
	case *ast.CreateSchema:
		return "CREATE SCHEMA", env.createSchema(ctx, s)
	case *ast.CreateDatabase:
		return "CREATE DATABASE", env.createDatabase(ctx, s)
	case *ast.Drop:
		return env.drop(ctx, s)
	case *ast.AlterTable:
		return env.alter(ctx, s)
	case *ast.Truncate:
		return "TRUNCATE TABLE", together(ctx, env, env.truncate, s)
	case *ast.Comment:
		return "COMMENT", env.comment(ctx, s)
	case *ast.CreatePolicy:
		return "CREATE POLICY", env.createPolicy(ctx, s)
	case *ast.AlterPolicy:
		return "ALTER POLICY", env.alterPolicy(ctx, s)
	case *ast.RenamePolicy:
		return "ALTER POLICY", env.renamePolicy(ctx, s)
	case *ast.DropPolicy:
		return "DROP POLICY", env.dropPolicy(ctx, s)
	case *ast.CreateRole:
		return "CREATE ROLE", env.createRole(ctx, s)
	case *ast.AlterRole:
		return "ALTER ROLE", env.alterRole(ctx, s)
	case *ast.RenameRole:
		return "ALTER ROLE", env.renameRole(ctx, s)
	case *ast.DropRole:
		return "DROP ROLE", env.dropRole(ctx, s)
	case *ast.GrantRole:
		if s.Revoke {
			return "REVOKE ROLE", env.grantRole(ctx, s)
		}
		return "GRANT ROLE", env.grantRole(ctx, s)
	case *ast.Grant:
		return verb(s.Revoke), together(ctx, env, env.grant, s)
	case *ast.AlterDefaultPrivileges:
		return "ALTER DEFAULT PRIVILEGES", env.alterDefaultPrivileges(ctx, s)
	case *ast.ReassignOwned:
		return "REASSIGN OWNED", together(ctx, env, env.reassignOwned, s)
	case *ast.DropOwned:
		return "DROP OWNED", together(ctx, env, env.dropOwned, s)
	case *ast.RenameSchema:
		return "ALTER SCHEMA", together(ctx, env, env.renameSchema, s)
	case *ast.AlterOwner:
		return "ALTER " + s.Kind.Upper(), env.alterOwner(ctx, s)
	case *ast.CreateObserver:
		_, err := env.CreateObserver(ctx, s)
		return "CREATE OBSERVER", err
	}
	return "", sqlerr.New(sqlerr.InternalError, "ddl: unexpected statement %T", stmt)
}

func (env *Env) notice(code, format string, args ...any) {
	if env.Notice != nil {
		env.Notice("NOTICE", code, fmt.Sprintf(format, args...), "")
	}
}
