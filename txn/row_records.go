package txn

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/session"
	"github.com/minidb/minidb/txn/tso"
)

// Row locks of a store that several processes share (txn: I22; docs/adr/0008). A transaction that has
// a row lock in this process's table takes it in the store too, in a cell of its own in the key's row
// lock column, in the step that looks for prewrites and newer writes. It waits there for those of
// other processes, by looks, and in a queue when it lasts (row_queue.go). On an exclusive engine none
// of this runs.
//
// A prewrite refuses rows that others hold in the column, and removes its own transaction's cell: its
// lock stands until the commit is visible. Other row locks are removed after that, and before those
// in memory; at a return to a savepoint, those taken since. A holder ends with its session (txn: I19),
// and when its session has only younger transactions. A commit with locks of rows that it does not
// write requires that its session lasted beyond commit_ts. Readers never look at the column.

// rowRecords are the row locks that a transaction has, or may have, in the store.
type rowRecords struct {
	log []rowRecord // oldest first
	// session is the one under which the first was taken; lost, that a later one was another.
	session uint64
	lost    bool
}

// rowRecord is a step by which the transaction got a row lock, or a stronger one.
type rowRecord struct {
	key           string
	before, after rowlock.Mode
}

// lockShared takes the key's lock in this process and then in the store. What it does not get in the
// store it gives back here. A lock that it has here already it has there too, unless its session has
// ended since, or the store was seen without it.
func (t *Txn) lockShared(ctx context.Context, q *rowRequest) (mvcc.Version, error) {
	q.asked = time.Now()
	o := t.owner()
	mark := o.Mark()
	q.before = o.Holds(q.key)
	req := rowlock.Request{Mode: q.mode, NoWait: q.noWait, Timeout: t.locking.Timeout}
	out, err := t.s.rowLocks.Lock(ctx, o, q.key, req)
	if err != nil || out == rowlock.Held && !q.again && t.records.session == t.s.SessionID() {
		return mvcc.Version{}, err
	}
	q.limit = math.MaxInt64
	if req.Timeout > 0 {
		q.limit = max(0, req.Timeout-time.Since(q.asked))
	}
	v, err := t.lockInStore(ctx, q)
	if err != nil {
		o.ReleaseTo(mark)
	}
	return v, err
}

// rowRequest is what a transaction wants of the store.
type rowRequest struct {
	key     []byte
	mode    rowlock.Mode
	noWait  bool
	current bool // a version that makes the lock worthless is an error at once
	again   bool // whatever this process's table says

	before rowlock.Mode
	asked  time.Time
	limit  time.Duration // of all waits for row locks
	place  tso.Timestamp // in the row's queue in the store; zero: none
}

// stored is the mode that the transaction takes in the store.
func (q *rowRequest) stored() rowlock.Mode { return max(q.mode, q.before) }

// lockInStore writes the transaction into the key's row lock column, once nobody is in the way.
func (t *Txn) lockInStore(ctx context.Context, q *rowRequest) (v mvcc.Version, err error) {
	var rows, bo backoff
	gone := goneHolders{}
	w := t.newStoreWait(q.mode)
	w.asked = q.asked
	defer func() {
		w.leave()
		if q.place != 0 && err != nil {
			t.leaveQueue(q)
		}
	}()
	for attempts := 0; ; {
		if q.place == 0 && w.id != 0 && time.Since(w.Since) >= queueAfter {
			if err = t.queueInStore(ctx, q); err != nil {
				return v, err
			}
			w.queues(q.place)
			rows.most, bo.most = queuedBackoff, queuedBackoff
		}
		var unknown bool
		v, unknown, err = t.tryLockRow(ctx, q, gone)
		var held *mvcc.RowLockedError
		var locked *LockedError
		switch {
		case err == nil:
			return v, nil
		case errors.As(err, &held):
			if q.current && !t.locking.Rereads && changed(held.Newest, q.mode) {
				return v, t.Stale(q.key, held.Newest)
			}
			rows.limit = q.limit - bo.spent
			if err = t.awaitHolders(ctx, q, held, gone, w, &rows); err != nil {
				return v, err
			}
		case errors.As(err, &locked):
			if err = t.awaitPrewritten(ctx, q, locked, w, &bo, q.limit-rows.spent); err != nil {
				return v, err
			}
		case !unknown || ctx.Err() != nil:
			return v, err
		default: // the lock may be there; to take it again is no harm
			if attempts++; attempts == unknownAttempts {
				return v, err
			}
		}
	}
}

