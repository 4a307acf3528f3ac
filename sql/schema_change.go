package sql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/sql/ddl"
	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/sql/statistics"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
)

// openDDL runs a statement that changes the schema.
func (s utility) openDDL(ctx context.Context, c call) (source, error) {
	stmt := c.ps.Stmt
	k := kindOf(stmt)
	if err := s.writable(k.name); err != nil {
		return nil, err
	}
	if k.alone {
		if err := s.alone(k.name); err != nil {
			return nil, err
		}
	}
	if err := s.databasesUnused(ctx, stmt); err != nil {
		return nil, err
	}
	if cs, ok := stmt.(*ast.CreateSchema); ok && cs.Elements != nil {
		return completed(s.createSchema(ctx, cs))
	}
	return completed(s.changeSchema(ctx, stmt))
}

// databasesUnused refuses to drop a database that has sessions.
func (s utility) databasesUnused(ctx context.Context, stmt ast.Statement) error {
	drop, ok := stmt.(*ast.Drop)
	if !ok || drop.Kind != ast.DatabaseObject {
		return nil
	}
	for _, name := range drop.Names {
		if name.Name == s.database {
			return sqlerr.New(sqlerr.ObjectInUse, "cannot drop the currently open database")
		}
		if err := s.databaseUnused(ctx, name.Name); err != nil {
			return err
		}
	}
	return nil
}

// databaseUnused returns 55006 if a database has sessions, and says whose it can't see.
func (s utility) databaseUnused(ctx context.Context, name string) error {
	if err := s.engine.databaseUnused(ctx, name); err != nil {
		return err
	}
	if s.engine.shared {
		s.notice("WARNING", "01000", "sessions in database \"%s\" were looked for in this process "+
			"only, of several that share the store", name)
	}
	return nil
}

