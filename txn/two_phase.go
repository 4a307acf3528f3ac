package txn

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/wait"
)

// twoPhase is Percolator's commit (§2.2, figure 6): prewrite the primary and the others, draw
// commit_ts, commit the primary (the commit point), then the others. Prewrites are lazy: the sync
// of the commit point takes them to disk with it, for it is later in the same log.
func (c *committer) twoPhase(ctx context.Context) error {
	batches := c.batches()
	if err := c.s.at(BeforePrewrite); err != nil {
		return err
	}
	c.enterLockHolders()
	err := c.prewriteAll(ctx, batches)
	var committed *mvcc.CommittedError
	if errors.As(err, &committed) {
		// An earlier attempt of ours, of which we never learnt. Everything up to here repeats.
		c.commitTS, c.lockHolder, err = committed.CommitTS, nil, nil
	} else if err == nil {
		if err = c.s.at(AfterPrewrite); err == nil {
			err = c.decide(ctx)
		}
	}
	switch {
	case errors.Is(err, ErrAbandoned), errors.Is(err, ErrAmbiguous):
		return err
	case err != nil:
		c.rollback(ctx, batches)
		return c.finalError(err)
	}
	if err := c.s.at(AfterCommitPoint); err != nil {
		return err
	}
	c.finishSecondaries(ctx, batches)
	return nil
}

// finalError names the reason of a failed commit in the words of the floors above.
func (c *committer) finalError(err error) error {
	var rolled *mvcc.RolledBackError
	if errors.As(err, &rolled) {
		// A resolver took us for dead. The transaction may be run again.
		return &WriteConflictError{Key: rolled.Key, StartTS: c.startTS, ConflictTS: c.startTS}
	}
	return err
}

// enterLockHolders comes before the first prewrite.
func (c *committer) enterLockHolders() {
	c.lockHolder = c.s.enterLockHolders(c.startTS, c.muts)
	c.t.liveness = c.s.livenessOf(c.lockHolder)
}

// batch is what one Update prewrites or commits: mutations of one group, and their rows.
type batch struct {
	muts []mvcc.Mutation
	rows [][]byte
	// uncertain: an earlier attempt to prewrite it may have succeeded.
	uncertain bool
}

// batches cuts the mutations by group, and by size. The first batch begins with the primary, which
// is the first key: one that is really written.
func (c *committer) batches() []batch {
	all := batch{muts: c.muts, rows: rowsOf(c.muts)}
	groups := c.groups()
	if groups == nil {
		return c.cut(nil, all)
	}
	var parts []batch
	at := map[uint64]int{} // group → index in parts
	for i := range all.muts {
		k, ok := at[groups[i]]
		if !ok {
			k = len(parts)
			at[groups[i]] = k
			parts = append(parts, batch{})
		}
		parts[k].muts = append(parts[k].muts, all.muts[i])
		parts[k].rows = append(parts[k].rows, all.rows[i])
	}
	var out []batch
	for _, part := range parts {
		out = c.cut(out, part)
	}
	return out
}

// groups returns the group of each mutation, nil when all are of one.
func (c *committer) groups() []uint64 {
	if _, grouped := c.s.engine.(kv.Grouped); !grouped {
		return nil
	}
	groups, several := make([]uint64, len(c.muts)), false
	for i := range c.muts {
		groups[i] = kv.GroupOf(c.s.engine, c.muts[i].Row)
		several = several || groups[i] != groups[0]
	}
	if !several {
		return nil
	}
	return groups
}

// cut appends the batch to out, in pieces of the size that one Update may have.
func (c *committer) cut(out []batch, b batch) []batch {
	most := c.s.opts.BatchKeys
	from, size := 0, 0
	for i := range b.muts {
		if i > from && (i-from >= most || size >= c.s.opts.BatchBytes) {
			out = append(out, b.part(from, i))
			from, size = i, 0
		}
		size += len(b.muts[i].Row) + len(b.muts[i].Value)
	}
	return append(out, b.part(from, len(b.muts)))
}

func (b batch) part(from, to int) batch {
	return batch{muts: b.muts[from:to:to], rows: b.rows[from:to:to]}
}

