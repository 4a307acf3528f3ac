package shared

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
)

// Options are what Peers needs of the Store.
type Options struct {
	Engine   kv.Engine
	Source   tso.Source
	RowLocks *rowlock.Table
	Logger   *slog.Logger

	// Lease is how long the session counts as alive after its last renewal; Renewal is the pause
	// between renewals, and when it is negative the caller calls RenewLease.
	Lease, Renewal time.Duration
	// LockWait bounds a wait for the lock of a commit under way.
	LockWait time.Duration
	// Limits bound one update; Rows is not zero.
	Limits kv.Limits
	// Closing ends every wait.
	Closing <-chan struct{}

	// Now returns the oracle's time, without a draw where it can.
	Now func(ctx context.Context) (tso.Timestamp, error)
	// Settle settles the lock of a commit if its transaction is decided.
	Settle func(ctx context.Context, locked *mvcc.LockedError) (settled bool, err error)
	// Oldest returns the lowest start_ts of a transaction that runs here and is below bound, or
	// bound.
	Oldest func(bound tso.Timestamp) tso.Timestamp
	// NoteSafepoint remembers a safepoint that the store has.
	NoteSafepoint func(point tso.Timestamp)
}

// Peers is this process among those that write to a store. It is nil for a process that is alone.
type Peers struct {
	o           Options
	session     session
	waits       waits
	publication publication
	left        left
	background  sync.WaitGroup
}

// Open begins the process's session.
func Open(ctx context.Context, o Options) (*Peers, error) {
	p := &Peers{o: o, session: session{turn: newTurn()}, publication: publication{turn: newTurn()},
		left: left{more: make(chan struct{}, 1)}}
	_, err := p.renew(ctx)
	return p, err
}

// Run renews the lease until the context ends, and gives back what locks are left, unless the
// caller does so itself.
func (p *Peers) Run(ctx context.Context) {
	if p != nil && p.o.Renewal > 0 {
		p.background.Go(func() { p.keepSession(ctx) })
		p.background.Go(func() { p.keepGivingBack(ctx) })
	}
}

// Close ends the session, so that no process waits for locks that may be left. Requires: the
// context of Run has ended.
func (p *Peers) Close(ctx context.Context) error {
	if p == nil {
		return nil
	}
	p.background.Wait()
	return p.endSession(ctx)
}

// DropDead removes the row locks and the waits that dead transactions have left. It is a part of a
// collection.
func (p *Peers) DropDead(ctx context.Context) error {
	if p == nil {
		return nil
	}
	_, err := DropDeadRowLocks(ctx, p.o.Engine, p.o.Limits, p.OldestOf)
	return errors.Join(err, p.dropDeadWaits(ctx))
}
