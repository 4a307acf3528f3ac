package shared

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
	"github.com/minidb/minidb/txn/wait"
)

// Row locks of a store that several processes share (txn: I22; docs/adr/0008). A transaction that
// has a row lock in this process's table takes it in the store too, in a cell of its own in the
// key's row lock column, in the step that checks for prewrites and newer writes. For row locks of
// other processes it waits there: it tries again and again, and queues when that lasts
// (row_queue.go). On an exclusive engine none of this runs.
//
// A prewrite refuses rows that others hold in the column, and removes its own transaction's cell:
// its lock stays until the commit is visible. The other row locks are removed after the commit,
// before those in memory; a return to a savepoint removes those taken since. A holder ends with its
// session (txn: I19), or when its session has only younger transactions. A commit with row locks of
// keys that it does not write, or with ones on which more rests than the write (Require), requires
// that its session lasted beyond commit_ts. Readers never look at the column.

// RowLocks are the row locks that one transaction has, or may have, in the store. It is nil in a
// process that is alone.
type RowLocks struct {
	p       *Peers
	startTS tso.Timestamp
	log     []rowLock // oldest first
	// session is the one under which the first was taken; lost reports that a later lock was taken
	// under another.
	session uint64
	lost    bool
	// required is set when those of keys that the transaction writes must last too.
	required bool
	// client are the locks that the transaction's client has besides, or nil.
	client *SessionLocks
}

// rowLock is a step by which the transaction got a row lock, or a stronger one.
type rowLock struct {
	key           string
	before, after rowlock.Mode
}

// NewRowLocks returns the row locks of a transaction that has none yet.
func (p *Peers) NewRowLocks(startTS tso.Timestamp) *RowLocks {
	if p == nil {
		return nil
	}
	return &RowLocks{p: p, startTS: startTS}
}

// SetClient makes the commit rest on the locks of the client, too.
func (l *RowLocks) SetClient(s *SessionLocks) {
	if l != nil {
		l.client = s
	}
}

// CheckClient is Check of the locks that the client has besides.
func (l *RowLocks) CheckClient(commitTS tso.Timestamp) error {
	if l == nil {
		return nil
	}
	return l.client.check(commitTS)
}

// Request is what a transaction wants of the store.
type Request struct {
	Waiter
	Key    []byte
	Mode   rowlock.Mode
	NoWait bool
	ReadTS tso.Timestamp // writes after it are returned
	Again  bool          // also when this process's lock table has the lock already
	// Stale returns the error for a version that makes the lock worthless, if there is such an
	// error before the lock is granted. It may be nil.
	Stale func(v mvcc.Version) error

	before rowlock.Mode
	asked  time.Time
	limit  time.Duration // of all waits for row locks
	place  tso.Timestamp // in the row's queue in the store; zero: none
}

// stored is the mode that the transaction takes in the store.
func (q *Request) stored() rowlock.Mode { return max(q.Mode, q.before) }

// Lock takes the key's lock in this process and then in the store, and returns what others wrote to
// the key after ReadTS. If it fails in the store, it gives back what it took here. A lock that the
// transaction has here already it has in the store too, unless its session has ended since, or the
// store was read without it.
func (l *RowLocks) Lock(ctx context.Context, q *Request) (mvcc.Version, error) {
	q.asked = time.Now()
	mark := q.Owner.Mark()
	q.before = q.Owner.Holds(q.Key)
	req := rowlock.Request{Mode: q.Mode, NoWait: q.NoWait, Timeout: q.Timeout}
	out, err := l.p.o.RowLocks.Lock(ctx, q.Owner, q.Key, req)
	if err != nil || out == rowlock.Held && !q.Again && l.session == l.p.SessionID() {
		return mvcc.Version{}, err
	}
	q.limit = math.MaxInt64
	if req.Timeout > 0 {
		q.limit = max(0, req.Timeout-time.Since(q.asked))
	}
	v, err := l.lockInStore(ctx, q)
	if err != nil {
		q.Owner.ReleaseTo(mark)
	}
	return v, err
}