func (c *committer) primary() []byte {
	return c.first()[0].Key
}

// first returns the primary's mutation.
func (c *committer) first() []mvcc.Mutation {
	if c.anchor != nil {
		return c.anchor
	}
	return c.muts[:1]
}

// prewriteParallel bounds in how many groups a commit prewrites at once.
const prewriteParallel = 8

// prewriteAll prewrites every batch, the primary's among them: the groups in parallel, the batches
// of one group in turn. So a commit holds the latches of one batch of a group at a time, and others
// get in between.
func (c *committer) prewriteAll(ctx context.Context, batches []batch) error {
	c.holds = c.t.shared.Mark() > 0
	lanes := c.lanes(batches)
	if len(lanes) == 1 || c.s.opts.CrashPoint != nil {
		return c.prewriteInTurn(ctx, batches)
	}
	c.t.owner() // the goroutines below would all make one
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		wg    sync.WaitGroup
		once  sync.Once
		first error
		slots = make(chan struct{}, prewriteParallel)
	)
	for _, lane := range lanes {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := c.prewriteInTurn(ctx, lane); err != nil {
				once.Do(func() {
					first = err
					cancel()
				})
			}
		})
	}
	wg.Wait()
	return first
}

// prewriteInTurn prewrites one batch after the other. The first key of the first one may be the
// primary.
func (c *committer) prewriteInTurn(ctx context.Context, batches []batch) error {
	for i := range batches {
		if err := c.prewrite(ctx, &batches[i]); err != nil {
			return err
		}
		if i == 0 {
			if err := c.s.at(AfterPrewritePrimary); err != nil {
				return err
			}
		}
	}
	return nil
}

// lanes returns the batches by group: those of one group are neighbours.
func (c *committer) lanes(batches []batch) (lanes [][]batch) {
	from := 0
	for i := 1; i <= len(batches); i++ {
		if i < len(batches) && kv.GroupOf(c.s.engine, batches[i].rows[0]) == kv.GroupOf(c.s.engine,
			batches[from].rows[0]) {
			continue
		}
		lanes = append(lanes, batches[from:i])
		from = i
	}
	return lanes
}

// prewrite locks the keys of a batch, settling what stands in the way.
func (c *committer) prewrite(ctx context.Context, b *batch) error {
	var bo backoff
	attempts := 0
	for {
		ttl, err := c.ttl(ctx)
		if err != nil {
			return err
		}
		owner, err := c.s.owner(ctx)
		if err != nil {
			return err
		}
		p := mvcc.PrewriteParams{
			StartTS: c.startTS, Primary: c.primary(), TTLMillis: ttl, Overwrite: c.anchor != nil,
			Owner: owner, Client: c.t.client(), Statement: mvcc.CutStatement(c.t.wrote),
		}
		c.t.liveness.tell(p.Client, p.Statement)
		unknown, err := c.tryPrewrite(ctx, b, p)
		var locked *LockedError
		var held *rowLockedError
		var recorded *mvcc.RowLockedError
		switch {
		case err == nil:
			return c.beat(ctx)
		case errors.Is(err, errExtend):
			if err := c.s.tryer().Extend(ctx); err != nil {
				return err
			}
		case errors.As(err, &held):
			if err := c.awaitRowLocks(ctx); err != nil {
				return err
			}
			if err := c.heartbeat(ctx); err != nil {
				return err
			}
		case errors.As(err, &recorded):
			if err := c.awaitRowRecord(ctx, b.muts, recorded); err != nil {
				return err
			}
			if err := c.heartbeat(ctx); err != nil {
				return err
			}
		case errors.As(err, &locked):
			if commitTS, known := c.s.lockHolders.decision(locked.Lock.StartTS); known {
				// There are many locks of that transaction; those of the batch are settled
				// together.
				err = c.s.resolver.resolveRows(ctx, locked.Lock.StartTS, commitTS, b.rows)
			} else {
				err = c.waitForLock(ctx, locked, &bo, true)
			}
			if err != nil {
				return err
			}
			if err := c.heartbeat(ctx); err != nil {
				return err
			}
		case !unknown || ctx.Err() != nil:
			return err
		default:
			// A prewrite may be repeated, so an unknown result is no loss.
			b.uncertain = true
			if attempts++; attempts == wait.UnknownAttempts {
				return err
			}
		}
	}
}

