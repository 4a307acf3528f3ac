package txn

import (
	"context"
	"errors"

	"github.com/minidb/minidb/txn/buffer"
	"github.com/minidb/minidb/txn/hints"
	"github.com/minidb/minidb/txn/lockwait"
	"github.com/minidb/minidb/txn/resolve"
	"github.com/minidb/minidb/txn/tso"
)

// Get returns the value of key, or nil when it is absent. It sees the transaction's own writes, but
// for those since Freeze.
func (t *Txn) Get(ctx context.Context, key []byte) ([]byte, error) {
	if t.aside(key) {
		return t.getBeside(ctx, key, (*Txn).Get)
	}
	w, own := t.buf.Visible(key)
	return t.get(ctx, key, w, own, true)
}

// GetCurrent is Get that sees all of the transaction's own writes, also those since Freeze.
func (t *Txn) GetCurrent(ctx context.Context, key []byte) ([]byte, error) {
	if t.aside(key) {
		return t.getBeside(ctx, key, (*Txn).GetCurrent)
	}
	w, own := t.buf.Get(key)
	return t.get(ctx, key, w, own, true)
}

// Wrote reports whether the transaction has written the key, also since Freeze.
func (t *Txn) Wrote(ctx context.Context, key []byte) (bool, error) {
	if t.aside(key) {
		c, err := t.beside(ctx)
		if err != nil {
			return false, err
		}
		return c.Wrote(ctx, key)
	}
	if w, own := t.buf.Get(key); own || t.stream == nil {
		return own && w.Kind != buffer.Undone, nil
	}
	w, err := t.streamed(ctx, key)
	return err == nil && (w.Kind == buffer.Put || w.Kind == buffer.Delete), err
}

// Peek is Get of a key that the transaction is about to insert. If the key is absent, and so
// written, the insert itself conflicts with other writers. So no serial order depends on this read,
// unless a savepoint may take the insert back. A transaction that assumes takes the key for absent
// without looking: its insert fails at Commit if it is not.
func (t *Txn) Peek(ctx context.Context, key []byte) ([]byte, error) {
	if t.aside(key) {
		return t.getBeside(ctx, key, (*Txn).Peek)
	}
	w, own := t.buf.Get(key)
	if !own && t.takesForAbsent() {
		return nil, nil
	}
	value, err := t.get(ctx, key, w, own, t.buf.HasSavepoints())
	if value != nil && err == nil && !t.buf.HasSavepoints() {
		err = t.noteRead(key)
	}
	return value, err
}

// GetUnserialized is Get of a key that other transactions change only under locks that exclude this
// one, such as the schema. No serial order rests on the read, and no serializable transaction is
// failed for it. Where locks do not bind the other writers (LocksBind) it is Get.
func (t *Txn) GetUnserialized(ctx context.Context, key []byte) ([]byte, error) {
	if t.aside(key) {
		return t.getBeside(ctx, key, (*Txn).Get)
	}
	w, own := t.buf.Visible(key)
	return t.get(ctx, key, w, own, t.node == nil)
}

// get reads key. w is its buffered write, if own is set. depends is set when what was read has to
// stay true until Commit.
func (t *Txn) get(ctx context.Context, key []byte, w buffer.Write, own,
	depends bool) ([]byte, error) {
	if t.done {
		return nil, ErrTxnDone
	}
	t.ctx = ctx
	if own && w.Kind != buffer.Undone {
		if w.Kind != buffer.Put {
			return nil, nil
		}
		return w.Value, nil
	} else if !own && t.stream != nil {
		if w, err := t.streamed(ctx, key); err != nil || w.Kind == buffer.Put ||
			w.Kind == buffer.Delete {
			return w.Value, err
		}
	}
	if depends {
		if err := t.noteRead(key); err != nil {
			return nil, err
		}
	}
	return t.read(ctx, key)
}

// GetMany returns the values of keys in their order, nil for the absent ones. Keys in ascending
// order are cheapest.
func (t *Txn) GetMany(ctx context.Context, keys [][]byte) ([][]byte, error) {
	if t.done {
		return nil, ErrTxnDone
	}
	if err := t.Foretell(ctx, keys); err != nil {
		return nil, err
	}
	out := make([][]byte, len(keys))
	var arena buffer.Arena // the values must all stay valid
	for i, key := range keys {
		value, err := t.Get(ctx, key)
		if err != nil {
			return nil, err
		}
		if value != nil {
			out[i] = arena.Keep(value)
		}
	}
	return out, nil
}

// Foretold reports whether Foretell is of use: where each read of the store is a request.
func (t *Txn) Foretold() bool { return !t.s.alone }

// Foretell says that keys will be read soon, so that the engine may read them together (Percolator,
// §2.5), and with the first read of a snapshot. It changes nothing of what is read.
func (t *Txn) Foretell(ctx context.Context, keys [][]byte) error {
	if t.s.alone || len(keys) == 0 {
		return nil
	}
	if t.snapshot == nil {
		t.foretold = keys
		return nil
	}
	t.ctx = ctx
	v, err := t.open()
	if err == nil {
		err = v.View.Foretell(ctx, keys)
	}
	if t.lost(err) {
		return nil
	}
	return err
}

// Freeze makes Get, GetMany and Scan show the transaction's own writes as they are now, until Thaw:
// all parts of a data-modifying statement read the state before it. Peek and GetCurrent see all
// writes. What is written meanwhile is not streamed out, so Options.MaxTxnBytes bounds it.
func (t *Txn) Freeze() {
	t.buf.Freeze()
	if t.companion != nil {
		t.companion.Freeze()
	}
}

