package observer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
)

const (
	// carryRows and carryBytes bound what one step carries.
	carryRows  = 500
	carryBytes = 1 << 20
)

// Carry takes the next step of the oldest table-level change: it takes the next rows of the old
// place, with what the observer has acknowledged and what is pending, to the new one, and announces
// there those on which the observer is to run. It returns their keys, also with an error, for they
// have notifications that are to be looked at; and whether there is more to be done before the
// change with the key is: Pending, or Later when another transaction is in the way. Nothing: it is
// done, and its notification removed. It may be called by any process, at any time.
func (o *Target) Carry(ctx context.Context, s *txn.Store, place []byte) (keys [][]byte, found Found,
	err error) {
	t, err := s.Begin(ctx, txn.BeginOptions{})
	if err != nil {
		return nil, Nothing, err
	}
	defer func() { err = errors.Join(err, t.Rollback(context.WithoutCancel(ctx))) }()
	kept, err := t.Keeps(ctx, kv.Span{Start: o.State, End: kv.PrefixEnd(o.State)})
	if err != nil || !kept {
		return nil, Nothing, err // the observer is dropped
	}
	walks, err := o.walks(ctx, t)
	if err != nil {
		return nil, Nothing, err
	}
	waits := slices.ContainsFunc(walks, func(w walk) bool {
		return bytes.Equal(o.placeKey(w.number), place)
	})
	if !waits {
		found, err := o.carried(ctx, s, t, place)
		return nil, found, err
	}
	// One at a time walks a place. The lock ends with the transaction, or with the lease of its
	// process.
	alone, err := t.TryLock(ctx, o.numbered(stateWalk, walks[0].number), rowlock.Update,
		func(v mvcc.Version) (bool, error) { return v.CommitTS == 0, nil })
	if err != nil || !alone {
		return nil, Later, err
	}
	c := &carrying{Target: o, s: s, t: t}
	if found, err = c.begin(ctx, walks[0]); err != nil || found != Pending {
		return nil, found, err
	}
	if found, err = c.step(ctx); err != nil || found != Pending {
		return nil, found, err
	}
	// Before the position moves: what a crash in between leaves is announced again.
	if err := s.Announce(ctx, c.announced, o.ID); err != nil {
		return c.announced, Nothing, err
	}
	return c.announced, Pending, t.Commit(ctx)
}

// carried follows the last step of a table-level change, and removes its notification.
func (o *Target) carried(ctx context.Context, s *txn.Store, t *txn.Txn, place []byte) (Found,
	error) {
	if _, err := t.Get(ctx, place); err != nil {
		return Nothing, err
	}
	all, settled, err := t.NotificationsOf(ctx, place, o.ID)
	newer := slices.ContainsFunc(all,
		func(n txn.Notification) bool { return n.CommitTS > t.StartTS() })
	switch {
	case err != nil:
		return Nothing, err
	case newer || !settled:
		return Later, nil
	}
	return Nothing, s.Acknowledge(ctx, place, o.ID, t.StartTS())
}

// carrying is one step.
type carrying struct {
	*Target
	s    *txn.Store
	t    *txn.Txn
	m    *Move
	from []byte
	// of the table-level change
	origin     tso.Timestamp
	generation uint32
	backfill   bool // rows on which the observer has never run are new to it

	rows      map[string]*formerRow
	next      []byte // where the next step begins; nil: at the end
	announced [][]byte
}

// formerRow is what there is of a row under its old key.
type formerRow struct {
	value        []byte // nil: the row was gone already
	ack          tso.Timestamp
	letter, gone bool
	image        *image
	notes        []txn.Notification
}

// begin reads what the step is about.
func (c *carrying) begin(ctx context.Context, w walk) (found Found, err error) {
	if c.m, err = c.move(ctx, c.t, w.number); err != nil {
		return Nothing, err
	}
	all, settled, err := c.t.NotificationsOf(ctx, c.placeKey(w.number), c.ID)
	switch {
	case err != nil:
		return Nothing, err
	case !settled:
		return Later, nil
	}
	c.from, c.origin = w.position, c.t.StartTS()
	for i := range all {
		c.origin, c.generation = all[i].From(), all[i].Generation
	}
	position, err := c.t.Get(ctx, c.stateKey(stateBackfill, nil))
	c.backfill = position != nil
	return Pending, err
}

