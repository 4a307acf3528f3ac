package catalog

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
)

// Positions are reserved in ranges that grow with demand, as PostgreSQL logs 32 ahead: after a
// crash at most one range is skipped. Close gives the rest of each range back.
const (
	sequenceGrow  = 32
	sequenceLimit = 1024
)

// position says how far a sequence has come: last was handed out if called, else it comes next.
type position struct {
	last   int64
	called bool
}

func (p position) encode() []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(p.last))
	if p.called {
		return append(b, 1)
	}
	return append(b, 0)
}

func decodePosition(b []byte) (position, error) {
	if len(b) != 9 || b[8] > 1 {
		return position{}, fmt.Errorf("catalog: position of a sequence: %w", kv.ErrCorruption)
	}
	return position{last: int64(binary.BigEndian.Uint64(b)), called: b[8] == 1}, nil
}

// advance returns the value that follows p; 2200H at the end of a sequence without CYCLE.
func advance(d *table.Desc, p position) (int64, error) {
	s := d.Sequence
	if !p.called {
		return p.last, nil
	}
	// Distances are compared unsigned: bounds may be further apart than int64 reaches.
	switch {
	case s.Increment > 0 && (p.last >= s.Max || uint64(s.Max)-uint64(p.last) < uint64(s.Increment)):
		if !s.Cycle {
			return 0, sqlerr.New(sqlerr.SequenceGeneratorLimit,
				"nextval: reached maximum value of sequence \"%s\" (%d)", d.Name, s.Max)
		}
		return s.Min, nil
	case s.Increment < 0 && (p.last <= s.Min ||
		uint64(p.last)-uint64(s.Min) < uint64(-s.Increment)):
		if !s.Cycle {
			return 0, sqlerr.New(sqlerr.SequenceGeneratorLimit,
				"nextval: reached minimum value of sequence \"%s\" (%d)", d.Name, s.Min)
		}
		return s.Max, nil
	}
	return p.last + s.Increment, nil
}

// steps is how many more values follow last before the bound, at most n.
func steps(s *table.Sequence, last, n int64) int64 {
	var room uint64
	if s.Increment > 0 {
		room = (uint64(s.Max) - uint64(last)) / uint64(s.Increment)
	} else {
		room = (uint64(last) - uint64(s.Min)) / uint64(-s.Increment)
	}
	if room < uint64(n) {
		return int64(room)
	}
	return n
}

type sequenceID struct {
	id    table.ID
	epoch uint32
}

// sequence is this process's reserved range of one epoch of a sequence.
type sequence struct {
	mu       sync.Mutex
	pos      position      // what this process handed out last
	left     int64         // values that may follow pos without asking the store
	reserved position      // as the store has it
	at       tso.Timestamp // when it was put there
	grow     int64
}

func (c *Catalog) sequence(d *table.Desc) *sequence {
	id := sequenceID{d.ID, d.Sequence.Epoch}
	if s, ok := c.sequences.Load(id); ok {
		return s.(*sequence)
	}
	s, _ := c.sequences.LoadOrStore(id, &sequence{grow: sequenceGrow})
	return s.(*sequence)
}

// NextVal returns the next value of a sequence. It belongs to no transaction: a value is never
// given twice, whatever becomes of the caller.
func (c *Catalog) NextVal(ctx context.Context, d *table.Desc) (int64, error) {
	s := c.sequence(d)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == 0 {
		if err := c.reserve(ctx, d, s); err != nil {
			return 0, err
		}
	}
	v, err := advance(d, s.pos)
	if err != nil {
		return 0, err
	}
	s.pos = position{last: v, called: true}
	s.left--
	return v, nil
}

// NextVals returns the next value of a sequence with CACHE, and how many of those behind it are the
// caller's too: fewer than the cache holds only before the bound of the sequence. For all others
// the sequence is past them.
func (c *Catalog) NextVals(ctx context.Context, d *table.Desc) (first, more int64, err error) {
	s := c.sequence(d)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == 0 {
		if err := c.reserve(ctx, d, s); err != nil {
			return 0, 0, err
		}
	}
	if first, err = advance(d, s.pos); err != nil {
		return 0, 0, err
	}
	more = min(steps(d.Sequence, first, d.Sequence.Cache-1), s.left-1)
	s.pos = position{last: first + more*d.Sequence.Increment, called: true}
	s.left -= more + 1
	return first, more, nil
}