// lockInStore writes the transaction into the key's row lock column, once no holder is in the way.
func (l *RowLocks) lockInStore(ctx context.Context, q *Request) (v mvcc.Version, err error) {
	var rows, bo wait.Backoff
	gone := goneHolders{}
	w := l.p.NewWait(q.Waiter, q.Mode)
	w.asked = q.asked
	defer func() {
		w.leave()
		if q.place != 0 && err != nil {
			l.leaveQueue(q)
		}
	}()
	for attempts := 0; ; {
		if q.place == 0 && w.id != 0 && time.Since(w.Since) >= queueAfter {
			if err = l.queueInStore(ctx, q); err != nil {
				return v, err
			}
			w.queues(q.place)
			bo.Most = queuedBackoff
		}
		var unknown bool
		v, unknown, err = l.tryLock(ctx, q, gone)
		var held *mvcc.RowLockedError
		var locked *mvcc.LockedError
		switch {
		case err == nil:
			return v, nil
		case errors.As(err, &held):
			rows.Limit = q.limit - bo.Spent
			if q.place != 0 {
				rows.Most = queuedPause(held.Before)
			}
			if err = l.awaitHolders(ctx, q, held, gone, w, &rows); err != nil {
				return v, err
			}
		case errors.As(err, &locked):
			if err = l.awaitPrewritten(ctx, q, locked, w, &bo, q.limit-rows.Spent); err != nil {
				return v, err
			}
		case !unknown || ctx.Err() != nil:
			return v, err
		default: // the lock may be there; taking it again does no harm
			if attempts++; attempts == wait.UnknownAttempts {
				return v, err
			}
		}
	}
}

// tryLock tries once. The lock is noted before it is written, so that it is given back whatever the
// result of the update is.
func (l *RowLocks) tryLock(ctx context.Context, q *Request, gone goneHolders) (v mvcc.Version,
	unknown bool, err error) {
	h, err := l.rowHolder(ctx, q)
	if err != nil {
		return v, false, err
	}
	req := mvcc.RowRequest{RowHolder: h, Had: q.before, Since: q.ReadTS, Gone: gone.has}
	unknown, err = kv.AttemptLazy(ctx, l.p.o.Engine, [][]byte{mvcc.Row(q.Key)},
		func(r kv.Reader, b *kv.Batch) error {
			if err := l.p.CheckSafepoint(ctx, r, q.ReadTS); err != nil {
				return err
			}
			var err error
			v, err = mvcc.LockRow(ctx, r, b, q.Key, req)
			return err
		})
	if err == nil || unknown {
		l.note(rowLock{key: string(q.Key), before: q.before, after: h.Mode}, h.Owner)
	}
	return v, unknown, err
}

// rowHolder is the transaction as the row lock column has it.
func (l *RowLocks) rowHolder(ctx context.Context, q *Request) (mvcc.RowHolder, error) {
	owner, err := l.p.Owner(ctx)
	return mvcc.RowHolder{
		StartTS: l.startTS, Owner: owner, Mode: q.stored(), Place: q.place,
		Client: q.Client, Statement: mvcc.CutStatement(q.Statement),
	}, err
}

func (l *RowLocks) note(lock rowLock, session uint64) {
	if len(l.log) == 0 {
		l.session, l.lost = session, false
	}
	l.lost = l.lost || l.session != session
	l.log = append(l.log, lock)
}

// awaitHolders waits before another attempt at a row that others have locked. It does not wait if
// none of them is alive, or if the row was changed so that the lock is worthless.
func (l *RowLocks) awaitHolders(
	ctx context.Context, q *Request, held *mvcc.RowLockedError, gone goneHolders, w *Wait,
	bo *wait.Backoff,
) error {
	if q.Stale != nil {
		if err := q.Stale(held.Newest); err != nil {
			return err
		}
	}
	cleared, err := gone.checkUpToLiving(ctx, l.p.OldestOf, held.Holders)
	switch {
	case err != nil || cleared:
		return err
	case q.NoWait:
		return rowlock.ErrNotAvailable
	}
	return w.wait(ctx, q.Key, held.Holders, bo, nil)
}