func (c *committer) tryPrewrite(ctx context.Context, b *batch, p mvcc.PrewriteParams) (unknown bool,
	err error) {
	if c.async != nil {
		return c.prewriteAsync(ctx, b, p)
	}
	return c.s.update(ctx, b.rows, true, func(r kv.Reader, kb *kv.Batch) error {
		if err := c.checkRowLocks(b.muts); err != nil {
			return err
		}
		if err := c.s.peers.CheckSafepoint(ctx, r, c.startTS); err != nil {
			return err // rollback and delete records that should stop us may be gone
		}
		if err := c.t.shared.Convert(ctx, r, kb, c.holds, b.muts, modeOf); err != nil {
			return err
		}
		var room [16]uint32
		slots := c.tellKnown(b, room[:0])
		if err := mvcc.Prewrite(ctx, r, kb, p, b.muts); err != nil {
			return err
		}
		c.s.lockHolders.count(c.startTS, slots)
		return nil
	})
}

// tellKnown tells the mutations what memory knows of their rows, so that a prewrite need not look,
// and returns the rows' slots. It runs inside the step, and so does counting the transaction in
// after it: who prewrites one of the rows later sees the count.
func (c *committer) tellKnown(b *batch, slots []uint32) []uint32 {
	for i := range b.muts {
		m := &b.muts[i]
		slot := c.s.recent.slotOf(m.Row)
		slots = append(slots, slot)
		if m.Held != mvcc.HeldUnknown && !c.knowsHeld(b, m) {
			m.Held = mvcc.HeldUnknown
		}
		m.Unlocked = c.knowsUnlocked(b, m, slot)
		m.Unchanged = c.s.unchanged(slot, c.startTS)
	}
	return slots
}

// knowsUnlocked reports whether nobody has locked the row of a mutation: no other transaction, nor
// this one, which may have done so in an earlier attempt, or, if it streams, with an earlier write
// of the key.
func (c *committer) knowsUnlocked(b *batch, m *mvcc.Mutation, slot uint32) bool {
	own := c.lockHolder
	if st := c.t.stream; st != nil {
		if st.keys.mayHave(m.Key) {
			return false
		}
		own = st.lockHolder
	}
	return !b.uncertain && c.s.unlocked(slot, m.Key, own)
}

// knowsHeld reports whether a stream's own lock is as it was when it was looked at.
func (c *committer) knowsHeld(b *batch, m *mvcc.Mutation) bool {
	st := c.t.stream
	return c.s.alone && !b.uncertain && !st.doubt && st.lockHolder.pristine()
}

// ttl returns the lifetime of a lock written now, counted from start_ts: a transaction that began
// long ago must not be born expired.
func (c *committer) ttl(ctx context.Context) (uint64, error) {
	now, err := c.s.oracleTime(ctx)
	if err != nil {
		return 0, err
	}
	age := max(0, now.Physical()-c.startTS.Physical())
	return uint64(age + c.s.opts.LockTTL.Milliseconds()), nil
}

// beat extends the primary's lock when half of its time is over: a transaction of many batches
// outlives the promise of the first.
func (c *committer) beat(ctx context.Context) error {
	if c.s.peers == nil {
		return nil
	}
	now, err := c.s.oracleTime(ctx)
	if err != nil {
		return err
	}
	if c.lastBeat.CompareAndSwap(0, now.Physical()) ||
		now.Physical()-c.lastBeat.Load() < c.s.opts.LockTTL.Milliseconds()/2 {
		return nil
	}
	c.lastBeat.Store(now.Physical())
	return c.heartbeat(ctx)
}