// databaseUnused returns 55006 if a database has sessions that do not end within
// Options.DatabaseWait.
func (e *Engine) databaseUnused(ctx context.Context, name string) error {
	late := time.NewTimer(e.opts.DatabaseWait)
	defer late.Stop()
	n, ended := e.sessionsIn(name)
	for waiting := true; n > 0 && waiting; {
		select {
		case <-ended:
			n, ended = e.sessionsIn(name)
		case <-late.C:
			waiting = false
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if n == 0 {
		return nil
	}
	detail := "There is 1 other session using the database."
	if n > 1 {
		detail = fmt.Sprintf("There are %d other sessions using the database.", n)
	}
	return sqlerr.New(sqlerr.ObjectInUse, "database \"%s\" is being accessed by other users",
		name).WithDetail("%s", detail)
}

// inUse returns why the transaction may not change a table or, if index is not 0, that index: plans
// of portals, and checks of foreign keys that are due, rely on its descriptor. It returns "" if it
// may.
func (s *planRunner) inUse(id table.ID, index table.IndexID) string {
	for _, p := range s.portals {
		if p.plan == nil || p.committed {
			continue
		}
		reads := slices.ContainsFunc(p.plan.Tables,
			func(t opt.TableVersion) bool { return t.ID == id })
		if reads && (index == 0 || exec.UsesIndex(p.plan, id, index)) {
			return "it is being used by active queries in this session"
		}
	}
	if index == 0 && s.references.Pending(id) {
		return "it has pending trigger events"
	}
	return ""
}

// firstRow returns the first row of a query, nil if there is none. Schema changes check rows by it.
func (s *planRunner) firstRow(ctx context.Context, text string) ([]types.Datum, error) {
	return s.firstRowWith(ctx, text, nil, nil)
}

// firstRowWith is firstRow of a query with parameters.
func (s *planRunner) firstRowWith(ctx context.Context, text string, ts []*types.Type,
	params []types.Datum) ([]types.Datum, error) {
	plan, stmt, err := s.innerPlan(ctx, text, ts)
	if err != nil {
		return nil, err
	}
	src, err := s.runPlan(ctx, plan, stmt, params, runOptions{unchecked: true})
	if err != nil {
		return nil, err
	}
	defer src.close()
	for {
		b, err := src.next(ctx)
		if err != nil || b == nil {
			return nil, err
		}
		if b.Rows() == 0 {
			continue
		}
		row := make([]types.Datum, len(b.Cols))
		for i, c := range b.Cols {
			row[i] = c.Get(b.Row(0))
		}
		return row, nil
	}
}

// ddlEnv is what a change of the schema runs in.
func (s *planRunner) ddlEnv(ctx context.Context) *ddl.Env {
	env := s.plannerEnv(ctx)
	s.tx.view.Mentions = ddl.Mentions(env)
	authority := s.authority
	if s.creating.schema != "" {
		authority = s.ownerOfNewSchema
	}
	return &ddl.Env{
		Tx: s.tx.tx, Catalog: s.engine.catalog, View: s.tx.view, Planner: env,
		Database: s.databaseID, DatabaseName: s.database, SearchPath: s.searchPath(ctx),
		Implied: s.implied(ctx), Temporary: s.makeTemporary,
		Runtime: s.runtime(ctx), Authority: authority,
		System: systemObjects{catalogEnv{s}},
		Notice: s.sendNotice, Shared: s.engine.shared,
		RunQuery: s.fillTable, RefreshRows: s.refreshRows, FirstRow: s.firstRow,
		Lock: func(ctx context.Context, id table.ID, mode rowlock.Mode) error {
			_, err := s.lockTable(ctx, id, mode, false)
			return err
		},
		InUse: s.inUse,
		Building: func(command string, d *table.Desc, ix *table.Index) func(int64) {
			p := s.progress.beginUpkeep(command, d.ID, s.liveRows(ctx, d.ID))
			p.index.Store(uint32(ix.OID))
			p.phase.Store(phaseScanningTable)
			return p.rows.Store
		},
		Cleared: func(id table.ID) { s.addChange(statistics.Change{Table: id, Truncated: true}) },
	}
}

func upper(s string) string { return strings.ToUpper(s) }

// locker returns how a schema change locks its tables. If its snapshot must stay, the change
// continues with it, and has a conflict at commit with what the snapshot does not show.
func (s utility) locker() func(context.Context, table.ID, rowlock.Mode) error {
	return func(ctx context.Context, id table.ID, mode rowlock.Mode) error {
		out, err := s.lockTable(ctx, id, mode, false)
		anew := out == rowlock.Waited || out == rowlock.Granted &&
			// such a lock is for the schema alone
			(mode != rowlock.AccessShare || s.tx.view.Outdated())
		if err == nil && anew && s.refreshable() {
			return ddl.ErrLockedAnew
		}
		return err
	}
}

// changeSchema runs a statement that changes the schema, with the locks that it needs. If it had to
// wait for a table or a name, it is undone and begins again with the locks that it holds by then.
func (s utility) changeSchema(ctx context.Context, stmt ast.Statement) (string, error) {
	return s.changeSchemaBy(ctx, stmt, s.fillTable)
}

// changeSchemaBy is changeSchema with another way to fill the relation of CREATE … AS.
func (s utility) changeSchemaBy(ctx context.Context, stmt ast.Statement,
	fill func(context.Context, *ast.Select, *table.Desc) (int64, error)) (string, error) {
	refreshable, wrote := s.refreshable(), s.tx.tx.Dirty()
	for {
		if _, err := s.path(ctx); err != nil {
			return "", err
		}
		tx, at, checks, changes := s.tx.tx, s.tx.tx.Savepoint(), s.references.Mark(),
			slices.Clone(s.tx.changes)
		var notices [][4]string
		env := s.ddlEnv(ctx)
		env.Lock, env.RunQuery = s.locker(), fill
		env.FillView = func(ctx context.Context, d *table.Desc, fresh bool) (int64, error) {
			return s.fillView(ctx, d, fresh, wrote)
		}
		env.Notice = func(severity, code, message, detail string) {
			notices = append(notices, [4]string{severity, code, message, detail})
		}
		tag, err := ddl.Execute(ctx, env, stmt)
		if refreshable && isOutdated(err) {
			tx.UndoTo(at)
			s.references.ReleaseTo(checks)
			s.tx.changes = changes
			if err := s.refresh(ctx); err != nil {
				return "", err
			}
			continue
		}
		for _, n := range notices {
			s.sendNotice(n[0], n[1], n[2], n[3])
		}
		return tag, err
	}
}

// isOutdated reports whether a schema change has got a lock on something that its snapshot does not
// show in its present state.
func isOutdated(err error) bool {
	var stale *txn.StaleError
	return errors.Is(err, ddl.ErrLockedAnew) || errors.As(err, &stale)
}
