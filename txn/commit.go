package txn

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
)

// Commit makes the transaction's writes visible and durable, all or none, and ends it. Without
// writes it does nothing, but for keys that were inserted and deleted again: they must be absent
// still. The errors are *WriteConflictError, *AlreadyExistsError, *LockedError when waiting took
// too long, ErrAmbiguous (wrapped) when the result is unknown, and what the engine or the context
// says; with any of them but ErrAmbiguous nothing was written. Of a serializable transaction, also
// *SerializationError and *ReadConflictError, the former without writes too.
func (t *Txn) Commit(ctx context.Context) error {
	if t.done {
		return ErrTxnDone
	}
	defer t.finish()
	t.dropSnapshot()
	err := t.commit(ctx)
	t.committed(err)
	if errors.Is(err, ErrAbandoned) {
		t.shared.Forget() // the dead give nothing back
	}
	return err
}

func (t *Txn) commit(ctx context.Context) error {
	if !t.Dirty() {
		return errors.Join(t.prepare(), t.AwaitDurable(ctx))
	}
	if err := t.s.enter(); err != nil {
		return err
	}
	defer t.s.gate.RUnlock()
	defer t.noteReplaced() // Close writes down what was noted
	if t.stream != nil {
		return t.commitStream(ctx)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	muts, absent, err := t.mutations(ctx, false)
	if err != nil {
		return err
	}
	c := &committer{
		s: t.s, t: t, startTS: t.reg.startTS, muts: muts, bytes: t.buf.bytes, validate: absent,
	}
	if err := t.s.Room(t.frees); err != nil && len(muts) > 0 {
		return kv.NotApplied(err)
	}
	if len(muts) == 0 {
		return errors.Join(c.validateLocked(ctx, &backoff{}), t.prepare(), t.AwaitDurable(ctx))
	}
	c.validate = append(c.validate, t.validated...)
	if t.reads != nil {
		c.reads = t.reads.spans()
	}
	if err := c.run(ctx); err != nil {
		// the reason may lie in what was read
		if lost := t.AwaitDurable(context.WithoutCancel(ctx)); lost != nil {
			err = errors.Join(err, lost)
		}
		return err
	}
	t.commitTS = c.commitTS
	return nil
}

// rowMore is room for what a row has more than its key; with many escapes in it the rows grow.
const rowMore = 4

// mutations turns the buffer into what the protocol's steps take, sorted by key. absent are the
// keys that were inserted and deleted again: there is nothing to write, but if another transaction
// has written one meanwhile, its insert was wrong. Of fresh keys that does not matter. With
// versions, the mutations have what a return to a savepoint needs.
func (t *Txn) mutations(ctx context.Context, versions bool) (muts []mvcc.Mutation,
	absent []validation, err error) {
	muts = make([]mvcc.Mutation, 0, t.buf.tree.Len())
	keys := 0
	t.buf.tree.Scan(func(w write) bool {
		keys += len(w.key)
		return true
	})
	rows := make([]byte, 0, keys+rowMore*t.buf.tree.Len())
	n := 0
	t.buf.tree.Scan(func(w write) bool {
		if n++; n%writesPerCheck == 0 {
			if err = ctx.Err(); err != nil {
				return false
			}
		}
		m := mvcc.Mutation{Key: w.key, Value: w.value, MustNotExist: w.mustNotExist, BaseTS: w.base,
			Held: w.held}
		if versions {
			t.buf.savepoints.version(&w, &m)
		}
		m.Kind = kindIn(w.kind)
		if m.Kind == mvcc.KindLock {
			if t.stream == nil && len(m.Older) == 0 {
				if w.mustNotExist {
					absent = append(absent, validation{
						span: kv.Span{Start: w.key, End: successor(w.key)}, row: mvcc.Row(w.key),
						since: max(w.base, t.reg.startTS),
					})
				}
				return true
			}
			m.Value, m.OwnOnly = nil, len(m.Older) == 0
		}
		at := len(rows)
		rows = mvcc.AppendRow(rows, w.key)
		m.Row = rows[at:len(rows):len(rows)]
		if w.kind != writePut || !w.mustNotExist && !w.fresh {
			t.replaced.add(m.Row)
		}
		muts = append(muts, m)
		return true
	})
	return muts, absent, err
}

// writesPerCheck is how many buffered writes pass between two looks at the context.
const writesPerCheck = 4096

// committer is the coordinator of one commit.
type committer struct {
	s        *Store
	t        *Txn
	startTS  tso.Timestamp
	muts     []mvcc.Mutation // sorted by key
	bytes    int
	validate []validation // read, and not to be changed by others since
	reads    []kv.Span    // of a serializable transaction, to be validated
	commitTS tso.Timestamp
	drawn    tso.Timestamp // commit_ts, when it was drawn before the commit point
	deciding bool          // the primary's lock says so: readers do not push commit_ts

	prewriting bool // some locks may be in the store
	// of a commit in two phases that writes each lock once; nil: its locks are looked at
	lockHolder *lockHolder

	anchor  []mvcc.Mutation // the primary alone, when the transaction streams its writes out
	locking sync.Mutex      // held by the goroutine that waits for row locks
	holds   bool            // the transaction had row locks in the store when the prewrites began

	async    *async       // when it commits with a calculated timestamp
	lastBeat atomic.Int64 // oracle milliseconds at which the primary's lock was last extended
}

// run chooses the protocol of the commit, once (txn: I15). Each step of it may be repeated: the
// second run finds the lock, the record or the rollback of the first. What was tried in one phase
// and got no answer is looked for and, if it is not there, barred by a rollback record. It is never
// tried again in two phases, which would not find the record of one.
func (c *committer) run(ctx context.Context) error {
	if c.t.node != nil {
		if err := c.awaitRowLocks(ctx); err != nil {
			return err
		}
		if err := c.t.prepare(); err != nil {
			return err
		}
	}
	protocol := c.protocol()
	if protocol == OnePhase {
		return c.onePhase(ctx)
	}
	if err := c.awaitRowLocks(ctx); err != nil {
		return err
	}
	c.prewriting = true
	if protocol == Async {
		return c.asyncCommit(ctx)
	}
	return c.twoPhase(ctx)
}

// oneBatch reports whether the commit is no more than one batch. A larger one takes two phases: in
// one phase it would keep others waiting for the latches of all its rows at once.
func (c *committer) oneBatch() bool {
	rows := len(c.muts)
	for i := range c.validate {
		if c.validate[i].row != nil {
			rows++
		}
	}
	return rows <= c.s.opts.BatchKeys && (len(c.muts) == 1 || c.bytes <= c.s.opts.BatchBytes)
}

func (c *committer) oneGroup() bool {
	if _, grouped := c.s.engine.(kv.Grouped); !grouped {
		return true
	}
	first := kv.GroupOf(c.s.engine, c.muts[0].Row)
	for i := range c.muts[1:] {
		if kv.GroupOf(c.s.engine, c.muts[i+1].Row) != first {
			return false
		}
	}
	for _, v := range c.validate {
		if v.row != nil && kv.GroupOf(c.s.engine, v.row) != first {
			return false
		}
	}
	return true
}

func rowsOf(muts []mvcc.Mutation) [][]byte {
	rows := make([][]byte, len(muts))
	for i := range muts {
		rows[i] = muts[i].Row
	}
	return rows
}

// update runs a step and tells what an error means: with unknown, the engine cannot tell whether
// the batch was written. The step's own error is never that.
func (s *Store) update(
	ctx context.Context, rows [][]byte, lazy bool, step kv.Step,
) (unknown bool, err error) {
	return update(step, func(step kv.Step) error {
		if lazy {
			return kv.UpdateLazy(ctx, s.engine, rows, step)
		}
		return s.engine.Update(ctx, rows, step)
	})
}

// updateEarly is a durable update that calls visible once readers can see it.
func (s *Store) updateEarly(ctx context.Context, rows [][]byte, step kv.Step,
	visible func()) (unknown bool, err error) {
	return update(step, func(step kv.Step) error {
		return kv.UpdateEarly(ctx, s.engine, rows, step, visible)
	})
}

func update(step kv.Step, run func(kv.Step) error) (unknown bool, err error) {
	var own error
	err = run(func(r kv.Reader, b *kv.Batch) error {
		own = step(r, b)
		return own
	})
	unknown = err != nil && own == nil && !errors.Is(err, kv.ErrNotApplied)
	return unknown, err
}

// ambiguous wraps the reason why a result is unknown.
func ambiguous(err error) error { return fmt.Errorf("%w: %w", ErrAmbiguous, err) }

// waitForLock settles the lock that stopped a commit, or waits for it. It returns nil when the
// commit should try again. A lock's owner, if it lives, will commit above our start_ts, and we
// shall have lost; only if it fails may we go on. holding says that the transaction has locks of
// its own: then it waits only for younger transactions than itself, so that no two wait for each
// other.
func (c *committer) waitForLock(ctx context.Context, locked *LockedError, bo *backoff,
	holding bool) error {
	if bo.Limit == 0 {
		bo.Limit = c.s.opts.LockWait
		if c.t.locking.Timeout > 0 {
			bo.Limit = min(bo.Limit, c.t.locking.Timeout)
		}
	}
	out, err := c.s.resolver.settle(ctx, locked, 0)
	if err != nil || out == lockSettled {
		return err
	}
	if holding && locked.Lock.StartTS < c.startTS {
		return &WriteConflictError{Key: locked.Key, StartTS: c.startTS,
			ConflictTS: locked.Lock.StartTS}
	}
	return c.waiting(func() error {
		more, err := c.t.awaitLock(ctx, locked, bo)
		switch {
		case err != nil || more:
			return err
		case c.t.locking.Timeout > 0 && bo.Spent >= c.t.locking.Timeout:
			return &rowlock.TimeoutError{Wait: c.t.waitFor(locked, rowlock.NoKeyUpdate)}
		}
		return locked
	})
}
