package catalog

import (
	"context"
	"slices"

	"github.com/minidb/minidb/table"
)

// Incremental views follow tables. Each such table has one observer for all of its
// views, so that a writer leaves one notification, however many views there are. Views that share a
// table, or use each other, are a group: they advance together.

// ViewGroup is the views of a group, and the tables that they follow.
type ViewGroup struct {
	Views  []*table.Desc // each behind those that it uses
	Tables []*table.Desc // in ascending order of ID
}

// ViewGroups returns the groups of the incremental views of a database.
func (v *View) ViewGroups(ctx context.Context, db table.ID) ([]*ViewGroup, error) {
	all, err := v.Relations(ctx, db)
	if err != nil {
		return nil, err
	}
	by := map[table.ID]*table.Desc{}
	var views []*table.Desc
	for _, d := range all {
		by[d.ID] = d
		if d.Incremental() {
			views = append(views, d)
		}
	}
	slices.SortFunc(views, func(a, b *table.Desc) int { return int(a.ID) - int(b.ID) })
	in := map[table.ID]*ViewGroup{} // by view or table
	var groups []*ViewGroup
	for _, d := range views { // a view has a higher ID than those that it uses
		g := &ViewGroup{}
		for _, u := range d.View.Incremental.Uses {
			used := by[u.Relation]
			switch other := in[u.Relation]; {
			case used == nil: // it was dropped a moment ago, by the transaction that drops the view
			case other != nil && other != g:
				g = merge(in, other, g)
			case other == nil:
				g.Tables, in[used.ID] = append(g.Tables, used), g
			}
		}
		g.Views = append(g.Views, d)
		in[d.ID] = g
		for _, x := range g.Tables {
			in[x.ID] = g
		}
	}
	for _, d := range views {
		if g := in[d.ID]; !slices.Contains(groups, g) {
			g.sort()
			groups = append(groups, g)
		}
	}
	return groups, nil
}

// merge moves what is in group g into group into.
func merge(in map[table.ID]*ViewGroup, into, g *ViewGroup) *ViewGroup {
	for _, d := range g.Views {
		in[d.ID] = into
	}
	for _, d := range g.Tables {
		in[d.ID] = into
	}
	into.Views, into.Tables = append(into.Views, g.Views...), append(into.Tables, g.Tables...)
	return into
}

func (g *ViewGroup) sort() {
	byID := func(a, b *table.Desc) int { return int(a.ID) - int(b.ID) }
	slices.SortFunc(g.Views, byID)
	slices.SortFunc(g.Tables, byID)
}

// ViewGroupOf returns the group of a relation: a view, or a table that views follow; nil when there
// is none.
func (v *View) ViewGroupOf(ctx context.Context, db, id table.ID) (*ViewGroup, error) {
	groups, err := v.ViewGroups(ctx, db)
	if err != nil {
		return nil, err
	}
	is := func(d *table.Desc) bool { return d.ID == id }
	for _, g := range groups {
		if slices.ContainsFunc(g.Views, is) || slices.ContainsFunc(g.Tables, is) {
			return g, nil
		}
	}
	return nil, nil
}

// ViewState returns the state of an incremental view, nil for one that was never filled.
func (v *View) ViewState(ctx context.Context, id table.ID) (*table.ViewState, error) {
	b, err := v.tx.GetUnserialized(ctx, table.ViewStateKey(id))
	if err != nil || b == nil {
		return nil, err
	}
	return table.DecodeViewState(b)
}

// SetViewState writes it: every transaction that changes the view's rows does. Of two such
// transactions one fails with a conflict.
func (v *View) SetViewState(id table.ID, s *table.ViewState) error {
	return v.tx.Set(table.ViewStateKey(id), s.Encode())
}

// HoldViewState makes Commit fail if another transaction writes the state of the view.
func (v *View) HoldViewState(id table.ID) {
	v.tx.Validate(table.PointSpan(table.ViewStateKey(id)))
}

// FollowTables makes the tables that an incremental view uses notify of what it uses. Requires: no
// transaction writes rows of those tables between the snapshot and the commit.
func (v *View) FollowTables(ctx context.Context, view *table.Desc) error {
	return v.followed(ctx, view, func(old *table.Desc, u *table.Use) error {
		d := old.Clone()
		o := d.ViewObserver()
		switch {
		case o == nil:
			id, err := v.NewID(ctx)
			if err != nil {
				return err
			}
			d.Observers = append(d.Observers,
				table.Observer{ID: id, Views: true, Columns: u.Columns})
		case o.Columns == nil || u.Columns != nil && containsAll(o.Columns, u.Columns):
			return v.wakeViews(old)
		default:
			o.Columns = union(o.Columns, u.Columns)
		}
		return v.changeFollowed(ctx, old, d)
	})
}

