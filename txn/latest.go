package txn

import (
	"bytes"
	"context"
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
)

// Claim locks a key until the transaction ends, as one of a group (rowlock.Table.Claim), and
// returns the keys of the group that other transactions have claimed. The key must be one that is
// never written: the locks of keys that are written may be given back early.
//
// On a store that several processes share, whose memories know nothing of each other's claims, the
// group itself is locked instead, and no other transaction has a claim in it. A lock there lasts no
// longer than the lease of its session, so the caller also validates what it has read.
func (t *Txn) Claim(ctx context.Context, group, key []byte) (others []string, err error) {
	switch {
	case t.aside(group):
		return nil, nil // no other session writes it
	case t.shared != nil:
		_, err := t.lockKey(ctx, group, rowlock.Update, false, false)
		return nil, err
	case t.done:
		return nil, ErrTxnDone
	case t.footprint() > t.s.opts.MaxTxnBytes:
		return nil, ErrTooLarge
	}
	return t.s.rowLocks.Claim(ctx, t.waiter.MakeOwner(), string(group), key,
		rowlock.Request{Timeout: t.waiter.Timeout})
}

// AwaitClaim waits until no other transaction has claimed a key.
func (t *Txn) AwaitClaim(ctx context.Context, key string) error {
	o := t.waiter.MakeOwner()
	before := o.Mark()
	_, err := t.s.rowLocks.Lock(ctx, o, []byte(key),
		rowlock.Request{Mode: rowlock.KeyShare, Timeout: t.waiter.Timeout})
	o.ReleaseTo(before)
	return err
}

// Latest shows what is committed now, whatever the snapshot of a transaction, with all of the
// transaction's own writes over it. It belongs to the transaction's goroutine.
type Latest struct {
	t   *Txn
	now *Txn
}

// Latest begins to read what is committed now. The caller closes it before the transaction ends.
func (t *Txn) Latest(ctx context.Context) (*Latest, error) {
	now, err := t.s.Begin(ctx, BeginOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	return &Latest{t: t, now: now}, nil
}

// TS returns the timestamp at which l reads.
func (l *Latest) TS() tso.Timestamp { return l.now.readTS }

// Scan opens an iterator over a span of keys. The caller closes it before l.
func (l *Latest) Scan(ctx context.Context, span kv.Span, opts ScanOptions) (*Iterator, error) {
	opts.Current = true
	if l.t.aside(span.Start) {
		return l.t.Scan(ctx, span, opts)
	}
	it, err := l.now.Scan(ctx, span, opts)
	if err != nil || it.sc == nil {
		return it, err
	}
	if it.own, err = l.t.ownWrites(ctx, it.span, opts); err != nil {
		return nil, errors.Join(err, it.Close())
	}
	return it, nil
}

// Get returns the value of a key, which is the caller's own, or nil when it is absent.
func (l *Latest) Get(ctx context.Context, key []byte) ([]byte, error) {
	own, err := l.t.Wrote(ctx, key)
	if err != nil {
		return nil, err
	}
	from := l.now
	if own || l.t.aside(key) {
		from = l.t
	}
	value, err := from.GetCurrent(ctx, key)
	return bytes.Clone(value), err
}

// Close ends l.
func (l *Latest) Close(ctx context.Context) error { return l.now.Rollback(ctx) }
