package sql

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/largeobject"
	"github.com/minidb/minidb/table/types"
)

// largeObjects are the large objects that a transaction has open. Its zero value has none.
type largeObjects struct {
	objects *largeobject.Objects
	open    []openLarge // by descriptor
}

// openLarge is what a descriptor stands for.
type openLarge struct {
	handle *largeobject.Handle // nil: the descriptor is free
	depth  int                 // how many savepoints there were when it was opened
}

// maxLargeObjects bounds the descriptors of one transaction.
const maxLargeObjects = 1 << 16

// end gives back what the descriptors hold.
func (l *largeObjects) end() {
	if l.objects != nil {
		l.objects.Close()
	}
}

// closeIf closes the descriptors for which a condition holds.
func (l *largeObjects) closeIf(holds func(*openLarge) bool) {
	for i := range l.open {
		if o := &l.open[i]; o.handle != nil && holds(o) {
			o.handle.Close()
			*o = openLarge{}
		}
	}
}

// rollbackTo closes what was opened since savepoint i. Positions of other descriptors stay.
func (l *largeObjects) rollbackTo(i int) {
	l.closeIf(func(o *openLarge) bool { return o.depth > i })
}

// release gives what was opened since savepoint i to what is around it.
func (l *largeObjects) release(i int) {
	for k := range l.open {
		l.open[k].depth = min(l.open[k].depth, i)
	}
}

// markedLarge is a descriptor as it was before a statement.
type markedLarge struct {
	openLarge
	offset int64
}

// mark returns the present state, for restore.
func (l *largeObjects) mark() []markedLarge {
	if len(l.open) == 0 {
		return nil
	}
	out := make([]markedLarge, len(l.open))
	for i, o := range l.open {
		out[i].openLarge = o
		if o.handle != nil {
			out[i].offset = o.handle.Offset()
		}
	}
	return out
}

// restore returns to a state that a statement has left, whose writes are undone.
func (l *largeObjects) restore(to []markedLarge) {
	l.closeIf(func(*openLarge) bool { return true })
	l.open = l.open[:0]
	for _, m := range to {
		l.open = append(l.open, m.openLarge)
		if m.handle != nil {
			m.handle.Reopen()
			m.handle.SetOffset(m.offset)
		}
	}
}

// largeObjects returns the large objects of the transaction.
func (f *accessor) largeObjects() (*largeobject.Objects, error) {
	s := f.s
	if err := s.ensure(f.ctx); err != nil {
		return nil, err
	}
	l := &s.tx.large
	if l.objects == nil || !l.objects.In(s.tx.tx) {
		l.end()
		*l = largeObjects{objects: largeobject.NewObjects(s.tx.tx, s.databaseID, s.memory)}
	}
	return l.objects, nil
}

// MayWriteLargeObjects is part of expr.LargeObjects.
func (f *accessor) MayWriteLargeObjects(command string) error { return f.s.writable(command) }

// CreateLargeObject is part of expr.LargeObjects.
func (f *accessor) CreateLargeObject(command string, id types.OID) (types.OID, error) {
	if err := f.MayWriteLargeObjects(command); err != nil {
		return 0, err
	}
	objects, err := f.largeObjects()
	if err != nil {
		return 0, err
	}
	s := f.s
	for id == 0 {
		free, err := s.tx.view.NewID(f.ctx)
		if err != nil {
			return 0, err
		}
		taken, err := largeobject.Taken(f.ctx, s.tx.tx, s.databaseID, largeobject.ID(free))
		if err != nil {
			return 0, err
		}
		if !taken {
			id = types.OID(free)
		}
	}
	a, err := s.authority(f.ctx)
	if err != nil {
		return 0, err
	}
	r := &largeobject.Record{Owner: a.Current.Stored()}
	if err := objects.Create(f.ctx, largeobject.ID(id), r); err != nil {
		return 0, err
	}
	return id, s.tx.view.ReferLargeObject(f.ctx, s.databaseID, largeobject.ID(id), r)
}

