package txn

import (
	"bytes"
	"cmp"
	"context"
	"errors"

	"github.com/minidb/minidb/txn/shared"
	"github.com/minidb/minidb/txn/ssi"
	"github.com/minidb/minidb/txn/tso"
)

// BeginOptions choose the kind of transaction.
type BeginOptions struct {
	// ReadOnly refuses writes.
	ReadOnly bool
	// StartTS, if not zero, makes it a reader of the past: what was committed at or below it.
	StartTS tso.Timestamp
	// Serializable makes the transaction take part in what keeps serializable ones in a serial
	// order (serial.go). With StartTS it does not: a reader of the past sees what a snapshot saw
	// then.
	Serializable bool
	// Deferrable, of a serializable transaction that is ReadOnly, makes Begin wait for a snapshot
	// that is safe: what is read in it never makes anybody fail.
	Deferrable bool
	// Protocol, if not Auto, is that of this transaction's commit, instead of Options.Protocol.
	Protocol Protocol
	// Session is whom to name as the transaction's owner to those who ask who waits for whom.
	Session int64
	// OnStream, if not nil, is called after every batch of writes that a large transaction has
	// streamed out, with what has been streamed so far.
	OnStream func(Streamed)
}

// Txn is a transaction: reads at start_ts, and writes buffered until Commit. It belongs to one
// goroutine at a time. Keys and values given in are copied; what comes out is valid until the next
// call on the Txn, and must not be changed.
type Txn struct {
	s        *Store
	reg      registration
	protocol Protocol // of its commit
	readOnly bool
	past     bool // it was begun at a timestamp of its own
	done     bool
	frees    bool // it makes room on the disk in the end
	commitTS tso.Timestamp
	replaced replaced // by its writes, for the collector

	readTS    tso.Timestamp // start_ts until Advance
	locking   Locking
	shared    *shared.RowLocks // in a store that others write to, and else nil
	node      *ssi.Node        // of a serializable transaction, on an engine of this process's own
	refused   error            // what the end of an iterator told, when it was closed early
	reads     *readSet         // what a serializable transaction has read, on any other engine
	buf       buffer
	counted   counted
	validated []validation
	// validatedAt is where a span that was given to Validate is in validated.
	validatedAt map[string]int
	stream      *stream   // of a transaction that outgrew Options.StreamBytes
	liveness    *liveness // once it has locks in the store, on an engine of this process's own
	statement   string    // what it runs
	wrote       string    // the last statement that wrote
	onStream    func(Streamed)
	ctx         context.Context // of the last read, or of Begin
	// statementCtx is that of what it runs, if anybody has said it: writes have none.
	statementCtx context.Context
	snapshot     *snapshot
	// pending holds the commits below the read timestamp that were in flight when the snapshot was
	// opened.
	pending []*pending
	// large holds the large transactions that had locks then.
	large []*lockHolder
	// dependencies are commits in flight whose writes it may have read (early.go).
	dependencies []dependency
	// ignored holds writers that were pushed to commit above start_ts.
	ignored map[tso.Timestamp]struct{}
	// statuses holds decided transactions whose locks it has met while they were being settled.
	decided map[tso.Timestamp]tso.Timestamp
}

// Begin starts a transaction: it draws start_ts and holds the safepoint at or below it until the
// transaction is committed or rolled back. A historical read below the safepoint is refused with
// *SafepointError.
func (s *Store) Begin(ctx context.Context, opts BeginOptions) (*Txn, error) {
	if opts.Serializable && opts.ReadOnly && opts.Deferrable {
		return s.beginSafe(ctx, opts)
	}
	return s.begin(ctx, opts)
}

func (s *Store) begin(ctx context.Context, opts BeginOptions) (*Txn, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.gate.RUnlock()
	if err := s.checkProtocol(opts.Protocol); err != nil {
		return nil, err
	}
	t := &Txn{s: s, protocol: cmp.Or(opts.Protocol, s.opts.Protocol), readOnly: opts.ReadOnly ||
		opts.StartTS != 0, past: opts.StartTS != 0, onStream: opts.OnStream, ctx: ctx}
	t.reg.session = opts.Session
	if opts.StartTS == 0 {
		if opts.Serializable {
			t.serialize(opts)
		}
		if err := s.join(ctx, &t.reg); err != nil {
			t.Abort()
			return nil, err
		}
		if t.node != nil {
			t.node.Started(t.reg.startTS)
		}
		t.readTS = t.reg.startTS
		t.shared = s.peers.NewRowLocks(t.reg.startTS)
		return t, nil
	}
	now, err := s.source.Next(ctx)
	if err != nil {
		return nil, err
	}
	if opts.StartTS > now {
		return nil, &FutureError{StartTS: opts.StartTS, Now: now}
	}
	if err := s.joinPast(ctx, &t.reg, opts.StartTS); err != nil {
		return nil, err
	}
	t.readTS = t.reg.startTS
	t.shared = s.peers.NewRowLocks(t.reg.startTS)
	return t, nil
}

