package sql

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/sql/pgcatalog"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn/rowlock"
)

// upkeep are the options of VACUUM and ANALYZE.
type upkeep struct {
	verbose, analyze, full, rowsOnly, skipLocked bool

	// of VACUUM, and only to be checked against FULL
	workers             int64
	noSkipping, noTOAST bool
}

// readUpkeep reads the options. VACUUM's options about PostgreSQL's pages have nothing to do: no
// page is skipped, there is no TOAST table and no file to truncate, transaction numbers do not wrap
// around so that no row needs freezing, and a pass has no workers.
func readUpkeep(st *ast.Maintenance) (o upkeep, err error) {
	for i := range st.Options {
		if err := o.set(st.Command, &st.Options[i]); err != nil {
			return o, err
		}
	}
	return o, o.checkFull()
}

func (o *upkeep) set(command ast.MaintenanceCommand, opt *ast.Option) (err error) {
	name, vacuum := strings.ToLower(opt.Name), command == ast.Vacuum
	switch {
	case vacuum && name == "index_cleanup":
		o.rowsOnly, err = indexCleanupOff(opt)
		return err
	case vacuum && name == "parallel":
		o.workers, err = parallelWorkers(opt)
		return err
	}
	on, err := boolOption(opt)
	if err != nil {
		return err
	}
	switch name {
	case "verbose":
		o.verbose = on
		return nil
	case "skip_locked":
		o.skipLocked = on
		return nil
	}
	if vacuum && o.setVacuum(name, on) {
		return nil
	}
	return unknownOption(upper(string(command)), opt)
}

// setVacuum sets an option that only VACUUM has; false if there is none of that name.
func (o *upkeep) setVacuum(name string, on bool) bool {
	switch name {
	case "analyze", "analyse":
		o.analyze = on
	case "full":
		o.full = on
	case "freeze", "truncate":
	case "disable_page_skipping":
		o.noSkipping = on
	case "process_toast":
		o.noTOAST = !on
	default:
		return false
	}
	return true
}

// checkFull refuses what cannot be together with FULL.
func (o *upkeep) checkFull() error {
	switch {
	case o.full && o.workers > 0:
		return sqlerr.New(sqlerr.FeatureNotSupported,
			"VACUUM FULL cannot be performed in parallel")
	case o.full && o.noSkipping:
		return sqlerr.New(sqlerr.FeatureNotSupported,
			"VACUUM option DISABLE_PAGE_SKIPPING cannot be used with FULL")
	case o.full && o.noTOAST:
		return sqlerr.New(sqlerr.FeatureNotSupported, "PROCESS_TOAST required with VACUUM FULL")
	}
	return nil
}

func unknownOption(command string, o *ast.Option) error {
	return sqlerr.New(sqlerr.SyntaxError, "unrecognized %s option \"%s\"", command,
		o.Name).At(int(o.Pos))
}

func boolOption(o *ast.Option) (bool, error) {
	if o.Value == "" {
		return true, nil
	}
	on, ok := types.ParseBool(o.Value)
	if !ok {
		return false, sqlerr.New(sqlerr.SyntaxError, "%s requires a Boolean value",
			strings.ToLower(o.Name))
	}
	return on, nil
}

func indexCleanupOff(o *ast.Option) (bool, error) {
	if strings.EqualFold(o.Value, "auto") {
		return false, nil
	}
	on, err := boolOption(o)
	return !on, err
}

func parallelWorkers(o *ast.Option) (int64, error) {
	if o.Value == "" {
		return 0, sqlerr.New(sqlerr.SyntaxError, "parallel option requires a value between 0 and "+
			"1024").At(int(o.Pos))
	}
	n, err := strconv.ParseInt(o.Value, 10, 64)
	if err != nil || n < 0 || n > 1024 {
		return 0, sqlerr.New(sqlerr.SyntaxError, "parallel workers for vacuum must be between 0 "+
			"and 1024").At(int(o.Pos))
	}
	return n, nil
}

// target is a table to vacuum or analyse.
type target struct {
	desc    *table.Desc
	columns []table.ColumnID // of ANALYZE; nil: all
}