// awaitPrewritten settles the lock of a commit under way, or waits for it. left is what is left of
// q.limit.
func (l *RowLocks) awaitPrewritten(
	ctx context.Context, q *Request, locked *mvcc.LockedError, w *Wait, bo *wait.Backoff,
	left time.Duration,
) error {
	settled, err := l.p.o.Settle(ctx, locked)
	switch {
	case err != nil || settled:
		return err
	case q.NoWait:
		return rowlock.ErrNotAvailable
	}
	limit := error(locked)
	if bo.Limit = l.p.o.LockWait; left < bo.Limit {
		bo.Limit, limit = left, nil
	}
	return w.wait(ctx, q.Key, []mvcc.RowHolder{holderOf(&locked.Lock)}, bo, limit)
}

// goneHolders are row locks that no process will give back. Each is known by its transaction and
// its session: a transaction that has outlived its session may have locked the row again under the
// next.
type goneHolders map[goneHolder]struct{}

type goneHolder struct {
	startTS tso.Timestamp
	owner   uint64
}

func (g goneHolders) has(h mvcc.RowHolder) bool {
	_, gone := g[goneHolder{h.StartTS, h.Owner}]
	return gone
}

// check adds those of the holders that are gone, and reports whether there are any.
func (g goneHolders) check(
	ctx context.Context, oldestOf func(ctx context.Context, owner uint64) (tso.Timestamp,
		error), holders []mvcc.RowHolder,
) (some bool, err error) {
	oldest := map[uint64]tso.Timestamp{} // of each session, which is looked at once
	for i := range holders {
		h := &holders[i]
		bound, known := oldest[h.Owner]
		if !known {
			if bound, err = oldestOf(ctx, h.Owner); err != nil {
				return false, err
			}
			oldest[h.Owner] = bound
		}
		if h.StartTS < bound {
			g[goneHolder{h.StartTS, h.Owner}] = struct{}{}
			some = true
		}
	}
	return some, nil
}

// checkUpToLiving is check until it comes to a holder that is not gone: while that one is in the
// way the others do not matter. So a transaction reads one session before each attempt, however
// many wait before it. The last comes first, because in a queue it is in the way for the longest.
func (g goneHolders) checkUpToLiving(
	ctx context.Context, oldestOf func(ctx context.Context, owner uint64) (tso.Timestamp,
		error), holders []mvcc.RowHolder,
) (some bool, err error) {
	for i := len(holders) - 1; i >= 0; i-- {
		gone, err := g.check(ctx, oldestOf, holders[i:i+1])
		if err != nil || !gone {
			return some, err
		}
		some = true
	}
	return some, nil
}

// OldestOf returns the start_ts below which no transaction of a session gives a row lock in the
// store back: tso.Max for a session that has ended.
func (p *Peers) OldestOf(ctx context.Context, owner uint64) (tso.Timestamp, error) {
	now, err := p.o.Now(ctx)
	if err != nil {
		return 0, err
	}
	rec, dead, err := p.judge(ctx, owner, now)
	switch {
	case err != nil:
		return 0, err
	case dead:
		return tso.Max, nil
	}
	return rec.Oldest, nil
}

// Mark returns the present point of the log, for ReleaseTo.
func (l *RowLocks) Mark() int {
	if l == nil {
		return 0
	}
	return len(l.log)
}

// Forget makes Release give nothing back: the process counts as dead.
func (l *RowLocks) Forget() {
	if l != nil {
		l.log = nil
	}
}

