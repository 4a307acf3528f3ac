package resolve

import (
	"context"
	"errors"
	"sync"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/hints"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// Options is what a resolver works with.
type Options struct {
	Engine kv.Engine
	Limits kv.Limits // of one update
	Memory *hints.Hints
	// Clock returns the oracle's time, by which a lock's time to live is judged.
	Clock func(ctx context.Context) (tso.Timestamp, error)
	// Dead reports whether the owner of a lock is dead at the oracle's time.
	Dead func(ctx context.Context, owner uint64, now tso.Timestamp) (bool, error)
	// At is called after each step. An error of it ends the resolver's work there.
	At func(Step) error
}

// Step is a place in the resolver's work.
type Step string

// The steps, in their order.
const (
	AfterCheckLocks Step = "after-check-locks" // it has asked a group of async locks
	AfterStatus     Step = "after-status"      // it knows the status, and has not acted
	AfterResolve    Step = "after-resolve"     // it has settled the lock that it met
)

// errStop ends a visit early.
var errStop = errors.New("stop")

// Outcome is the result of an attempt to settle another transaction's lock.
type Outcome int

const (
	// Settled means that the lock is gone.
	Settled Outcome = iota
	// Pushed means that the lock's owner lives and can only commit above the reader.
	Pushed
	// Alive means that the lock's owner may live: wait and try again.
	Alive
)

// Resolver settles locks. Its methods may be called from any goroutine.
type Resolver struct {
	opts Options

	// statuses remembers decided transactions, of which each may have left many secondaries. A
	// status never changes. The map is emptied when it is full.
	statuses struct {
		sync.Mutex
		of map[tso.Timestamp]mvcc.Status
	}
}

const (
	statusesMax = 4096
	// BatchRows is how many neighbouring locks of a decided transaction are settled at once.
	BatchRows = 256
)

// New returns a resolver of an engine's locks.
func New(opts Options) *Resolver {
	r := &Resolver{opts: opts}
	r.statuses.of = map[tso.Timestamp]mvcc.Status{}
	return r
}

// Settle settles a lock if the status of its transaction is decided. readerTS, if not zero, is the
// start_ts of a reader that pushes a running writer instead of waiting for it.
func (r *Resolver) Settle(ctx context.Context, e *mvcc.LockedError,
	readerTS tso.Timestamp) (Outcome, error) {
	out, _, err := r.SettleRun(ctx, e, readerTS, false)
	return out, err
}

// Run is a run of locks of one transaction that were settled together, up to a key.
type Run struct {
	Through []byte
	Locks   int
}

// SettleRun is Settle, and returns the run of locks that it settled: the one that was met and those
// of the same transaction after it, or before it with reverse, for a scan that goes backwards.
func (r *Resolver) SettleRun(
	ctx context.Context, e *mvcc.LockedError, readerTS tso.Timestamp, reverse bool,
) (out Outcome, run Run, err error) {
	st, err := r.Status(ctx, &e.Lock, readerTS)
	if err != nil {
		return 0, run, err
	}
	if !st.Decided() {
		e.Lock.Client, e.Lock.Statement = st.Lock.Client, st.Lock.Statement // the primary knows
		if st.Pushed {
			return Pushed, run, nil
		}
		return Alive, run, nil
	}
	if err := r.opts.At(AfterStatus); err != nil {
		return 0, run, err
	}
	if run, err = r.resolve(ctx, e, st.CommitTS, reverse); err != nil {
		return 0, run, err
	}
	return Settled, run, r.opts.At(AfterResolve)
}

// Status returns the status of the transaction that wrote a lock. If it is undecided and its owner
// is dead, the transaction is rolled back. A reader at readerTS, if not zero, pushes it.
func (r *Resolver) Status(ctx context.Context, l *mvcc.Lock, readerTS tso.Timestamp) (mvcc.Status,
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

// statusInMemory returns the status of a transaction of this Store, if memory knows it.
func (r *Resolver) statusInMemory(
	ctx context.Context, startTS, readerTS tso.Timestamp,
) (st mvcc.Status, known bool, err error) {
	v := r.opts.Memory.Running(startTS)
	if v == nil {
		return mvcc.Status{}, false, nil
	}
	return v.Status(ctx, readerTS)
}

// now returns the oracle's time, by which a lock of the transaction is judged: zero, at which none
// is expired, if the transaction is known to run.
func (r *Resolver) now(ctx context.Context, startTS tso.Timestamp) (tso.Timestamp, error) {
	if v := r.opts.Memory.Running(startTS); v != nil && v.Alive() {
		return 0, nil
	}
	return r.opts.Clock(ctx)
}

// askPrimary asks the primary, which decides. The owner is that of the lock that led here; the
// primary's lock may name another session of the same owner, which is then judged too.
func (r *Resolver) askPrimary(ctx context.Context, owner uint64,
	p mvcc.StatusParams) (st mvcc.Status, err error) {
	primary := mvcc.Row(p.Primary)
	r.opts.Memory.LockHolders.Touch(p.StartTS)
	r.opts.Memory.Recent.RollingBack(p.StartTS, primary)
	for {
		dead, err := r.opts.Dead(ctx, owner, p.Now)
		if err != nil {
			return mvcc.Status{}, err
		}
		p.Owner, p.OwnerDead = owner, dead
		// Durable: a status read here is acted upon elsewhere, and a crash must not take it back.
		err = r.opts.Engine.Update(ctx, [][]byte{primary},
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

func (r *Resolver) remember(startTS tso.Timestamp, st mvcc.Status) {
	r.statuses.Lock()
	defer r.statuses.Unlock()
	if len(r.statuses.of) >= statusesMax {
		clear(r.statuses.of)
	}
	r.statuses.of[startTS] = mvcc.Status{CommitTS: st.CommitTS, RolledBack: st.RolledBack}
}

// resolve settles a lock, and those of the same transaction that directly follow it: a scan into a
// large dead transaction would meet them next.
func (r *Resolver) resolve(
	ctx context.Context, e *mvcc.LockedError, commitTS tso.Timestamp, reverse bool,
) (run Run, err error) {
	rows, through, err := r.neighbours(ctx, e.Key, e.Lock.StartTS, reverse)
	if err != nil {
		return run, err
	}
	if len(rows) == 0 {
		return Run{through, 1}, nil
	}
	return Run{through, len(rows)}, r.ResolveRows(ctx, e.Lock.StartTS, commitTS, rows)
}

// ResolveRows settles the locks of a decided transaction on rows of one group.
func (r *Resolver) ResolveRows(ctx context.Context, startTS, commitTS tso.Timestamp,
	rows [][]byte) error {
	r.opts.Memory.LockHolders.Touch(startTS)
	r.opts.Memory.Recent.Resolving(startTS, commitTS, rows)
	// Lazy: if a crash takes this back, the lock is there again and so is its primary's record.
	return kv.InParts(r.opts.Limits, rows, func(part [][]byte) error {
		return kv.UpdateLazy(ctx, r.opts.Engine, part, func(kr kv.Reader, b *kv.Batch) error {
			return mvcc.Resolve(ctx, kr, b, startTS, commitTS, part)
		})
	})
}

// neighbours returns the row of key and the rows after it, in reverse before it, of the same group,
// while each is locked by the same transaction, and the key of the last one. There are none if the
// lock on key is gone. Then Status or another resolver has settled it, and perhaps all that follow,
// over whose marks an engine would step one by one.
func (r *Resolver) neighbours(
	ctx context.Context, key []byte, startTS tso.Timestamp, reverse bool,
) (rows [][]byte, last []byte, err error) {
	last = key
	snap, err := kv.Latest(r.opts.Engine)
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
	group := kv.GroupOf(r.opts.Engine, first)
	walk, rest := mvcc.Locks, kv.Span{Start: kv.Successor(key)}
	if reverse {
		walk, rest = mvcc.LocksReverse, kv.Span{End: key}
	}
	err = walk(ctx, snap, rest, func(k []byte, l mvcc.Lock) error {
		row := mvcc.Row(k)
		if l.StartTS != startTS || len(rows) == BatchRows ||
			kv.GroupOf(r.opts.Engine, row) != group {
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