// heartbeat shows that the owner lives, which on an exclusive engine is known.
func (c *committer) heartbeat(ctx context.Context) error {
	if c.s.peers == nil {
		return nil
	}
	ttl, err := c.ttl(ctx)
	if err != nil {
		return err
	}
	owner, err := c.s.owner(ctx)
	if err != nil {
		return err
	}
	p := mvcc.PrewriteParams{StartTS: c.startTS, Primary: c.primary(), TTLMillis: ttl, Owner: owner}
	rows := [][]byte{c.first()[0].Row}
	err = kv.UpdateLazy(ctx, c.s.engine, rows, func(r kv.Reader, b *kv.Batch) error {
		return mvcc.Heartbeat(ctx, r, b, p)
	})
	var rolled *mvcc.RolledBackError
	if errors.As(err, &rolled) {
		return nil // not there yet, or rolled back: the next prewrite or the commit point will tell
	}
	return err
}

// decide validates what has to be as it was read, and commits the primary. Where reads are
// validated, commit_ts is drawn first: what is written below it is locked or committed by then, and
// seen, so that nothing that was read has changed below commit_ts (txn: I10). A reader of the
// primary that came meanwhile has pushed commit_ts, and all begins anew: the second time readers
// wait until it is over.
func (c *committer) decide(ctx context.Context) error {
	var bo backoff
	for {
		if c.reads != nil {
			var err error
			if c.drawn, err = c.s.source.Next(ctx); err != nil {
				return err
			}
		}
		err := c.validateLocked(ctx, &bo)
		if err == nil {
			err = c.commitPrimary(ctx)
		}
		var early *mvcc.CommitTooEarlyError
		if err != errRedraw && (c.drawn == 0 || !errors.As(err, &early)) {
			return err
		}
		if err := c.decides(ctx, true); err != nil {
			return err
		}
	}
}

// decides says in the primary's lock that readers at or above its lowest commit timestamp wait, or
// do so no more. Requires for yes: all is prewritten.
func (c *committer) decides(ctx context.Context, yes bool) error {
	if c.deciding == yes {
		return nil
	}
	first := c.first()[0]
	for attempts := 1; ; attempts++ {
		unknown, err := c.s.update(ctx, [][]byte{first.Row}, true,
			func(r kv.Reader, b *kv.Batch) error {
				return mvcc.Decide(ctx, r, b, first.Key, c.startTS, yes)
			})
		if err == nil {
			c.deciding = yes
			return c.beat(ctx)
		}
		if !unknown || attempts == wait.UnknownAttempts || ctx.Err() != nil {
			return err
		}
	}
}

// commitPrimary is the commit point. commit_ts is drawn after every prewrite has succeeded, else a
// snapshot could miss an earlier commit. From here on the caller's context has no say.
func (c *committer) commitPrimary(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := wait.Detached(ctx)
	defer cancel()
	bo := wait.Backoff{Limit: wait.UnknownTime}
	var lost error
	for attempts := 0; ; {
		unknown, err := c.tryCommitPrimary(ctx, attempts > 0)
		var early *mvcc.CommitTooEarlyError
		var rolled *mvcc.RolledBackError
		var forgotten *SafepointError
		switch {
		case err == nil:
			return nil
		case errors.As(err, &early) && c.drawn == 0:
			continue // a reader pushed us: draw again, now above it
		case errors.As(err, &early):
			return err
		case errors.Is(err, ErrAbandoned):
			return err
		case lost != nil && errors.As(err, &forgotten):
			return ambiguous(errors.Join(lost, err))
		case errors.As(err, &rolled), lost == nil && !unknown:
			return err
		}
		// The answer was lost. The step may be repeated: it finds its own record, or a rollback.
		lost = errors.Join(lost, err)
		if attempts++; attempts == wait.UnknownAttempts {
			return ambiguous(lost)
		}
		if more, _ := bo.Wait(ctx); !more {
			return ambiguous(lost)
		}
	}
}