// ReleaseTo gives back in the store what the transaction has locked there since a point of its log,
// and goes on. What can't be given back stays in the log.
func (l *RowLocks) ReleaseTo(mark int) {
	if l == nil || len(l.log) <= mark {
		return
	}
	log := l.log[mark:]
	l.log = l.log[:mark]
	failed := map[string]bool{}
	for _, rows := range l.unlock(log, nil) {
		for i := range rows {
			failed[string(rows[i].Row)] = true
		}
	}
	if len(failed) == 0 {
		return
	}
	for _, lock := range log { // those that stay come before those that are looked at
		if failed[string(mvcc.Row([]byte(lock.key)))] {
			l.log = append(l.log, lock)
		}
	}
}

// Release gives back in the store all that the transaction has locked there, but for the keys that
// it has written, whose row locks a prewrite has removed. It takes none any more.
func (l *RowLocks) Release(written func(key string) bool) {
	if l == nil || len(l.log) == 0 {
		return
	}
	log := l.log
	l.log = nil
	session := l.session
	if l.lost {
		session = 0
	}
	var left []leftRows
	for _, rows := range l.unlock(log, written) {
		left = append(left, leftRows{l.startTS, session, rows})
	}
	if len(left) > 0 {
		l.p.leave(left)
	}
}

// unlock undoes a part of the log, and returns the rows, an update each, for which that has failed.
func (l *RowLocks) unlock(log []rowLock, written func(key string) bool) (failed [][]mvcc.KeepRow) {
	kept := map[string]mvcc.KeepRow{} // by key
	for i := len(log) - 1; i >= 0; i-- {
		lock := &log[i]
		k := kept[lock.key]
		k.Mode, k.Had = lock.before, k.Had.With(lock.before).With(lock.after)
		kept[lock.key] = k
	}
	groups := map[uint64][]mvcc.KeepRow{}
	for key, k := range kept {
		if written != nil && written(key) {
			continue
		}
		k.Row = mvcc.Row([]byte(key))
		g := kv.GroupOf(l.p.o.Engine, k.Row)
		groups[g] = append(groups[g], k)
	}
	ctx, cancel := wait.Detached(context.Background())
	defer cancel()
	for _, all := range groups {
		_ = kv.InParts(l.p.o.Limits, all, func(part []mvcc.KeepRow) error {
			err := l.p.unlockRows(ctx, l.startTS, part)
			if len(part) > 1 && errors.Is(err, kv.ErrTooLarge) {
				return err
			}
			if err != nil && !errors.Is(err, kv.ErrClosed) {
				l.p.o.Logger.Warn("row locks could not be given back yet",
					"start_ts", l.startTS, "rows", len(part), "err", err)
				failed = append(failed, part)
			}
			return nil // those of the other parts are given back all the same
		})
	}
	return failed
}

func (p *Peers) unlockRows(ctx context.Context, startTS tso.Timestamp, keep []mvcc.KeepRow) error {
	rows := make([][]byte, len(keep))
	for i := range keep {
		rows[i] = keep[i].Row
	}
	return kv.UpdateLazy(ctx, p.o.Engine, rows, func(r kv.Reader, b *kv.Batch) error {
		return mvcc.UnlockRows(ctx, r, b, startTS, keep)
	})
}

// Convert comes before a prewrite of the mutations, inside its step: it refuses rows that others
// hold, and removes the transaction's own cells. holds reports that the transaction had row locks
// when its prewrites began, and mode returns what a write needs.
func (l *RowLocks) Convert(
	ctx context.Context, r kv.Reader, b *kv.Batch, holds bool, muts []mvcc.Mutation,
	mode func(*mvcc.Mutation) rowlock.Mode,
) error {
	if l == nil {
		return nil
	}
	return mvcc.ConvertRowLocks(ctx, r, b, l.startTS, holds, muts, mode)
}