// tryLockRow looks once. The lock is noted before it is there, so that whatever becomes of the update
// it will be given back.
func (t *Txn) tryLockRow(ctx context.Context, q *rowRequest, gone goneHolders) (v mvcc.Version, unknown bool, err error) {
	h, err := t.rowHolder(ctx, q)
	if err != nil {
		return v, false, err
	}
	req := mvcc.RowRequest{RowHolder: h, Had: q.before, Since: t.readTS, Gone: gone.has}
	unknown, err = t.s.update(ctx, [][]byte{mvcc.Row(q.key)}, true, func(r kv.Reader, b *kv.Batch) error {
		if err := t.s.checkSafepoint(ctx, r, t.readTS); err != nil {
			return err
		}
		var err error
		v, err = mvcc.LockRow(ctx, r, b, q.key, req)
		return err
	})
	if err == nil || unknown {
		t.records.note(rowRecord{key: string(q.key), before: q.before, after: h.Mode}, h.Owner)
	}
	return v, unknown, err
}

// rowHolder is the transaction as the row lock column has it.
func (t *Txn) rowHolder(ctx context.Context, q *rowRequest) (mvcc.RowHolder, error) {
	owner, err := t.s.owner(ctx)
	return mvcc.RowHolder{
		StartTS: t.reg.startTS, Owner: owner, Mode: q.stored(), Place: q.place,
		Client: t.client(), Statement: cutStatement(t.statement),
	}, err
}

func (r *rowRecords) note(rec rowRecord, session uint64) {
	if len(r.log) == 0 {
		r.session, r.lost = session, false
	}
	r.lost = r.lost || r.session != session
	r.log = append(r.log, rec)
}

// awaitHolders waits before another look at a row that others have locked, unless one of them is gone.
func (t *Txn) awaitHolders(
	ctx context.Context, q *rowRequest, held *mvcc.RowLockedError, gone goneHolders, w *storeWait, bo *backoff,
) error {
	cleared, err := gone.judge(ctx, t.s, held.Holders)
	switch {
	case err != nil || cleared:
		return err
	case q.noWait:
		return rowlock.ErrNotAvailable
	}
	return w.wait(ctx, q.key, held.Holders, bo, nil)
}

// awaitPrewritten settles the lock of a commit under way, or waits for it. left is what is left of q.limit.
func (t *Txn) awaitPrewritten(
	ctx context.Context, q *rowRequest, locked *LockedError, w *storeWait, bo *backoff, left time.Duration,
) error {
	out, err := t.s.resolver.settle(ctx, locked, 0)
	switch {
	case err != nil || out == lockSettled:
		return err
	case q.noWait:
		return rowlock.ErrNotAvailable
	}
	limit := error(locked)
	if bo.limit = t.s.opts.LockWait; left < bo.limit {
		bo.limit, limit = left, nil
	}
	return w.wait(ctx, q.key, []mvcc.RowHolder{holderOf(&locked.Lock)}, bo, limit)
}

// goneHolders are row locks of which it is known that nobody will give them back. Each is one under one
// session: a transaction that has outlived its session may have locked the row again under the next.
type goneHolders map[goneHolder]struct{}

type goneHolder struct {
	startTS tso.Timestamp
	owner   uint64
}

func (g goneHolders) has(h mvcc.RowHolder) bool {
	_, gone := g[goneHolder{h.StartTS, h.Owner}]
	return gone
}

