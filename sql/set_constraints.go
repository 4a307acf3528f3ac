package sql

import (
	"context"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/sql/ri"
	"github.com/minidb/minidb/table"
)

// execSetConstraints is SET CONSTRAINTS.
func (s utility) execSetConstraints(ctx context.Context, st *ast.SetConstraints) (string, error) {
	const tag = "SET CONSTRAINTS"
	if s.tx.state != inBlock && !s.inProgram {
		s.notice("WARNING", sqlerr.NoActiveSQLTransaction,
			"SET CONSTRAINTS can only be used in transaction blocks")
	}
	if err := s.ensure(ctx); err != nil {
		return "", err
	}
	if err := s.newestSchema(ctx); err != nil {
		return "", err
	}
	named, err := s.constraints(ctx, st)
	if err != nil {
		return "", err
	}
	if s.tx.state != inBlock && !s.inProgram {
		return tag, nil
	}
	return tag, s.conceal(ctx, nil, s.references.SetMode(ctx, named, st.Deferred))
}

// constraints finds the constraints that are named: all of a name in the first schema of the search
// path that has one. Those that are not deferrable are immediate already.
func (s *planRunner) constraints(ctx context.Context, st *ast.SetConstraints) ([]ri.Constraint,
	error) {
	if len(st.Names) == 0 {
		return nil, nil
	}
	found := []ri.Constraint{}
	rels, err := s.tx.view.Relations(ctx, s.databaseID)
	if err != nil {
		return nil, err
	}
	for _, n := range st.Names {
		path, err := s.path(ctx)
		if err != nil {
			return nil, err
		}
		if n.Schema != "" {
			path = []string{n.Schema}
		}
		there := false
		for _, schema := range path {
			for _, d := range rels {
				if d.Schema != schema {
					continue
				}
				c, deferrable, ok := constraintOf(d, n.Name)
				there = there || ok
				switch {
				case deferrable:
					found = append(found, c)
				case ok && st.Deferred:
					return nil, sqlerr.New(sqlerr.WrongObjectType,
						"constraint \"%s\" is not deferrable", n.Name)
				}
			}
			if there {
				break
			}
		}
		if !there {
			return nil, sqlerr.New(sqlerr.UndefinedObject, "constraint \"%s\" does not exist",
				n.Name)
		}
	}
	return found, nil
}

// constraintOf finds a constraint of a table by its name.
func constraintOf(d *table.Desc, name string) (c ri.Constraint, deferrable, ok bool) {
	c.Table = d.ID
	if fk := d.ForeignKey(name); fk != nil {
		c.OID = fk.OID
		return c, fk.Deferrable, true
	}
	if ix := d.IndexByName(name); ix != nil && (ix.Primary || ix.Constraint) {
		c.OID = ix.OID
		return c, ix.Deferrable, true
	}
	check := slices.ContainsFunc(d.Checks, func(c table.Check) bool { return c.Name == name })
	return c, false, check
}