// step carries the next rows.
func (c *carrying) step(ctx context.Context) (found Found, err error) {
	if err := c.collect(ctx); err != nil {
		return Nothing, err
	}
	for _, key := range slices.Sorted(maps.Keys(c.rows)) {
		if c.next != nil && key >= string(c.next) {
			break
		}
		for _, n := range c.rows[key].notes {
			if !n.Stamped() || n.CommitTS > c.t.StartTS() {
				return Later, c.settle(ctx, []byte(key))
			}
		}
		if err := c.carry([]byte(key), c.rows[key]); err != nil {
			return Nothing, err
		}
	}
	if c.next != nil {
		return Pending, c.t.Set(c.numbered(stateWalk, c.m.Number), c.next)
	}
	return Pending, c.end(ctx)
}

// settle settles the lock on a key, if its transaction has ended.
func (c *carrying) settle(ctx context.Context, key []byte) error {
	_, _, err := c.t.NotificationsOf(ctx, key, c.ID)
	return err
}

// row returns what is known of a row so far.
func (c *carrying) row(key []byte) *formerRow {
	r := c.rows[string(key)]
	if r == nil {
		r = &formerRow{}
		c.rows[string(key)] = r
	}
	return r
}

// stop bounds the step: it is over before key.
func (c *carrying) stop(key []byte) {
	if c.next == nil || bytes.Compare(key, c.next) < 0 {
		c.next = bytes.Clone(key)
	}
}

// collect reads the next rows, and what there is of rows that are gone. Notifications come last:
// then all commits that the snapshot shows have left theirs.
func (c *carrying) collect(ctx context.Context) error {
	c.rows = map[string]*formerRow{}
	most := cmp.Or(c.backfillRows, carryRows)
	span := kv.Span{Start: c.from, End: c.m.From.End}
	err := c.scan(ctx, span, most, func(key, value []byte) error {
		c.row(key).value = append([]byte{}, value...)
		return nil
	})
	for _, kind := range []byte{stateAck, stateLetter, stateGone, stateImage} {
		if err != nil {
			return err
		}
		of := kv.Span{Start: c.stateKey(kind, span.Start), End: c.stateKey(kind, span.End)}
		err = c.scan(ctx, of, most, func(key, value []byte) (err error) {
			switch r := c.row(key); kind {
			case stateAck:
				r.ack, err = timestamp(value)
			case stateLetter:
				r.letter = true
			case stateGone:
				r.gone = true
			case stateImage:
				r.image, err = decodeImage(value)
			}
			return err
		})
	}
	if err != nil {
		return err
	}
	return c.collectNotes(ctx, span, most)
}