// targets finds the tables that a statement names; without names, all of the database.
func (s maintenance) targets(ctx context.Context, st *ast.Maintenance, analyze bool) ([]target,
	error) {
	if len(st.Tables) == 0 {
		all, err := s.allTables(ctx, "")
		if err != nil {
			return nil, err
		}
		return s.owned(ctx, st, all)
	}
	var out []target
	for i := range st.Tables {
		t := &st.Tables[i]
		if t.Columns != nil && !analyze {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported,
				"ANALYZE option must be specified when a column list is provided")
		}
		d, err := s.maintained(ctx, t.Name)
		if err != nil {
			return nil, err
		}
		if d != nil && pgcatalog.IsTable(d) {
			continue // made by the server: there is nothing to vacuum
		}
		if d == nil || !d.HasRows() {
			s.notice("WARNING", "01000", "skipping \"%s\" --- cannot %s non-tables or special "+
				"system tables", t.Name.Name, st.Command)
			continue
		}
		columns, err := columnIDs(d, t.Columns)
		if err != nil {
			return nil, err
		}
		out = append(out, target{d, columns})
	}
	return s.owned(ctx, st, out)
}

// owned returns the targets that the session owns, or that are in a database of its own. It warns
// of the others.
func (s maintenance) owned(ctx context.Context, st *ast.Maintenance, all []target) ([]target,
	error) {
	a, err := s.authority(ctx)
	if err != nil || a.Has(a.DatabaseOwner) {
		return all, err
	}
	var out []target
	for _, t := range all {
		if a.Has(t.desc.OwnedBy()) {
			out = append(out, t)
			continue
		}
		s.notice("WARNING", "01000", "skipping \"%s\" --- only table or database owner can %s it",
			t.desc.Name, st.Command)
	}
	return out, nil
}

// maintained finds a relation that can be vacuumed; nil for an index, which cannot.
func (s maintenance) maintained(ctx context.Context, name ast.Name) (*table.Desc, error) {
	d, err := resolver{&s.planRunner}.named(ctx, name)
	if d != nil || err != nil {
		return d, err
	}
	schemas, err := s.path(ctx)
	if err != nil {
		return nil, err
	}
	if name.Schema != "" {
		schemas = []string{name.Schema}
	}
	for _, schema := range schemas {
		if _, ix, err := s.tx.view.Index(ctx, s.databaseID, schema, name.Name); ix != nil ||
			err != nil {
			return nil, err
		}
	}
	return nil, sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", plainName(name))
}

// allTables lists the tables of the database, or of one schema of it.
func (s maintenance) allTables(ctx context.Context, schema string) (out []target, err error) {
	rels, err := s.tx.view.Relations(ctx, s.databaseID)
	for _, d := range rels {
		if d.HasRows() && (schema == "" || d.Schema == schema) {
			out = append(out, target{desc: d})
		}
	}
	return out, err
}

func columnIDs(d *table.Desc, names []ast.Ident) (out []table.ColumnID, err error) {
	for _, n := range names {
		i := d.Column(n.Name)
		if i < 0 || d.Columns[i].Hidden {
			return nil, sqlerr.New(sqlerr.UndefinedColumn,
				"column \"%s\" of relation \"%s\" does not exist", n.Name, d.Name)
		}
		id := d.Columns[i].ID
		if slices.Contains(out, id) {
			return nil, sqlerr.New(sqlerr.DuplicateColumn,
				"column \"%s\" of relation \"%s\" appears more than once", n.Name, d.Name)
		}
		out = append(out, id)
	}
	return out, nil
}

// underUpkeep works on a table under the lock that excludes schema changes and other maintenance,
// and releases it then. With SKIP_LOCKED it does not wait for the lock.
func (s maintenance) underUpkeep(ctx context.Context, command string, t target, o upkeep,
	work func() error) error {
	mark := s.locks.Mark()
	defer s.locks.ReleaseTo(mark)
	if free, err := s.lockForUpkeep(ctx, command, t, o); err != nil || !free {
		return err
	}
	return work()
}

// lockForUpkeep takes the lock. It returns false if the lock is not free and the table is to be
// skipped.
func (s maintenance) lockForUpkeep(ctx context.Context, command string, t target, o upkeep) (bool,
	error) {
	_, err := s.lockTable(ctx, t.desc.ID, rowlock.ShareUpdateExclusive, o.skipLocked)
	if o.skipLocked && errors.Is(err, rowlock.ErrNotAvailable) {
		s.notice("WARNING", sqlerr.LockNotAvailable, "skipping %s of \"%s\" --- lock not available",
			command, t.desc.Name)
		return false, nil
	}
	return err == nil, err
}