// judge adds those of the holders that are gone, and reports whether there are any.
func (g goneHolders) judge(ctx context.Context, s *Store, holders []mvcc.RowHolder) (some bool, err error) {
	oldest := map[uint64]tso.Timestamp{} // of each session, which is looked at once
	for i := range holders {
		h := &holders[i]
		bound, judged := oldest[h.Owner]
		if !judged {
			if bound, err = s.oldestOf(ctx, h.Owner); err != nil {
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

// oldestOf returns the start_ts below which no transaction of a session gives a row lock in the
// store back: of a session that has ended, none at all does.
func (s *Store) oldestOf(ctx context.Context, owner uint64) (tso.Timestamp, error) {
	now, err := s.oracleTime(ctx)
	if err != nil {
		return 0, err
	}
	switch dead, err := s.ownerDead(ctx, owner, now); {
	case err != nil || s.exclusive && !dead:
		return 0, err
	case dead:
		return tso.Max, nil
	}
	snap, err := s.engine.Snapshot()
	if err != nil {
		return 0, err
	}
	rec, found, err := session.Get(ctx, snap, owner)
	if !found {
		rec.Oldest = 0
	}
	return rec.Oldest, errors.Join(err, snap.Close())
}

// releaseRecords gives back in the store what the transaction has locked there since a point of its log,
// but for the keys that it has written: a prewrite took their row locks away.
func (t *Txn) releaseRecords(from int, written func(key string) bool) {
	if len(t.records.log) <= from {
		return
	}
	kept := map[string]mvcc.KeepRow{} // by key
	for i := len(t.records.log) - 1; i >= from; i-- {
		rec := &t.records.log[i]
		k := kept[rec.key]
		k.Mode, k.Had = rec.before, k.Had.With(rec.before).With(rec.after)
		kept[rec.key] = k
	}
	t.records.log = t.records.log[:from]
	groups := map[uint64][]mvcc.KeepRow{}
	for key, k := range kept {
		if written != nil && written(key) {
			continue
		}
		k.Row = mvcc.Row([]byte(key))
		g := kv.GroupOf(t.s.engine, k.Row)
		groups[g] = append(groups[g], k)
	}
	ctx, cancel := detached(context.Background())
	defer cancel()
	for _, all := range groups {
		for batch := range slices.Chunk(all, t.s.opts.BatchKeys) {
			if err := t.unlockRows(ctx, batch); err != nil && !errors.Is(err, kv.ErrClosed) {
				t.s.opts.Logger.Warn("row locks left to those who meet them", "start_ts", t.reg.startTS, "rows", len(batch), "err", err)
			}
		}
	}
}

func (t *Txn) unlockRows(ctx context.Context, keep []mvcc.KeepRow) error {
	rows := make([][]byte, len(keep))
	for i := range keep {
		rows[i] = keep[i].Row
	}
	return kv.UpdateLazy(ctx, t.s.engine, rows, func(r kv.Reader, b *kv.Batch) error {
		return mvcc.UnlockRows(ctx, r, b, t.reg.startTS, keep)
	})
}

// hasWritten says whether the transaction has committed a write of the key.
func (t *Txn) hasWritten(key string) bool {
	if t.commitTS == 0 || t.stream != nil {
		return false
	}
	w, ok := t.buf.get([]byte(key))
	return ok && (w.kind == writePut || w.kind == writeDelete)
}

// checkRecords fails a commit whose row locks may have been taken from it: a session that outlived its
// lease counts as dead, and others take its locks. Locks of keys that the commit writes are not missed:
// its prewrites look for whatever others have written there. Of the others it must be known that they
// stood at commit_ts. Who ends the session does so at a later timestamp than the lease's end, and reads
// and writes at timestamps above that (txn: I22).
func (c *committer) checkRecords(commitTS tso.Timestamp) error {
	r := &c.t.records
	if len(r.log) == 0 {
		return nil
	}
	rec := c.s.session.now.Load()
	if !r.lost && rec.ID == r.session && !rec.Lapsed(commitTS) {
		return nil
	}
	for i := range r.log {
		if key := []byte(r.log[i].key); !c.writes(key) {
			return &WriteConflictError{Key: key, StartTS: c.startTS, ConflictTS: commitTS}
		}
	}
	return nil
}

// writes says whether a key is among the mutations, which of one that streams nobody knows.
func (c *committer) writes(key []byte) bool {
	i := sort.Search(len(c.muts), func(i int) bool { return string(c.muts[i].Key) >= string(key) })
	return i < len(c.muts) && string(c.muts[i].Key) == string(key)
}

// dropDeadRowRecords is part of a collection: row locks of the dead that nobody has met.
func (s *Store) dropDeadRowRecords(ctx context.Context) error {
	if s.exclusive {
		return nil // there are none, but of the time before; nobody looks at them
	}
	_, err := s.settleRowRecords(ctx)
	return errors.Join(err, s.dropDeadWaits(ctx))
}

// settleRowRecords removes row locks that nobody will give back, and returns their number.
func (s *Store) settleRowRecords(ctx context.Context) (n int, err error) {
	snap, err := s.engine.Snapshot()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, snap.Close()) }()
	var row []byte
	var holders []mvcc.RowHolder // of the row, a batch of them at most
	settle := func() error {
		dropped, err := s.dropGone(ctx, row, holders)
		n, holders = n+dropped, holders[:0]
		return err
	}
	err = mvcc.RowLocks(ctx, snap, kv.Span{}, func(key []byte, h mvcc.RowHolder) error {
		if next := mvcc.Row(key); !bytes.Equal(next, row) || len(holders) == s.opts.BatchKeys {
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

// dropGone removes those of a row's holders that nobody will give back, and returns their number.
func (s *Store) dropGone(ctx context.Context, row []byte, holders []mvcc.RowHolder) (n int, err error) {
	gone := goneHolders{}
	if some, err := gone.judge(ctx, s, holders); err != nil || !some {
		return 0, err
	}
	holders = slices.DeleteFunc(holders, func(h mvcc.RowHolder) bool { return !gone.has(h) })
	err = kv.UpdateLazy(ctx, s.engine, [][]byte{row}, func(r kv.Reader, b *kv.Batch) (err error) {
		n, err = mvcc.DropRowHolders(ctx, r, b, row, holders)
		return err
	})
	return n, err
}
