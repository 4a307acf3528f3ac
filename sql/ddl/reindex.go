package ddl

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn/rowlock"
)

// ReindexIndex builds an index anew, and calls rebuilt with its name.
func (env *Env) ReindexIndex(ctx context.Context, n ast.Name, rebuilt func(index string)) error {
	d, ix, err := env.lookup(ctx, n)
	switch {
	case err != nil:
		return err
	case d == nil:
		return sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", display(n))
	case ix == nil:
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not an index", n.Name)
	}
	if a, err := env.authority(ctx); err != nil {
		return err
	} else if !a.Has(d.OwnedBy()) {
		return notOwner(ast.IndexObject, ix.Name)
	}
	return env.rebuild(ctx, d, []string{ix.Name}, rebuilt)
}

// ReindexTable builds all indexes of a table anew, and calls rebuilt with their names.
func (env *Env) ReindexTable(ctx context.Context, n ast.Name, rebuilt func(index string)) error {
	d, ix, err := env.lookup(ctx, n)
	switch {
	case err != nil:
		return err
	case d == nil:
		return sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", display(n))
	case ix != nil || !d.HasRows():
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a table or materialized view",
			n.Name)
	}
	if err := env.mustOwn(ctx, d); err != nil {
		return err
	}
	if len(d.Indexes) == 0 {
		env.notice("00000", "table \"%s\" has no indexes to reindex", d.Name)
	}
	return env.rebuild(ctx, d, indexNames(d), rebuilt)
}

// ReindexByID is ReindexTable for a table that may be gone.
func (env *Env) ReindexByID(ctx context.Context, id table.ID, rebuilt func(index string)) error {
	d, err := env.View.RelationByID(ctx, id)
	if err != nil || d == nil {
		return err
	}
	return env.rebuild(ctx, d, indexNames(d), rebuilt)
}

func indexNames(d *table.Desc) []string {
	names := make([]string, len(d.Indexes))
	for i := range d.Indexes {
		names[i] = d.Indexes[i].Name
	}
	return names
}

// rebuild writes the entries of indexes again, from the rows, under new index IDs, and drops those
// of the old ones as a whole: nothing of an old entry is trusted. An index that is the rows
// themselves has no entries to write.
func (env *Env) rebuild(ctx context.Context, old *table.Desc, names []string,
	rebuilt func(index string)) error {
	if err := env.lock(ctx, old, rowlock.TableShare); err != nil {
		return err
	}
	d := old.Clone()
	moved := false
	for _, name := range names {
		ix := d.IndexByName(name)
		if ix.ID == table.RowIndexID {
			continue
		}
		if err := env.usable("REINDEX INDEX", name, d.ID, ix.ID); err != nil {
			return err
		}
		if err := env.View.RelocateIndex(ctx, d, ix); err != nil {
			return err
		}
		ix.ID = d.NextIndexID
		d.NextIndexID++
		moved = true
	}
	if moved {
		if err := env.View.UpdateRelation(ctx, old, d); err != nil {
			return err
		}
	}
	for _, name := range names {
		if ix := d.IndexByName(name); ix.ID != table.RowIndexID {
			if err := env.build(ctx, "REINDEX", d, ix); err != nil {
				return err
			}
		}
		rebuilt(name)
	}
	return nil
}
