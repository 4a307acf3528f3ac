package bind

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
)

// lockStrengths are the locking clauses as messages name them.
var lockStrengths = map[string]string{
	"update": "FOR UPDATE", "no key update": "FOR NO KEY UPDATE", "share": "FOR SHARE", "key share": "FOR KEY SHARE",
}

// buildLocking notes what FOR UPDATE and its like lock: every table in FROM, or those of OF.
func (s *selecting) buildLocking() error {
	for _, l := range s.locking {
		what := lockStrengths[l.Strength]
		switch {
		case s.core.Distinct || len(s.core.DistinctOn) > 0:
			return sqlerr.New(sqlerr.FeatureNotSupported, "%s is not allowed with DISTINCT clause", what)
		case s.group.given:
			return sqlerr.New(sqlerr.FeatureNotSupported, "%s is not allowed with GROUP BY clause", what)
		case s.having != nil:
			return sqlerr.New(sqlerr.FeatureNotSupported, "%s is not allowed with HAVING clause", what)
		case len(s.sc.sel.aggs) > 0:
			return sqlerr.New(sqlerr.FeatureNotSupported, "%s is not allowed with aggregate functions", what)
		case len(s.sc.sel.sets) > 0:
			return sqlerr.New(sqlerr.FeatureNotSupported, "%s is not allowed with set-returning functions in the target list", what)
		}
		targets, err := s.lockTargets(l, what)
		if err != nil {
			return err
		}
		if len(targets) > 0 {
			s.b.meta.Writes = true
			for _, t := range targets {
				s.b.noteUse(t.Desc.ID, physical.LocksRows)
			}
			s.locks = append(s.locks, targets...)
		}
	}
	return nil
}

// lockItems are the row keys of the tables to lock, as far as the select list does not have them.
func (s *selecting) lockItems(seen logical.ColSet) []logical.Item {
	var items []logical.Item
	for _, t := range s.locks {
		for _, kc := range t.Desc.RowKey {
			id := t.First + t.Desc.ColumnByID(kc.ColumnID)
			if !seen.Has(id) {
				seen.Add(id)
				items = append(items, logical.Item{ID: id, Expr: s.b.ref(id, 0)})
			}
		}
	}
	return items
}

// lockRows locks the rows in their order, before a LIMIT cuts them off: what is not returned is not
// locked, and SKIP LOCKED goes on to the next.
func (s *selecting) lockRows() {
	if len(s.locks) > 0 {
		s.node = &logical.LockRows{Child: s.node, Tables: s.locks}
	}
}

func (s *selecting) lockTargets(l ast.Locking, what string) ([]logical.LockTarget, error) {
	var out []logical.LockTarget
	target := func(t *fromTable) {
		if t.desc != nil && t.desc.Kind == table.KindTable {
			out = append(out, logical.LockTarget{Desc: t.desc, First: t.first, Strength: l.Strength, Wait: l.Wait})
		}
	}
	if len(l.Of) == 0 {
		for _, t := range s.sc.tables {
			if t.nested {
				return nil, sqlerr.Unsupported(int(l.Pos), what+" of a subquery, view or joined table")
			}
			target(t)
		}
		return out, nil
	}
	for _, name := range l.Of {
		t, _ := findTable(&scope{tables: s.sc.tables}, []string{name.Name})
		if t == nil {
			return nil, sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" in %s clause not found in FROM clause", name.Name, what).At(int(name.Pos))
		}
		if t.nested {
			return nil, sqlerr.Unsupported(int(name.Pos), what+" of a subquery, view or joined table")
		}
		target(t)
	}
	return out, nil
}