// Thaw ends Freeze, as RollbackTo and UndoTo do. It may be called without one.
func (t *Txn) Thaw() {
	t.buf.Thaw()
	if t.companion != nil {
		t.companion.Thaw()
	}
}

// Writer returns the start timestamp of the transaction that wrote the value that Get returns, its
// own for its own writes. So it does for a value that the transaction itself has deleted, unless
// another transaction's was there before. Requires: the key has, or had, a value.
func (t *Txn) Writer(ctx context.Context, key []byte) (tso.Timestamp, error) {
	if t.done {
		return 0, ErrTxnDone
	}
	t.ctx = ctx
	w, own := t.buf.Get(key)
	if !own && t.stream != nil {
		var err error
		if w, err = t.streamed(ctx, key); err != nil {
			return 0, err
		}
	}
	if w.Kind == buffer.Put {
		return t.reg.startTS, nil
	}
	var ts tso.Timestamp
	err := t.readWith(ctx, key, func(v *hints.Snapshot) (err error) {
		ts, err = v.View.Writer(ctx, key, t.readParams(v, !v.Locks.Has(key)))
		return err
	})
	if ts == 0 {
		ts = t.reg.startTS
	}
	return ts, err
}

// read returns the committed value of key at the read timestamp.
func (t *Txn) read(ctx context.Context, key []byte) (value []byte, err error) {
	m := &t.s.memory
	if t.stream != nil || !m.CachesRows() || t.s.closing.begun.Load() {
		return t.readStore(ctx, key)
	}
	hash := m.HashOf(key)
	if value, ok := m.FindRow(hash, key, t.readTS); ok {
		return value, ctx.Err()
	}
	if value, err = t.readStore(ctx, key); err == nil && value != nil {
		m.KeepRow(hash, key, value, t.readTS)
	}
	return value, err
}

// readStore is read of what the engine has.
func (t *Txn) readStore(ctx context.Context, key []byte) (value []byte, err error) {
	err = t.readWith(ctx, key, func(v *hints.Snapshot) (err error) {
		value, err = v.View.Get(ctx, key, t.readParams(v, !v.Locks.Has(key)))
		return err
	})
	return value, err
}

// readWith calls look with a snapshot that shows key at the read timestamp, again and again until
// no lock is in its way.
func (t *Txn) readWith(ctx context.Context, key []byte,
	look func(v *hints.Snapshot) error) error {
	var bo lockwait.Backoff
	for {
		v, err := t.openFor(key)
		if err != nil {
			return err
		}
		if len(t.pending) > 0 {
			waited, err := t.awaitPending(ctx, func(p *hints.Pending) bool {
				return p.HasKey(key) && !t.dependsOn(p, key)
			})
			if err != nil {
				return err
			}
			if waited {
				continue
			}
		}
		if err = look(v); err == nil {
			return nil
		}
		v.KeepPrivate() // its iterator may have failed
		if err := t.settle(ctx, err, &bo); err != nil {
			return err
		}
	}
}

// awaitPending waits for the pending commits that concern the reader. If there was one, the
// snapshot is dropped, for it may lack that commit.
func (t *Txn) awaitPending(ctx context.Context, concerns func(*hints.Pending) bool) (bool, error) {
	waited := false
	for _, p := range t.pending {
		if !concerns(p) {
			continue
		}
		done, err := p.Wait(ctx, t.readTS)
		if err != nil {
			return false, err
		}
		waited = waited || done
	}
	if waited {
		t.dropSnapshot()
	}
	return waited, nil
}

// settle settles the lock that stopped a read, or waits for it, or drops the snapshot that is gone.
// It returns nil when the read should be tried again.
func (t *Txn) settle(ctx context.Context, err error, bo *lockwait.Backoff) error {
	return t.settleAhead(ctx, err, bo, false)
}

// settleAhead is settle for a scan, which may go backwards.
func (t *Txn) settleAhead(ctx context.Context, err error, bo *lockwait.Backoff,
	reverse bool) error {
	if t.lost(err) {
		return nil
	}
	var locked *LockedError
	if !errors.As(err, &locked) {
		return err
	}
	if t.readThrough(locked.Lock.StartTS) {
		return nil
	}
	if bo.Limit == 0 {
		bo.Limit = t.s.opts.LockWait
	}
	out, _, err := t.s.resolver.SettleRun(ctx, locked, t.readTS, reverse)
	switch {
	case err != nil:
		return err
	case out == resolve.Pushed:
		if t.ignored == nil {
			t.ignored = map[tso.Timestamp]struct{}{}
		}
		t.ignored[locked.Lock.StartTS] = struct{}{}
		return nil
	case out == resolve.Alive:
		more, err := t.waiter.Await(ctx, locked, bo)
		if err != nil {
			return err
		}
		if !more {
			return locked
		}
	}
	t.dropSnapshot()
	return nil
}

// readThrough reports whether the locks of a transaction can be read as the records that they
// become: it has streamed, its status is durable, and the background settles its locks, which are
// too many to be waited for (txn: I23). The snapshot need not be newer: if the commit is at or
// below the read timestamp, all locks were there before the snapshot was taken.
func (t *Txn) readThrough(startTS tso.Timestamp) bool {
	commitTS, known := t.s.memory.LockHolders.Decision(startTS)
	if !known {
		return false
	}
	if t.decided == nil {
		t.decided = map[tso.Timestamp]tso.Timestamp{}
	}
	t.decided[startTS] = commitTS
	return true
}
