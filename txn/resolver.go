package txn

import (
	"context"
	"sync"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// outcome is the result of an attempt to settle another transaction's lock.
type outcome int

const (
	// lockSettled: the lock is gone.
	lockSettled outcome = iota
	// lockPushed: its owner lives and can only commit above the reader.
	lockPushed
	// lockAlive: its owner may live; wait and look again.
	lockAlive
)

// resolver settles locks that it meets, for readers, prewrites and the collector (§2.2, end): it
// asks the primary, which decides, and then rolls the lock forward or back.
type resolver struct {
	s *Store

	// statuses remembers decided transactions, for the many secondaries that one may have left. A
	// status never changes. The map is emptied when it is full.
	statuses struct {
		sync.Mutex
		of map[tso.Timestamp]mvcc.Status
	}
}

const (
	statusesMax = 4096
	// resolveBatch is how many neighbouring locks of a decided transaction are settled at once.
	resolveBatch = 256
)

func newResolver(s *Store) *resolver {
	r := &resolver{s: s}
	r.statuses.of = map[tso.Timestamp]mvcc.Status{}
	return r
}

// settle finds out the status of the lock's transaction and settles the lock if it is decided.
// readerTS, if not zero, is the start_ts of a reader that would rather push a running writer than
// wait.
func (r *resolver) settle(ctx context.Context, e *mvcc.LockedError,
	readerTS tso.Timestamp) (outcome, error) {
	out, _, err := r.settleRun(ctx, e, readerTS, false)
	return out, err
}

// settledRun is what was settled together: locks of one transaction, up to a key.
type settledRun struct {
	through []byte
	locks   int
}

// settleRun is settle, and returns the run of locks that it settled. With reverse these are the
// locks before the one that was met: those are ahead of a scan that goes backwards.
func (r *resolver) settleRun(
	ctx context.Context, e *mvcc.LockedError, readerTS tso.Timestamp, reverse bool,
) (out outcome, run settledRun, err error) {
	st, err := r.status(ctx, &e.Lock, readerTS)
	if err != nil {
		return 0, run, err
	}
	if !st.Decided() {
		e.Lock.Client, e.Lock.Statement = st.Lock.Client, st.Lock.Statement // the primary knows
		if st.Pushed {
			return lockPushed, run, nil
		}
		return lockAlive, run, nil
	}
	if err := r.s.at(AfterStatus); err != nil {
		return 0, run, err
	}
	if run, err = r.resolve(ctx, e, st.CommitTS, reverse); err != nil {
		return 0, run, err
	}
	return lockSettled, run, r.s.at(AfterResolve)
}

func (r *resolver) status(ctx context.Context, l *mvcc.Lock, readerTS tso.Timestamp) (mvcc.Status,
	error) {
	r.statuses.Lock()
	st, known := r.statuses.of[l.StartTS]
	r.statuses.Unlock()
	if known {
		return st, nil
	}
	if st, known, err := r.statusInMemory(ctx, l.StartTS, readerTS); known || err != nil {
		return st, err
	}
	now, err := r.now(ctx, l.StartTS)
	if err != nil {
		return mvcc.Status{}, err
	}
	p := mvcc.StatusParams{
		Primary: l.Primary, StartTS: l.StartTS, Now: now, ReaderTS: readerTS,
		RollBackMissing: l.Expired(now),
	}
	st, err = r.askPrimary(ctx, l.Owner, p)
	if err != nil {
		return mvcc.Status{}, err
	}
	if st.Lock.Async && !st.Pushed {
		if st, err = r.recover(ctx, &st.Lock, st.OwnerDead || st.Lock.Expired(now)); err != nil {
			return mvcc.Status{}, err
		}
	}
	if st.Decided() {
		r.remember(l.StartTS, st)
	}
	return st, nil
}

// statusInMemory answers for a transaction of this Store, if memory can: then nothing is asked of
// the store.
func (r *resolver) statusInMemory(
	ctx context.Context, startTS, readerTS tso.Timestamp,
) (st mvcc.Status, known bool, err error) {
	v := r.s.memory.Running(startTS)
	if v == nil {
		return mvcc.Status{}, false, nil
	}
	return v.Status(ctx, readerTS)
}

// now returns the oracle's time, by which a lock of the transaction is judged: zero, at which none
// is expired, if the transaction is known to run.
func (r *resolver) now(ctx context.Context, startTS tso.Timestamp) (tso.Timestamp, error) {
	if v := r.s.memory.Running(startTS); v != nil && v.Alive() {
		return 0, nil
	}
	return r.s.oracleTime(ctx)
}

// askPrimary asks the primary, which decides. The lock that led here tells the owner; the primary's
// lock may have been written under another session of the same owner, which is then judged too.
func (r *resolver) askPrimary(ctx context.Context, owner uint64,
	p mvcc.StatusParams) (st mvcc.Status, err error) {
	primary := mvcc.Row(p.Primary)
	r.s.memory.LockHolders.Touch(p.StartTS)
	r.s.memory.Recent.RollingBack(p.StartTS, primary)
	for {
		dead, err := r.s.ownerDead(ctx, owner, p.Now)
		if err != nil {
			return mvcc.Status{}, err
		}
		p.Owner, p.OwnerDead = owner, dead
		// Durable: a status read here is acted upon elsewhere, and a crash must not take it back.
		_, err = r.s.update(ctx, [][]byte{primary}, false,
			func(kr kv.Reader, b *kv.Batch) (err error) {
				st, err = mvcc.CheckStatus(ctx, kr, b, p)
				return err
			})
		if err != nil {
			return mvcc.Status{}, err
		}
		if !st.OtherOwner {
			return st, nil
		}
		owner = st.Lock.Owner
	}
}

func (r *resolver) remember(startTS tso.Timestamp, st mvcc.Status) {
	r.statuses.Lock()
	defer r.statuses.Unlock()
	if len(r.statuses.of) >= statusesMax {
		clear(r.statuses.of)
	}
	r.statuses.of[startTS] = mvcc.Status{CommitTS: st.CommitTS, RolledBack: st.RolledBack}
}

// resolve settles a lock, and those of the same transaction that directly follow it: who scans into
// a large dead transaction will meet them next.
func (r *resolver) resolve(
	ctx context.Context, e *mvcc.LockedError, commitTS tso.Timestamp, reverse bool,
) (run settledRun, err error) {
	rows, through, err := r.neighbours(ctx, e.Key, e.Lock.StartTS, reverse)
	if err != nil {
		return run, err
	}
	if len(rows) == 0 {
		return settledRun{through, 1}, nil
	}
	return settledRun{through, len(rows)}, r.resolveRows(ctx, e.Lock.StartTS, commitTS, rows)
}

// resolveRows settles the locks of a decided transaction on rows of one group.
func (r *resolver) resolveRows(ctx context.Context, startTS, commitTS tso.Timestamp,
	rows [][]byte) error {
	r.s.memory.LockHolders.Touch(startTS)
	r.s.memory.Recent.Resolving(startTS, commitTS, rows)
	// Lazy: if a crash takes this back, the lock is there again and so is its primary's record.
	return kv.UpdateLazy(ctx, r.s.engine, rows, func(kr kv.Reader, b *kv.Batch) error {
		return mvcc.Resolve(ctx, kr, b, startTS, commitTS, rows)
	})
}

// neighbours returns the row of key and the rows after it, in reverse before it, of the same group,
// while each is locked by the same transaction, and the key of the last one. There are none if the
// lock on key is gone: the look at its primary has settled it, or somebody else, and perhaps all
// that follow, over which an engine steps one by one.
func (r *resolver) neighbours(
	ctx context.Context, key []byte, startTS tso.Timestamp, reverse bool,
) (rows [][]byte, last []byte, err error) {
	last = key
	snap, err := r.s.engine.Snapshot()
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = snap.Close() }()
	first := mvcc.Row(key)
	l, locked, err := mvcc.LockOf(ctx, snap, first)
	if err != nil || !locked || l.StartTS != startTS {
		return nil, last, err
	}
	rows = [][]byte{first}
	group := kv.GroupOf(r.s.engine, first)
	walk, rest := mvcc.Locks, kv.Span{Start: kv.Successor(key)}
	if reverse {
		walk, rest = mvcc.LocksReverse, kv.Span{End: key}
	}
	err = walk(ctx, snap, rest, func(k []byte, l mvcc.Lock) error {
		row := mvcc.Row(k)
		if l.StartTS != startTS || len(rows) == resolveBatch ||
			kv.GroupOf(r.s.engine, row) != group {
			return errStop
		}
		rows, last = append(rows, row), k
		return nil
	})
	if err != nil && err != errStop {
		return nil, nil, err
	}
	return rows, last, nil
}