// tryCommitPrimary is one attempt. repeated says that an earlier one may have succeeded.
func (c *committer) tryCommitPrimary(ctx context.Context, repeated bool) (unknown bool, err error) {
	// The primary's record is visible before it is durable, so its readers wait, as for one phase.
	p := c.s.inflight.enterPrimary(c.first())
	defer c.s.inflight.leave(p)
	commitTS := c.drawn
	if commitTS == 0 {
		if commitTS, err = c.s.source.Next(ctx); err != nil {
			return false, err
		}
	}
	p.commitTS.Store(uint64(commitTS))
	if err := c.t.shared.Check(commitTS, c.writes); err != nil {
		return false, err
	}
	if err := c.s.at(AfterCommitTS); err != nil {
		return false, err
	}
	rows := [][]byte{c.first()[0].Row}
	c.s.recent.raise(rows[0], commitTS)
	var already *mvcc.Status
	unknown, err = c.s.update(ctx, rows, false, func(r kv.Reader, b *kv.Batch) error {
		already = nil
		if err := c.t.liveness.apply(p, commitTS); err != nil {
			return err
		}
		if !repeated && c.lockHolder.pristine() {
			mvcc.CommitKnown(b, c.startTS, commitTS, c.first())
			return nil
		}
		err := mvcc.Commit(ctx, r, b, c.startTS, commitTS, rows)
		var rolled *mvcc.RolledBackError
		if errors.As(err, &rolled) {
			// Below the safepoint the record of an earlier attempt may have been collected.
			err = errors.Join(c.s.peers.CheckSafepoint(ctx, r, c.startTS), err)
		}
		if err == nil && b.Empty() {
			// Committed by an earlier attempt: at which timestamp, its record knows.
			st, err := mvcc.CheckStatus(ctx, r, b, mvcc.StatusParams{
				Primary: c.primary(), StartTS: c.startTS, Now: commitTS,
			})
			already = &st
			return err
		}
		return err
	})
	if err == nil && already != nil {
		commitTS = already.CommitTS
	}
	c.t.liveness.applied(commitTS, unknown, err)
	if err == nil {
		c.commitTS = commitTS
	}
	return unknown, err
}

// finishSecondaries hands the rest of a committed transaction to the background. Whoever is quicker
// meets the locks and rolls them forward.
func (c *committer) finishSecondaries(ctx context.Context, batches []batch) {
	c.finishAll(ctx, withoutPrimary(batches))
}

// finishAll does so with all rows of the batches.
func (c *committer) finishAll(ctx context.Context, batches []batch) {
	work := secondaryWork{startTS: c.startTS, commitTS: c.commitTS, batches: batches,
		lockHolder: c.lockHolder}
	if len(c.muts) > lockHolderRows {
		c.s.lockHolders.decide(c.startTS, c.commitTS)
	}
	c.s.settleLater(ctx, work)
}

// rollback erases what a failed commit may have prewritten: the primary first, for it decides, then
// the others. Those of a commit that is larger than a batch are left to the background: its client,
// who may have cancelled it, does not wait for them. What cannot be erased is left to whoever meets
// it.
func (c *committer) rollback(ctx context.Context, batches []batch) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	c.t.liveness.end()
	if c.s.at(BeforeRollback) != nil {
		return
	}
	primary := [][]byte{c.muts[0].Row}
	c.s.recent.rollingBack(c.startTS, primary...)
	err := kv.UpdateLazy(ctx, c.s.engine, primary, func(r kv.Reader, b *kv.Batch) error {
		return mvcc.Rollback(ctx, r, b, c.startTS, primary, true)
	})
	if err != nil || c.s.at(AfterRollbackPrimary) != nil {
		return
	}
	w := secondaryWork{startTS: c.startTS, undo: true, batches: withoutPrimary(batches)}
	if len(c.muts) > lockHolderRows {
		c.s.lockHolders.decide(c.startTS, 0)
		c.s.settleLater(ctx, w)
		return
	}
	for i := range w.batches {
		if c.s.undoBatch(ctx, &w, &w.batches[i]) != nil {
			return
		}
	}
	c.s.lockHolders.leave(c.startTS)
}

// withoutPrimary returns the batches without the first row of the first.
func withoutPrimary(batches []batch) []batch {
	batches[0].rows, batches[0].muts = batches[0].rows[1:], batches[0].muts[1:]
	if len(batches[0].rows) == 0 {
		return batches[1:]
	}
	return batches
}
