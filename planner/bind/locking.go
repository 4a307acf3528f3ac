package bind

import (
	"slices"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
)

// lockStrengths are the names of the locking clauses in messages.
var lockStrengths = map[string]string{
	"update": "FOR UPDATE", "no key update": "FOR NO KEY UPDATE", "share": "FOR SHARE",
	"key share": "FOR KEY SHARE",
}

// buildLocking records what FOR UPDATE and the like lock: every table in FROM, or those of OF.
func (s *selecting) buildLocking() {
	for _, l := range s.locking {
		what := lockStrengths[l.Strength]
		switch {
		case s.core.Distinct || len(s.core.DistinctOn) > 0:
			panic(failure.At(0, sqlerr.FeatureNotSupported,
				"%s is not allowed with DISTINCT clause", what))
		case s.group.given:
			panic(failure.At(0, sqlerr.FeatureNotSupported,
				"%s is not allowed with GROUP BY clause", what))
		case s.having != nil:
			panic(failure.At(0, sqlerr.FeatureNotSupported, "%s is not allowed with HAVING clause",
				what))
		case len(s.sc.sel.aggs) > 0:
			panic(failure.At(0, sqlerr.FeatureNotSupported,
				"%s is not allowed with aggregate functions", what))
		case len(s.sc.sel.wins) > 0:
			panic(failure.At(0, sqlerr.FeatureNotSupported,
				"%s is not allowed with window functions", what))
		case len(s.sc.sel.sets) > 0:
			panic(failure.At(0, sqlerr.FeatureNotSupported,
				"%s is not allowed with set-returning functions in the target list", what))
		}
		targets := s.lockTargets(l, what)
		if len(targets) > 0 {
			s.b.meta.Writes = true
			for _, t := range targets {
				s.b.noteUse(t.Desc.ID, opt.LocksRows)
			}
			s.locks = append(s.locks, targets...)
		}
	}
}

// lockItems returns the row keys of the tables to lock, and of those whose rows a cursor may be at,
// that the select list does not contain.
func (s *selecting) lockItems(seen logical.ColSet) []logical.Item {
	var items []logical.Item
	for _, t := range append(s.locks[:len(s.locks):len(s.locks)], s.positions...) {
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

// lockRows locks the rows in order, below a LIMIT: rows that are not returned are not locked, and
// SKIP LOCKED continues with the next row.
func (s *selecting) lockRows() {
	if len(s.locks) > 0 {
		s.node = &logical.LockRows{Child: s.node, Tables: s.locks}
	}
}

func (s *selecting) lockTargets(l ast.Locking, what string) []logical.LockTarget {
	var out []logical.LockTarget
	if len(l.Of) == 0 {
		for _, t := range s.sc.tables {
			out = append(out, s.lockTarget(t, l, l.Pos, what)...)
		}
		return out
	}
	for _, name := range l.Of {
		t, _ := findTable(&scope{tables: s.sc.tables}, []string{name.Name})
		if t == nil {
			panic(failure.At(name.Pos, sqlerr.UndefinedTable,
				"relation \"%s\" in %s clause not found in FROM clause", name.Name, what))
		}
		if !t.nested {
			switch t.source.(type) {
			case *logical.CTERef:
				panic(failure.At(name.Pos, sqlerr.FeatureNotSupported,
					"%s cannot be applied to a WITH query", what))
			case *logical.FuncScan:
				panic(failure.At(name.Pos, sqlerr.FeatureNotSupported,
					"%s cannot be applied to a function", what))
			}
		}
		out = append(out, s.lockTarget(t, l, name.Pos, what)...)
	}
	return out
}

// lockTarget returns the tables to lock for one entry of FROM.
func (s *selecting) lockTarget(t *fromTable, l ast.Locking, pos ast.Pos,
	what string) (out []logical.LockTarget) {
	if t.right != nil {
		t.right.Want |= acl.Update
	}
	add := func(d *table.Desc, first logical.ColID) {
		out = append(out, logical.LockTarget{Desc: d, First: first, Strength: l.Strength,
			Wait: l.Wait})
		rowsLockable(d)
	}
	if !t.nested {
		if t.desc != nil && t.desc.HasRows() {
			add(t.desc, t.first)
		}
		return out
	}
	scans, simple := s.lockable(t.source)
	if !simple {
		panic(failure.Unsupported(pos, what+" of this subquery, view or joined table"))
	}
	for _, n := range scans {
		add(n.Desc, n.First)
		s.b.locked(n.First)
	}
	if t.desc != nil {
		s.b.noteUse(t.desc.ID, opt.LocksRows)
	}
	return out
}

// locked notes that a statement locks rows of a guarded table within a subquery or view.
func (b *binder) locked(first logical.ColID) {
	for _, g := range b.guards {
		if g.rows != nil && g.first == first {
			g.right.Want |= acl.Update
		}
	}
}

// rowsLockable refuses to lock rows of a materialized view: no statement changes one of them, and
// REFRESH respects no locks of rows.
func rowsLockable(d *table.Desc) {
	if d.Kind == table.KindMaterializedView {
		panic(failure.At(0, sqlerr.WrongObjectType, "cannot lock rows in materialized view \"%s\"",
			d.Name))
	}
}

// lockable returns the tables whose rows a simple subquery or view passes on, one row for each of
// its own, and adds their row keys to its columns: FOR UPDATE of a subquery or view locks the rows
// of its tables. simple is false where its rows are not those of the tables, or a LIMIT would
// select among them.
func (s *selecting) lockable(n logical.Node) (scans []*logical.Scan, simple bool) {
	switch n := n.(type) {
	case *logical.Scan:
		if n.Desc.HasRows() {
			scans = append(scans, n)
		}
		return scans, true
	case *logical.Values, *logical.CTERef, *logical.FuncScan:
		return nil, true
	case *logical.Filter:
		return s.lockable(n.Child)
	case *logical.Barrier:
		return s.lockable(n.Child)
	case *logical.Sort:
		return s.lockable(n.Child)
	case *logical.Join:
		left, ok := s.lockable(n.Left)
		right, also := s.lockable(n.Right)
		return append(left, right...), ok && also
	case *logical.Project:
		if scans, simple = s.lockable(n.Child); !simple {
			return nil, false
		}
		have := logical.SetOf(n.Columns())
		items := slices.Clip(n.Items)
		for _, scan := range scans {
			for _, kc := range scan.Desc.RowKey {
				id := scan.First + scan.Desc.ColumnByID(kc.ColumnID)
				if !have.Has(id) {
					have.Add(id)
					items = append(items, logical.Item{ID: id, Expr: s.b.ref(id, 0)})
				}
				s.b.meta.Cols[id].Level = s.sc.level()
			}
		}
		n.SetItems(items)
		return scans, true
	}
	return nil, false
}