// Require makes Check fail unless all row locks have lasted, those of keys too that the commit
// writes: other keys were read under them. The prewrite of a key finds what others have written
// there, but not that others had its lock meanwhile and wrote elsewhere.
func (l *RowLocks) Require() {
	if l != nil {
		l.required = true
	}
}

// Check fails a commit whose row locks may have been taken away: a session that outlived its lease
// counts as dead, and others take its locks. Locks of keys that the commit writes do not matter,
// unless they are required: its prewrites check for what others have written there. The others must
// be known to have been there when commitTS was drawn. Requires: all prewrites were in the store
// before that.
//
// The lease in memory ends no later than the one in the store. A process that ends the session has
// drawn a timestamp at or above its end before (checkLiveness), and so above commitTS if Check
// passes. So the session was ended after commitTS was drawn, if it was, and what the process reads
// and writes then is at later timestamps (txn: I22).
func (l *RowLocks) Check(commitTS tso.Timestamp, writes func(key []byte) bool) error {
	if l == nil || len(l.log) == 0 {
		return nil
	}
	rec := l.p.session.now.Load()
	if !l.lost && rec.ID == l.session && !rec.Expired(commitTS) {
		return nil
	}
	for i := range l.log {
		if key := []byte(l.log[i].key); l.required || !writes(key) {
			return &mvcc.WriteConflictError{Key: key, StartTS: l.startTS, ConflictTS: commitTS}
		}
	}
	return nil
}

// Contested reports whether another transaction has a row lock in the store that excludes the mode.
func (l *RowLocks) Contested(ctx context.Context, key []byte, mode rowlock.Mode) (bool, error) {
	snap, err := kv.Latest(l.p.o.Engine)
	if err != nil {
		return false, err
	}
	yes, err := mvcc.Contested(ctx, snap, key, l.startTS, mode)
	return yes, errors.Join(err, snap.Close())
}

// DropDeadRowLocks removes row locks that no transaction will give back, and returns their number.
// limits bound one update; Rows is not zero. oldestOf returns the start_ts below which no
// transaction of an owner gives one back.
func DropDeadRowLocks(
	ctx context.Context, e kv.Engine, limits kv.Limits, oldestOf func(ctx context.Context,
		owner uint64) (tso.Timestamp, error),
) (n int, err error) {
	snap, err := kv.Latest(e)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, snap.Close()) }()
	var row []byte
	var holders []mvcc.RowHolder // of the row, as many as one update takes
	settle := func() error {
		dropped, err := dropGone(ctx, e, row, holders, oldestOf)
		n, holders = n+dropped, holders[:0]
		return err
	}
	err = mvcc.RowLocks(ctx, snap, kv.Span{}, func(key []byte, h mvcc.RowHolder) error {
		if next := mvcc.Row(key); !bytes.Equal(next, row) || len(holders) == limits.Rows {
			if err := settle(); err != nil {
				return err
			}
			row = next
		}
		holders = append(holders, h)
		return nil
	})
	if err != nil {
		return n, err
	}
	return n, settle()
}

// dropGone removes those of a row's holders that no transaction will give back, and returns their
// number.
func dropGone(
	ctx context.Context, e kv.Engine, row []byte, holders []mvcc.RowHolder,
	oldestOf func(ctx context.Context, owner uint64) (tso.Timestamp, error),
) (n int, err error) {
	gone := goneHolders{}
	if some, err := gone.check(ctx, oldestOf, holders); err != nil || !some {
		return 0, err
	}
	holders = slices.DeleteFunc(holders, func(h mvcc.RowHolder) bool { return !gone.has(h) })
	err = kv.InParts(kv.LimitsOf(e), holders, func(part []mvcc.RowHolder) error {
		dropped := 0
		err := kv.UpdateLazy(ctx, e, [][]byte{row}, func(r kv.Reader, b *kv.Batch) (err error) {
			dropped, err = mvcc.DropRowHolders(ctx, r, b, row, part)
			return err
		})
		n += dropped
		return err
	})
	return n, err
}