// reserve moves the stored position ahead by a range, a multiple of the sequence's CACHE. Requires:
// s.mu is held.
func (c *Catalog) reserve(ctx context.Context, d *table.Desc, s *sequence) error {
	var from, to position
	var n int64
	at, err := c.ownFor(ctx, d.ID, func(tx *txn.Txn) (err error) {
		if from, err = readPosition(ctx, tx, d); err != nil {
			return err
		}
		first, err := advance(d, from)
		if err != nil {
			return err
		}
		cache := max(d.Sequence.Cache, 1)
		more := steps(d.Sequence, first, (max(s.grow, cache)+cache-1)/cache*cache-1)
		n = more + 1
		to = position{last: first + more*d.Sequence.Increment, called: true}
		return tx.Set(sequenceKey(d.ID, d.Sequence.Epoch), to.encode())
	})
	if err != nil {
		return err
	}
	s.pos, s.left, s.reserved, s.at = from, n, to, at
	s.grow = min(2*s.grow, sequenceLimit)
	return nil
}

// readPosition reads the stored position; an epoch without one begins where its descriptor says.
func readPosition(ctx context.Context, tx *txn.Txn, d *table.Desc) (position, error) {
	b, err := tx.Get(ctx, sequenceKey(d.ID, d.Sequence.Epoch))
	if err != nil {
		return position{}, err
	}
	if b == nil {
		return position{last: d.Sequence.Last, called: d.Sequence.Called}, nil
	}
	return decodePosition(b)
}

// SetVal sets the position of a sequence: with called the value counts as handed out, otherwise it
// comes next. Like NextVal it belongs to no transaction.
func (c *Catalog) SetVal(ctx context.Context, d *table.Desc, value int64, called bool) error {
	if value < d.Sequence.Min || value > d.Sequence.Max {
		return sqlerr.New(sqlerr.NumericValueOutOfRange,
			"setval: value %d is out of bounds for sequence \"%s\" (%d..%d)",
			value, d.Name, d.Sequence.Min, d.Sequence.Max)
	}
	s := c.sequence(d)
	s.mu.Lock()
	defer s.mu.Unlock()
	to := position{last: value, called: called}
	at, err := c.ownFor(ctx, d.ID, func(tx *txn.Txn) error {
		return tx.Set(sequenceKey(d.ID, d.Sequence.Epoch), to.encode())
	})
	if err != nil {
		return err
	}
	s.pos, s.left, s.reserved, s.at = to, 0, to, at
	return nil
}

// SequencePosition returns last_value and is_called of a sequence.
func (c *Catalog) SequencePosition(ctx context.Context, d *table.Desc) (last int64, called bool,
	err error) {
	s := c.sequence(d)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left > 0 {
		return s.pos.last, s.pos.called, nil
	}
	var p position
	_, err = c.ownFor(ctx, d.ID, func(tx *txn.Txn) (err error) {
		p, err = readPosition(ctx, tx, d)
		return err
	})
	return p.last, p.called, err
}

// NextEpoch fills in the fields by which seq, a changed copy of old's definition, continues at
// old's position. It gives up what this process has reserved, and makes the View's transaction fail
// if a value is drawn from the old epoch before it commits.
func (v *View) NextEpoch(ctx context.Context, old *table.Desc, seq *table.Sequence) error {
	last, called, err := v.c.SequencePosition(ctx, old)
	if err != nil {
		return err
	}
	s := v.c.sequence(old)
	s.mu.Lock()
	s.left = 0
	s.mu.Unlock()
	v.tx.Validate(table.PointSpan(sequenceKey(old.ID, old.Sequence.Epoch)))
	return v.epoch(ctx, old.SchemaID, seq, position{last, called})
}

// Restart begins a new epoch of seq, a changed copy of d's definition, at value.
func (v *View) Restart(ctx context.Context, d *table.Desc, seq *table.Sequence,
	value int64) error {
	return v.epoch(ctx, d.SchemaID, seq, position{last: value})
}