// StartTS returns the transaction's timestamp, by which its locks and records are known. It reads
// at this timestamp too, unless Advance was called.
func (t *Txn) StartTS() tso.Timestamp { return t.reg.startTS }

// CommitTS returns the timestamp at which its writes appeared: zero before Commit, and when there
// was nothing to write.
func (t *Txn) CommitTS() tso.Timestamp { return t.commitTS }

// Dirty reports whether any write is buffered.
func (t *Txn) Dirty() bool { return !t.buf.empty() || t.stream != nil }

// Get returns the value of key, or nil when it is absent. It sees the transaction's own writes, but
// for those since Freeze.
func (t *Txn) Get(ctx context.Context, key []byte) ([]byte, error) {
	w, own := t.buf.visible(key)
	return t.get(ctx, key, w, own, true)
}

// GetCurrent is Get that sees all of the transaction's own writes, also those since Freeze.
func (t *Txn) GetCurrent(ctx context.Context, key []byte) ([]byte, error) {
	w, own := t.buf.get(key)
	return t.get(ctx, key, w, own, true)
}

// Freeze makes Get, GetMany and Scan show the transaction's own writes as they are now, until Thaw:
// all parts of a statement that modifies read what was there before it. Peek and GetCurrent see
// all. What is written meanwhile is not streamed out, so Options.MaxTxnBytes bounds it.
func (t *Txn) Freeze() { t.buf.freeze() }

// Thaw ends Freeze, as RollbackTo and UndoTo do. It may be called without one.
func (t *Txn) Thaw() { t.buf.thaw() }