// forgetView removes what a view that goes has beside its rows.
func (v *View) forgetView(ctx context.Context, d *table.Desc) error {
	if err := v.deleteIfThere(ctx, table.ViewStateKey(d.ID)); err != nil {
		return err
	}
	return v.leaveTables(ctx, d)
}

// leaveTables takes the observers of tables away that a view, which goes, was the last to use.
func (v *View) leaveTables(ctx context.Context, view *table.Desc) error {
	return v.followed(ctx, view, func(old *table.Desc, _ *table.Use) error {
		g, err := v.ViewGroupOf(ctx, old.DatabaseID, old.ID)
		if err != nil {
			return err
		}
		follows := func(d *table.Desc) bool {
			return d.ID != view.ID && d.View.Incremental.Follows(old.ID)
		}
		if g != nil && slices.ContainsFunc(g.Views, follows) {
			return v.wakeViews(old)
		}
		return v.leave(ctx, old)
	})
}

func (v *View) leave(ctx context.Context, old *table.Desc) error {
	// It keeps no keys. That its span was dropped is how the sweeper learns of it.
	if err := v.forgetObserver(ctx, old, old.ViewObserver()); err != nil {
		return err
	}
	d := old.Clone()
	d.Observers = slices.DeleteFunc(d.Observers, func(o table.Observer) bool { return o.Views })
	return v.changeObservers(ctx, old, d)
}

// followed calls f with each table that a view uses.
func (v *View) followed(ctx context.Context, view *table.Desc,
	f func(old *table.Desc, u *table.Use) error) error {
	uses := view.View.Incremental.Uses
	for i := range uses {
		d, err := v.RelationByID(ctx, uses[i].Relation)
		if err != nil {
			return err
		}
		if d == nil {
			continue // it goes with the view
		}
		if d.Kind == table.KindTable {
			err = f(d, &uses[i])
		} else {
			err = v.wakeGroup(ctx, d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// wakeViews makes the commit wake the maintainers of views: there was a change among these.
func (v *View) wakeViews(d *table.Desc) error {
	if o := d.ViewObserver(); o != nil {
		v.tx.WakeObserver(uint32(o.ID))
	}
	return nil
}

// wakeGroup is wakeViews for what a view follows.
func (v *View) wakeGroup(ctx context.Context, view *table.Desc) error {
	g, err := v.ViewGroupOf(ctx, view.DatabaseID, view.ID)
	if err != nil || g == nil {
		return err
	}
	for _, d := range g.Tables {
		if err := v.wakeViews(d); err != nil {
			return err
		}
	}
	return nil
}

func (v *View) changeFollowed(ctx context.Context, old, d *table.Desc) error {
	if !v.tx.LocksBind() {
		v.tx.Validate(old.IndexSpan(table.RowIndexID)) // as for an observer
	}
	v.tx.WakeObserver(uint32(d.ViewObserver().ID))
	return v.changeObservers(ctx, old, d)
}

func containsAll(all, some []table.ColumnID) bool {
	return !slices.ContainsFunc(some,
		func(id table.ColumnID) bool { return !slices.Contains(all, id) })
}

// union returns the columns of a and b in ascending order, nil for all.
func union(a, b []table.ColumnID) []table.ColumnID {
	if a == nil || b == nil {
		return nil
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// Related returns the part of a group that a view depends on, or that depends on it: its views,
// with the tables that they follow.
func (g *ViewGroup) Related(id table.ID) *ViewGroup {
	in := map[table.ID]bool{id: true}
	uses := func(d *table.Desc) []table.Use { return d.View.Incremental.Uses }
	for n := 0; n < len(in); {
		n = len(in)
		for _, d := range g.Views {
			for _, u := range uses(d) {
				if below := g.view(u.Relation); below != nil && (in[d.ID] || in[below.ID]) {
					in[d.ID], in[below.ID] = true, true
				}
			}
		}
	}
	part := &ViewGroup{}
	for _, d := range g.Views {
		if !in[d.ID] {
			continue
		}
		part.Views = append(part.Views, d)
		for _, t := range g.Tables {
			if d.View.Incremental.Follows(t.ID) && !slices.Contains(part.Tables, t) {
				part.Tables = append(part.Tables, t)
			}
		}
	}
	part.sort()
	return part
}

// Above returns a view and those that are computed from it.
func (g *ViewGroup) Above(id table.ID) map[table.ID]bool {
	in := map[table.ID]bool{id: true}
	for _, d := range g.Views {
		for _, u := range d.View.Incremental.Uses {
			in[d.ID] = in[d.ID] || in[u.Relation]
		}
	}
	for id, is := range in {
		if !is {
			delete(in, id)
		}
	}
	return in
}

func (g *ViewGroup) view(id table.ID) *table.Desc {
	for _, d := range g.Views {
		if d.ID == id {
			return d
		}
	}
	return nil
}

// ForgetViewState makes a view one that was never filled.
func (v *View) ForgetViewState(ctx context.Context, id table.ID) error {
	return v.deleteIfThere(ctx, table.ViewStateKey(id))
}