// epoch gives seq an epoch that was never used before: draws from one that was rolled back have
// left their position under it.
func (v *View) epoch(ctx context.Context, schema table.ID, seq *table.Sequence,
	p position) error {
	id, err := v.NewIDIn(ctx, schema)
	seq.Epoch, seq.Last, seq.Called = uint32(id), p.last, p.called
	return err
}

// Close gives back what was reserved of sequences and not handed out, so that an orderly shutdown
// leaves no gaps. The store must still be open.
func (c *Catalog) Close(ctx context.Context) error {
	var first error
	c.sequences.Range(func(k, v any) bool {
		id, s := k.(sequenceID), v.(*sequence)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.left == 0 || id.id.Temporary() {
			return true
		}
		key := sequenceKey(id.id, id.epoch)
		_, err := c.own(ctx, func(tx *txn.Txn) error {
			b, err := tx.Get(ctx, key)
			if err != nil || b == nil {
				return err
			}
			if p, err := decodePosition(b); err != nil || p != s.reserved {
				return err // another process has moved on: the rest is a gap
			}
			return tx.Set(key, s.pos.encode())
		})
		if err != nil && first == nil {
			first = err
		}
		s.left = 0
		return true
	})
	return first
}

// Sweep deletes the positions of sequences and the row IDs of tables that exist no longer.
// Requires: nothing else uses the store, because a sequence of a running transaction looks like one
// that is gone.
func (c *Catalog) Sweep(ctx context.Context) error {
	_, err := c.own(ctx, func(tx *txn.Txn) error {
		for _, prefix := range []byte{table.PrefixSequence, table.PrefixRowID} {
			var dead [][]byte
			keys, err := someKeys(ctx, tx, table.PrefixSpan([]byte{prefix}), 1<<20)
			if err != nil {
				return err
			}
			for _, k := range keys {
				id, _, ok := table.ReadID(k[1:])
				if !ok {
					return fmt.Errorf("catalog: key %x: %w", k, kv.ErrCorruption)
				}
				b, err := tx.Get(ctx, table.DescKey(id))
				if err != nil {
					return err
				}
				if b == nil {
					dead = append(dead, k)
				}
			}
			for _, k := range dead {
				if err := tx.Delete(k); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return err
}

// forget removes the positions and row IDs of a relation that goes, as far as they were there when
// the transaction began. What was drawn since then, perhaps by the transaction's own statements,
// would conflict with it: that stays for Sweep.
func (v *View) forget(ctx context.Context, d *table.Desc) error {
	switch {
	case d.Temporary():
		return v.forgetTemporary(d)
	case d.HasRows():
		if r, ok := v.c.rowIDs.Load(d.ID); ok {
			r := r.(*idRange)
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.at > v.tx.StartTS() {
				return nil
			}
		}
		return v.deleteIfThere(ctx, rowIDKey(d.ID))
	case d.Kind != table.KindSequence:
		return nil
	}
	keys, err := someKeys(ctx, v.tx, table.PrefixSpan(sequencePrefix(d.ID)), 1<<10)
	if err != nil {
		return err
	}
	s := v.c.sequence(d)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at > v.tx.StartTS() {
		return nil
	}
	for _, k := range keys {
		if err := v.tx.Delete(k); err != nil {
			return err
		}
	}
	return nil
}

// forgetTemporary is forget for a temporary relation. The keys are dropped as spans, which conflict
// with nothing. What memory knows of them goes when the transaction commits.
func (v *View) forgetTemporary(d *table.Desc) error {
	prefix := rowIDKey(d.ID)
	if d.Kind == table.KindSequence {
		prefix = sequencePrefix(d.ID)
	}
	v.temporary.dropped = append(v.temporary.dropped, d)
	return v.tx.DropSpan(table.PrefixSpan(prefix))
}

func (v *View) deleteIfThere(ctx context.Context, key []byte) error {
	b, err := v.tx.Get(ctx, key)
	if err != nil || b == nil {
		return err
	}
	return v.tx.Delete(key)
}
