package ddl

import (
	"context"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn/rowlock"
)

// CreateObserver registers an observer, or puts a higher version in the place of the one that is
// registered, and returns its ID. If it is registered as it is asked for, nothing is locked or
// written: a program may do so at every start.
func (env *Env) CreateObserver(ctx context.Context, s *ast.CreateObserver) (table.ID, error) {
	if err := checkObserver(s); err != nil {
		return 0, err
	}
	d, err := env.observable(ctx, s.Table)
	if err != nil {
		return 0, err
	}
	if err := env.mustOwn(ctx, d); err != nil {
		return 0, err
	}
	o, err := newObserver(d, s)
	if err != nil {
		return 0, err
	}
	there, found, err := env.View.Observer(ctx, env.Database, s.Name)
	if err != nil {
		return 0, err
	}
	if found {
		same, err := replaceable(there.Table, there.Observer, d, &o)
		if same || err != nil {
			return there.Observer.ID, err
		}
	}
	if err := env.lock(ctx, d, rowlock.ShareRowExclusive); err != nil {
		return 0, err
	}
	if err := env.unused("CREATE OBSERVER", d); err != nil {
		return 0, err
	}
	if found {
		d, err = env.View.ReplaceObserver(ctx, d, o)
	} else {
		d, err = env.View.CreateObserver(ctx, d, o)
	}
	if err != nil {
		return 0, err
	}
	return d.ObserverByName(s.Name).ID, nil
}

func checkObserver(s *ast.CreateObserver) error {
	switch {
	case s.Name == "":
		return sqlerr.New(sqlerr.InvalidParameterValue, "the name of an observer must not be empty")
	case len(s.Name) > maxName:
		return sqlerr.New(sqlerr.NameTooLong, "observer name \"%s\" is too long", s.Name).
			WithDetail("It has at most %d bytes.", maxName)
	case s.Version < 0:
		return sqlerr.New(sqlerr.InvalidParameterValue,
			"version %d of observer \"%s\" is negative", s.Version, s.Name)
	}
	return nil
}

// observable finds a table by the name that an observer has for it.
func (env *Env) observable(ctx context.Context, n ast.Name) (*table.Desc, error) {
	d, ix, err := env.lookupStored(ctx, n)
	if err != nil {
		return nil, err
	}
	if d == nil && env.Planner != nil && env.Planner.Catalog != nil {
		if d, err = env.Planner.Catalog.Relation(ctx, n); err != nil {
			return nil, err
		}
	}
	switch {
	case d == nil:
		return nil, sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", display(n))
	case ix != nil:
		return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is an index", ix.Name)
	case d.Kind == table.KindVirtual:
		return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is a system catalog", d.Name)
	case d.Temporary():
		return nil, sqlerr.New(sqlerr.FeatureNotSupported,
			"observers cannot be on temporary tables").At(int(n.Pos))
	case d.Kind != table.KindTable:
		return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a table", d.Name)
	}
	return d, nil
}

// newObserver is what s asks for, without an ID.
func newObserver(d *table.Desc, s *ast.CreateObserver) (table.Observer, error) {
	o := table.Observer{Name: s.Name, Version: s.Version, Backfill: s.Backfill}
	for _, name := range s.Columns {
		i, err := column(d, name)
		if err != nil {
			return o, err
		}
		if id := d.Columns[i].ID; !slices.Contains(o.Columns, id) {
			o.Columns = append(o.Columns, id)
			continue
		}
		return o, sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" specified more than once",
			name.Name)
	}
	slices.Sort(o.Columns)
	return o, nil
}

// replaceable returns why o may not take the place of an observer of the same name, or reports that
// it is the same.
func replaceable(on *table.Desc, was *table.Observer, d *table.Desc,
	o *table.Observer) (same bool, err error) {
	if o.Version < was.Version {
		return false, sqlerr.New(sqlerr.ObjectNotInPrerequisiteState,
			"observer \"%s\" has version %d, and this program has version %d of it", o.Name,
			was.Version, o.Version).
			WithHint("A newer program has registered the observer. Run that one.")
	}
	taken := sqlerr.New(sqlerr.DuplicateObject, "observer \"%s\" already exists", o.Name)
	if on.ID != d.ID {
		return false, taken.WithDetail("It observes table %s.",
			sqlname.Qualified(on.Schema, on.Name)).
			WithHint("Drop it first: SELECT minidb_drop_observer(%s).", sqlname.Literal(o.Name))
	}
	if o.Version > was.Version {
		return false, nil
	}
	if slices.Equal(o.Columns, was.Columns) && o.Backfill == was.Backfill {
		return true, nil
	}
	return false, taken.WithDetail("Version %d of it was registered with other columns or another "+
		"backfill.", was.Version).WithHint("Give the changed observer a higher version.")
}

// DropObserver removes an observer by its name.
func (env *Env) DropObserver(ctx context.Context, name string) error {
	o, ok, err := env.View.Observer(ctx, env.Database, name)
	if err != nil {
		return err
	}
	if !ok {
		return sqlerr.New(sqlerr.UndefinedObject, "observer \"%s\" does not exist", name)
	}
	if err := env.mustOwn(ctx, o.Table); err != nil {
		return err
	}
	if err := env.lock(ctx, o.Table, rowlock.ShareRowExclusive); err != nil {
		return err
	}
	if err := env.unused("DROP OBSERVER", o.Table); err != nil {
		return err
	}
	return env.dropObserver(ctx, name)
}

// dropObserver is DropObserver of one whose table is locked.
func (env *Env) dropObserver(ctx context.Context, name string) error {
	o, ok, err := env.View.Observer(ctx, env.Database, name)
	if err != nil || !ok {
		return err
	}
	_, err = env.View.DropObserver(ctx, o.Table, name)
	return err
}

func describeObserver(o *table.Observer) string { return "observer " + sqlname.Quote(o.Name) }

// observersOf notes the observers that name columns of a table which go, as what depends on them.
func (dr *dropper) observersOf(d *table.Desc, columns []string) {
	for i := range d.Observers {
		o := &d.Observers[i]
		if o.Views {
			continue // the views depend on the columns
		}
		for _, name := range columns {
			if !slices.Contains(o.Columns, d.Columns[d.Column(name)].ID) {
				continue
			}
			dr.depends(describeObserver(o),
				"column "+sqlname.Quote(name)+" of "+dr.env.describe(d))
			dr.observed = append(dr.observed, o.Name)
			break
		}
	}
}

// unobserved refuses to change the type of column o while an observer names it. One of all columns
// gets the rows as changed.
func (a *alteration) unobserved(o int) error {
	c := &a.d.Columns[o]
	for i := range a.d.Observers {
		if obs := &a.d.Observers[i]; !obs.Views && slices.Contains(obs.Columns, c.ID) {
			return sqlerr.New(sqlerr.FeatureNotSupported,
				"cannot alter type of a column that an observer observes").
				WithDetail("Observer \"%s\" observes column \"%s\".", obs.Name, c.Name).
				WithHint("Drop the observer first: SELECT minidb_drop_observer(%s).",
					sqlname.Literal(obs.Name))
		}
	}
	return nil
}
