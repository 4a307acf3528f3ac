package catalog

import (
	"context"
	"maps"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
)

// newest is the part of a schema newer than its snapshot that a View has read.
type newest struct {
	version uint64
	at      tso.Timestamp            // at which it was read
	descs   map[table.ID]*table.Desc // what to use, by what has been asked for
}

// Renewed reports whether the View mixes two states of the catalog, so that Version does not name
// what it shows.
func (v *View) Renewed() bool { return v.newest != nil }

// Outdated reports whether the catalog may have changed since the snapshot. It reads no store: on
// an engine of this process's own, memory can rule a change out. On any other engine it returns
// false.
func (v *View) Outdated() bool { return v.tx.LocksBind() && !v.tx.Unchanged(versionKey) }

// Renew looks at the newest state of the catalog, on an engine of this process's own: from now on
// the View shows tables with the constraints that they have in it, where that is all that has
// changed about them ([table.Reconstrained]) and about every table that foreign keys join to them.
// Everything else stays as the snapshot shows it, and so does all of the schema once the
// transaction has changed it itself: it will fail at commit, for two have changed the catalog.
// changed reports whether the state differs from that of the last call.
func (v *View) Renew(ctx context.Context) (changed bool, err error) {
	if !v.tx.LocksBind() || v.newest == nil && v.tx.Unchanged(versionKey) {
		return false, nil
	}
	version, own, err := v.Version(ctx)
	if err != nil {
		return false, err
	}
	was := v.newest
	if own {
		v.newest = nil
		return was != nil, nil
	}
	now, err := v.c.store.Begin(ctx, txn.BeginOptions{ReadOnly: true})
	if err != nil {
		return false, err
	}
	defer func() { _ = now.Rollback(ctx) }()
	current, _, err := v.c.View(now).Version(ctx)
	switch {
	case err != nil || current == version || was != nil && was.version == current:
		return false, err
	}
	v.newest = &newest{version: current, at: now.StartTS(), descs: map[table.ID]*table.Desc{}}
	return true, nil
}

// newestOf returns what to use for a relation of the snapshot: all tables that foreign keys join
// come from one of the two states, so that a key which one of them looks at is known to the others.
func (v *View) newestOf(ctx context.Context, st *state, d *table.Desc) (*table.Desc, error) {
	n := v.newest
	if use := n.descs[d.ID]; use != nil {
		return use, nil
	}
	tx, err := v.c.store.Begin(ctx, txn.BeginOptions{ReadOnly: true, StartTS: n.at})
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	joined, ok, err := v.joined(ctx, st, v.c.View(tx), d.ID)
	if err != nil {
		return nil, err
	}
	if !ok {
		n.descs[d.ID] = d
		return d, nil
	}
	maps.Copy(n.descs, joined)
	return n.descs[d.ID], nil
}

// joined collects the tables that foreign keys of the newest state join to one, this one too. ok is
// false when one of them has changed in a way that does not fit the snapshot.
func (v *View) joined(ctx context.Context, st *state, now *View,
	id table.ID) (use map[table.ID]*table.Desc, ok bool, err error) {
	use = map[table.ID]*table.Desc{}
	for todo := []table.ID{id}; len(todo) > 0; {
		id, todo = todo[0], todo[1:]
		if use[id] != nil {
			continue
		}
		then, err := v.relation(ctx, st, id)
		if err != nil {
			return nil, false, err
		}
		d, err := now.RelationByID(ctx, id)
		switch {
		case err != nil:
			return nil, false, err
		case then == nil || d == nil:
			return nil, false, nil
		case then.Version == d.Version:
			use[id] = then
		case !table.Reconstrained(then, d):
			return nil, false, nil
		default:
			use[id] = d.ReadAt(v.newest.at)
		}
		todo = append(todo, d.ReferencedBy...)
		for i := range d.ForeignKeys {
			todo = append(todo, d.ForeignKeys[i].RefTable)
		}
	}
	return use, true, nil
}
