package txn

import (
	"cmp"
	"context"

	"github.com/minidb/minidb/txn/commit"
)

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
	if err := commit.CheckProtocol(opts.Protocol, s.engine, s.source); err != nil {
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
		t.started()
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
	t.started()
	return t, nil
}

// started is called once start_ts is drawn.
func (t *Txn) started() {
	t.readTS = t.reg.startTS
	t.waiter.Waits, t.waiter.StartTS = t.s.waits, t.reg.startTS
	t.shared = t.s.peers.NewRowLocks(t.reg.startTS)
}

// beginSafe begins transactions until one has a safe snapshot, waiting each time for the writers
// that are under way.
func (s *Store) beginSafe(ctx context.Context, opts BeginOptions) (*Txn, error) {
	for {
		t, err := s.begin(ctx, opts)
		if err != nil || t.node == nil {
			return t, err
		}
		select {
		case <-t.node.Decided():
			if t.node.Safe() {
				return t, nil
			}
		case <-ctx.Done():
			err = ctx.Err()
		case <-s.closing.ch:
			err = ErrClosed
		}
		if rerr := t.Rollback(ctx); err == nil {
			err = rerr
		}
		if err != nil {
			return nil, err
		}
	}
}