// get reads key. w is the buffered write of it, if own says that there is one; depends says that
// what was read has to stay true until Commit.
func (t *Txn) get(ctx context.Context, key []byte, w write, own, depends bool) ([]byte, error) {
	if t.done {
		return nil, ErrTxnDone
	}
	t.ctx = ctx
	if own && w.kind != writeUndone {
		if w.kind != writePut {
			return nil, nil
		}
		return w.value, nil
	} else if !own && t.stream != nil {
		if w, err := t.streamed(ctx, key); err != nil || w.kind == writePut ||
			w.kind == writeDelete {
			return w.value, err
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
	out := make([][]byte, len(keys))
	var arena buffer // only its arena is used: the values must all stay valid
	for i, key := range keys {
		value, err := t.Get(ctx, key)
		if err != nil {
			return nil, err
		}
		if value != nil {
			out[i] = arena.keep(value)
		}
	}
	return out, nil
}

// Set buffers a write of key.
func (t *Txn) Set(key, value []byte) error {
	if err := t.writable(); err != nil {
		return err
	}
	if err := t.announce(key); err != nil {
		return err
	}
	t.buf.set(key, value)
	return t.afterWrite()
}

// SetNew is Set of a key that the caller knows to have no value where the transaction reads,
// because of another key that he writes beside it: of an entry of a new row, whose row key he locks
// or inserts. Unlike Insert it makes Commit look for nothing more; and if the transaction deletes
// the key again, it leaves no trace of it, and no conflict for whoever writes it next.
func (t *Txn) SetNew(key, value []byte) error {
	if err := t.writable(); err != nil {
		return err
	}
	if err := t.announce(key); err != nil {
		return err
	}
	t.buf.setNew(key, value)
	return t.afterWrite()
}

// Insert is Set of a key that has no value: Commit fails with *AlreadyExistsError if it has one.
func (t *Txn) Insert(key, value []byte) error {
	if err := t.writable(); err != nil {
		return err
	}
	if err := t.announce(key); err != nil {
		return err
	}
	t.buf.insert(key, value)
	return t.afterWrite()
}

// Delete buffers the removal of key; an absent key is no error.
func (t *Txn) Delete(key []byte) error {
	if err := t.writable(); err != nil {
		return err
	}
	if err := t.announce(key); err != nil {
		return err
	}
	t.buf.delete(key)
	return t.afterWrite()
}

func (t *Txn) writable() error {
	switch {
	case t.done:
		return ErrTxnDone
	case t.readOnly:
		return ErrReadOnly
	case t.footprint() > t.s.opts.MaxTxnBytes:
		return ErrTooLarge
	}
	t.wrote = t.statement
	if !t.reg.wrote.Load() {
		t.reg.wrote.Store(true)
	}
	return nil
}

// rowLockBytes is about what a row lock in memory takes: an entry of the lock table, its place in
// the table's map, and one in its owner's log.
const rowLockBytes = 256

// footprint is about how much memory the transaction takes: its writes and its row locks.
func (t *Txn) footprint() int {
	n := t.buf.held()
	if o := t.locking.Owner; o != nil {
		n += rowLockBytes * o.Locks()
	}
	return n
}

// announce is what comes before every write of a key.
func (t *Txn) announce(key []byte) error {
	if t.node != nil {
		if err := t.node.Write(key); err != nil {
			return err
		}
	}
	return t.faultIn(key)
}

// Savepoint marks the present state of the buffered writes.
func (t *Txn) Savepoint() Savepoint {
	sp := Savepoint{at: t.buf.savepoints.add()}
	if t.locking.Owner != nil {
		sp.locks = t.locking.Owner.Mark()
	}
	sp.records = t.shared.Mark()
	return sp
}

// RollbackTo forgets the writes made after sp and gives back the row locks taken since. sp and
// earlier savepoints stay usable, later ones do not.
func (t *Txn) RollbackTo(sp Savepoint) {
	if t.done {
		return
	}
	t.buf.thaw()
	t.undo(sp)
	if t.locking.Owner != nil {
		t.shared.ReleaseTo(sp.records, nil)
		t.locking.Owner.ReleaseTo(sp.locks)
	}
}

// ForgetSavepoints gives back the memory that it takes to return to one: none that was made so far
// is used any more.
func (t *Txn) ForgetSavepoints() { t.buf.savepoints.forgetAfter(0, &t.buf) }

// ForgetSavepointsAfter does so with those that were made after sp. Requires: sp has not been
// forgotten.
func (t *Txn) ForgetSavepointsAfter(sp Savepoint) {
	t.buf.savepoints.forgetAfter(t.buf.savepoints.first(sp.at)+1, &t.buf)
}

// UndoTo forgets the writes made after sp and keeps the row locks: the statement runs again.
func (t *Txn) UndoTo(sp Savepoint) {
	if !t.done {
		t.buf.thaw()
		t.undo(sp)
	}
}

// Size returns the number of bytes of keys and values buffered.
func (t *Txn) Size() int { return t.buf.bytes }

// Idle lets go of what the transaction holds in the engine between statements, so that one that
// waits for its client pins no files. The next read takes a new snapshot and sees the same.
func (t *Txn) Idle() { t.dropSnapshot() }

// Rollback ends the transaction without a trace. It may be repeated, and after Commit it does
// nothing.
func (t *Txn) Rollback(ctx context.Context) error {
	if t.stream != nil && !t.done {
		t.rollbackStream(ctx)
	}
	t.finish()
	return nil
}

// finish releases everything that the transaction holds.
func (t *Txn) finish() {
	if t.done {
		return
	}
	t.done = true
	if t.stream != nil {
		t.stream.stop()
	}
	t.liveness.end()
	t.dropSnapshot()
	t.Abort()
	t.releaseLocks()
	t.noteReplaced()
	t.s.registry.leave(&t.reg)
	t.buf = buffer{}
	t.uncountWrites()
	t.dependencies = nil
}

// read returns the committed value of key at start_ts.
func (t *Txn) read(ctx context.Context, key []byte) ([]byte, error) {
	var bo backoff
	for {
		v, err := t.openFor(key)
		if err != nil {
			return nil, err
		}
		if len(t.pending) > 0 {
			waited, err := t.awaitPending(ctx, func(p *pending) bool {
				return p.hasKey(key) && !t.dependsOn(p, key)
			})
			if err != nil {
				return nil, err
			}
			if waited {
				continue
			}
		}
		value, err := v.mv.Get(ctx, key, t.readParams(v, !v.locks.has(key)))
		if err == nil {
			return value, nil
		}
		v.shared = 0 // its iterator may have failed
		if err := t.settle(ctx, err, &bo); err != nil {
			return nil, err
		}
	}
}

// awaitPending waits for the pending commits that concern the reader. If there was one, the
// snapshot is dropped, for it may lack that commit.
func (t *Txn) awaitPending(ctx context.Context, concerns func(*pending) bool) (bool, error) {
	waited := false
	for _, p := range t.pending {
		if !concerns(p) {
			continue
		}
		done, err := p.wait(ctx, t.readTS)
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

// settle deals with what stopped a read. It returns nil when the read should be tried again.
func (t *Txn) settle(ctx context.Context, err error, bo *backoff) error {
	return t.settleAhead(ctx, err, bo, false)
}

// settleAhead is settle for a scan, which may go backwards.
func (t *Txn) settleAhead(ctx context.Context, err error, bo *backoff, reverse bool) error {
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
	out, _, err := t.s.resolver.settleRun(ctx, locked, t.readTS, reverse)
	switch {
	case err != nil:
		return err
	case out == lockPushed:
		if t.ignored == nil {
			t.ignored = map[tso.Timestamp]struct{}{}
		}
		t.ignored[locked.Lock.StartTS] = struct{}{}
		return nil
	case out == lockAlive:
		more, err := t.awaitLock(ctx, locked, bo)
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
// become: it has streamed, its status is durable, and the background has begun to settle its locks,
// which are too many to be waited for (txn: I23). The snapshot need not be newer: if the commit is
// at or below the read timestamp, the locks were all down before the snapshot was taken.
func (t *Txn) readThrough(startTS tso.Timestamp) bool {
	commitTS, known := t.s.lockHolders.decision(startTS)
	if !known {
		return false
	}
	if t.decided == nil {
		t.decided = map[tso.Timestamp]tso.Timestamp{}
	}
	t.decided[startTS] = commitTS
	return true
}

// errStop ends a visit early.
var errStop = errors.New("stop")

// successor returns the smallest key above key.
func successor(key []byte) []byte { return append(bytes.Clone(key), 0x00) }