// compatible reports whether large objects are open to all roles, as before PostgreSQL 9.0.
func (f *accessor) compatible() bool {
	v, _ := f.s.setting("lo_compat_privileges")
	return v == "on"
}

// UnlinkLargeObject is part of expr.LargeObjects. The descriptors of the object are closed.
func (f *accessor) UnlinkLargeObject(id types.OID) error {
	if err := f.MayWriteLargeObjects("lo_unlink()"); err != nil {
		return err
	}
	objects, err := f.largeObjects()
	if err != nil {
		return err
	}
	s, large := f.s, largeobject.ID(id)
	a, err := s.authority(f.ctx)
	if err != nil {
		return err
	}
	err = objects.Unlink(f.ctx, large, func(r *largeobject.Record) error {
		if !a.Has(r.OwnedBy()) && !f.compatible() {
			return sqlerr.New(sqlerr.InsufficientPrivilege, "must be owner of large object %d", id)
		}
		return s.tx.view.ForgetLargeObject(f.ctx, s.databaseID, large, r)
	})
	if err != nil {
		return err
	}
	s.tx.large.closeIf(func(o *openLarge) bool { return o.handle.ID() == large })
	return nil
}

// OpenLargeObject is part of expr.LargeObjects. Writing needs the privilege to read, too, as in
// PostgreSQL: every handle reads.
func (f *accessor) OpenLargeObject(id types.OID, write bool) (expr.LargeObject, error) {
	want := acl.Select
	if write {
		want |= acl.Update
	}
	objects, err := f.largeObjects()
	if err != nil {
		return nil, err
	}
	r, err := objects.Record(f.ctx, largeobject.ID(id))
	switch {
	case err != nil:
		return nil, err
	case r == nil:
		return nil, largeobject.Missing(largeobject.ID(id))
	}
	a, err := f.s.authority(f.ctx)
	if err != nil {
		return nil, err
	}
	if a.Granted(acl.LargeObject, r.OwnedBy(), r.ACL, want) != want && !f.compatible() {
		return nil, sqlerr.New(sqlerr.InsufficientPrivilege,
			"permission denied for large object %d", id)
	}
	return objects.Open(largeobject.ID(id), write), nil
}

// NumberLargeObject is part of expr.LargeObjects.
func (f *accessor) NumberLargeObject(h expr.LargeObject) (int32, error) {
	l := &f.s.tx.large
	o := openLarge{h.(*largeobject.Handle), len(f.s.tx.savepoints)}
	for i := range l.open {
		if l.open[i].handle == nil {
			l.open[i] = o
			return int32(i), nil
		}
	}
	if len(l.open) == maxLargeObjects {
		h.Close()
		return 0, sqlerr.New(sqlerr.ProgramLimitExceeded, "too many open large objects").
			WithHint("A transaction may have %d of them; lo_close those that are no longer "+
				"needed.", maxLargeObjects)
	}
	l.open = append(l.open, o)
	return int32(len(l.open) - 1), nil
}

// NumberedLargeObject is part of expr.LargeObjects.
func (f *accessor) NumberedLargeObject(descriptor int32) (expr.LargeObject, error) {
	return f.s.tx.large.numbered(descriptor)
}

// numbered returns what a descriptor stands for; 42704 for one that is free.
func (l *largeObjects) numbered(descriptor int32) (*largeobject.Handle, error) {
	if descriptor < 0 || int(descriptor) >= len(l.open) || l.open[descriptor].handle == nil {
		return nil, sqlerr.New(sqlerr.UndefinedObject, "invalid large-object descriptor: %d",
			descriptor)
	}
	return l.open[descriptor].handle, nil
}

// CloseLargeObject is part of expr.LargeObjects.
func (f *accessor) CloseLargeObject(descriptor int32) error {
	h, err := f.s.tx.large.numbered(descriptor)
	if err != nil {
		return err
	}
	h.Close()
	f.s.tx.large.open[descriptor] = openLarge{}
	return nil
}

// MayUseServerFiles is part of expr.LargeObjects.
func (f *accessor) MayUseServerFiles() bool {
	a, err := f.s.authority(f.ctx)
	return err == nil && a.Superuser()
}
