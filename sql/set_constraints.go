package sql

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/sql/ri"
)

// execSetConstraints is SET CONSTRAINTS.
func (s utility) execSetConstraints(ctx context.Context, st *ast.SetConstraints) (string, error) {
	const tag = "SET CONSTRAINTS"
	if s.tx.state != inBlock {
		s.notice("WARNING", sqlerr.NoActiveSQLTransaction,
			"SET CONSTRAINTS can only be used in transaction blocks")
		return tag, nil
	}
	if err := s.ensure(ctx); err != nil {
		return "", err
	}
	if err := s.newestSchema(ctx); err != nil {
		return "", err
	}
	named, err := s.foreignKeys(ctx, st.Names)
	if err != nil {
		return "", err
	}
	return tag, s.references.SetMode(ctx, named, st.Deferred)
}

// foreignKeys finds the constraints that are named: all of a name in the first schema of the search
// path that has one.
func (s *planRunner) foreignKeys(ctx context.Context, names []ast.Name) (found []ri.Constraint,
	err error) {
	if len(names) == 0 {
		return nil, nil
	}
	rels, err := s.tx.view.Relations(ctx, s.databaseID)
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		path, err := s.path(ctx)
		if err != nil {
			return nil, err
		}
		if n.Schema != "" {
			path = []string{n.Schema}
		}
		before := len(found)
		for _, schema := range path {
			for _, d := range rels {
				if d.Schema != schema {
					continue
				}
				if fk := d.ForeignKey(n.Name); fk != nil {
					if !fk.Deferrable {
						return nil, sqlerr.New(sqlerr.WrongObjectType,
							"constraint \"%s\" is not deferrable", n.Name)
					}
					found = append(found, ri.Constraint{Table: d.ID, OID: fk.OID})
				}
			}
			if len(found) > before {
				break
			}
		}
		if len(found) == before {
			return nil, sqlerr.New(sqlerr.UndefinedObject, "constraint \"%s\" does not exist",
				n.Name)
		}
	}
	return found, nil
}