// scan visits the first pairs of a span, by the row keys that are, or end, their keys.
func (c *carrying) scan(ctx context.Context, span kv.Span, most int,
	visit func(rowKey, value []byte) error) (err error) {
	it, err := c.t.Scan(ctx, span, txn.ScanOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	size := 0
	for n := 0; it.Next(); n++ {
		key := it.Key()
		if rest, ok := bytes.CutPrefix(key, c.State); ok {
			key = rest[1:]
		}
		if n == most || size > carryBytes {
			c.stop(key)
			return nil
		}
		size += len(it.Value())
		if err := visit(key, it.Value()); err != nil {
			return err
		}
	}
	return it.Err()
}

func (c *carrying) collectNotes(ctx context.Context, span kv.Span, most int) error {
	var last []byte
	n := 0
	err := c.s.Notifications(ctx, span, func(key []byte, note *txn.Notification) error {
		switch {
		case c.next != nil && bytes.Compare(key, c.next) >= 0:
			return errFull
		case note.Observer != c.ID:
			return nil
		case !bytes.Equal(key, last):
			if n++; n > most {
				c.stop(key)
				return errFull
			}
			last = bytes.Clone(key)
		}
		r, cell := c.row(key), *note
		cell.Old = bytes.Clone(note.Old)
		r.notes = append(r.notes, cell)
		return nil
	})
	if errors.Is(err, errFull) {
		return nil
	}
	return err
}

// carry takes one row to the new place. The acknowledgement under its old key is written, whatever
// it was, so that no run under that key commits beside the step.
func (c *carrying) carry(key []byte, r *formerRow) error {
	left := r.leaves(c)
	err := c.t.Delete(c.stateKey(stateAck, key))
	for kind, there := range map[byte]bool{stateLetter: r.letter, stateGone: r.gone,
		stateImage: r.image != nil} {
		if there && err == nil {
			err = c.t.Delete(c.stateKey(kind, key))
		}
	}
	if err != nil || left == nil {
		return err
	}
	to := c.to(c.m, key)
	c.announced = append(c.announced, to)
	if r.ack != 0 {
		err = c.touch(c.t, to, r.ack)
	}
	return errors.Join(err, c.t.Set(c.stateKey(stateImage, to), left.encode()))
}

// leaves returns what the observer is to run on because of the row; nil: it does not know of it.
func (r *formerRow) leaves(c *carrying) *image {
	left, changed, known := r.image, r.image != nil, r.image != nil
	if left == nil {
		left = &image{place: c.m.Number}
	}
	var oldest tso.Timestamp
	for i := range r.notes {
		n := &r.notes[i]
		switch {
		case n.CommitTS <= r.ack:
			continue
		case n.Announced():
			known = known || r.ack == 0 && r.value != nil
			continue
		}
		known = true
		left.include(n.From(), n.Generation, n.Path)
		if r.image == nil && (!changed || n.CommitTS < oldest) {
			changed, oldest = true, n.CommitTS
			left.keep(nil)
			if n.HasOld {
				left.keep(append([]byte{}, n.Old...))
			}
		}
	}
	if r.value != nil && (r.ack != 0 || !c.backfill) {
		known = true
	}
	if !known {
		return nil
	}
	left.include(c.origin, c.generation, "")
	if !changed {
		left.keep(r.value)
	}
	if r.image == nil && r.ack == 0 && c.backfill {
		left.keep(nil) // until a first run the row is new to the observer
	}
	return left
}

// end is the step behind the last row: nothing needs the old place any more. A backfill goes on in
// the new one, or begins where all rows of that are new.
func (c *carrying) end(ctx context.Context) error {
	position, err := c.t.Get(ctx, c.stateKey(stateBackfill, nil))
	if err != nil {
		return err
	}
	inOld := len(position) > 0 && c.m.From.Contains(position)
	switch {
	case !c.m.Keep:
		position = c.m.To.Start
	case inOld:
		position = c.to(c.m, position)
	}
	if inOld || !c.m.Keep {
		err = c.t.Set(c.stateKey(stateBackfill, nil), position)
	}
	return errors.Join(err, c.t.Delete(c.numbered(stateWalk, c.m.Number)),
		c.t.ReleaseDropped(c.m.Dropped, c.State))
}

// prune forgets the table-level changes when nothing refers to them any more. left reports whether
// something does.
func (o *Target) prune(ctx context.Context, s *txn.Store) (left bool, err error) {
	t, err := s.Begin(ctx, txn.BeginOptions{})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, t.Rollback(context.WithoutCancel(ctx))) }()
	moves, err := o.moves(ctx, t)
	if err != nil || len(moves) == 0 {
		return false, err
	}
	for _, kind := range []byte{stateWalk, stateImage} {
		some, err := occupied(ctx, t, o.stateSpan(kind))
		if err != nil || some {
			return true, err
		}
	}
	for _, m := range moves {
		if err := t.Delete(o.placeKey(m.Number)); err != nil {
			return true, err
		}
	}
	return false, t.Commit(ctx)
}

// occupied reports whether there is a key in a span.
func occupied(ctx context.Context, t *txn.Txn, span kv.Span) (some bool, err error) {
	it, err := t.Scan(ctx, span, txn.ScanOptions{KeysOnly: true})
	if err != nil {
		return false, err
	}
	some = it.Next()
	return some, errors.Join(it.Err(), it.Close())
}
