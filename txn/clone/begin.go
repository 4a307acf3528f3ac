package clone

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
)

// origin is what an unfinished copy remembers of its source:
//
//	format 1; identity (16 bytes); hold (8 bytes)
type origin struct {
	identity []byte
	hold     uint64
}

const originFormat = 1

// RestoreOrigin takes the place of the format where a backup is restored instead.
const RestoreOrigin = 'r'

func (o origin) encode() []byte {
	return binary.BigEndian.AppendUint64(append([]byte{originFormat}, o.identity...), o.hold)
}

func decodeOrigin(b []byte) (o origin, err error) {
	if len(b) > 0 && b[0] == RestoreOrigin {
		return origin{}, nil // of no store
	}
	if len(b) != 1+txn.IdentityLen+8 || b[0] != originFormat {
		return o, fmt.Errorf("unfinished copy of %x: %w", b, kv.ErrCorruption)
	}
	id, hold := b[1:1+txn.IdentityLen], b[1+txn.IdentityLen:]
	return origin{bytes.Clone(id), binary.BigEndian.Uint64(hold)}, nil
}

// begin begins a copy, or takes over the one that the target has.
func (c *copying) begin(ctx context.Context) error {
	own, err := txn.Identity(ctx, c.source)
	if err != nil {
		return fmt.Errorf("identity of the source: %w", err)
	}
	at, from, unfinished, err := c.unfinished(ctx)
	if err != nil {
		return err
	}
	same := bytes.Equal(from.identity, own)
	switch {
	case !unfinished:
		return c.start(ctx, own)
	case c.o.Anew:
		if same {
			err = c.o.Source.DropHold(ctx, from.hold)
		}
		return errors.Join(err, c.anew(ctx, own))
	case !same:
		return ErrOtherSource
	}
	if c.done, c.pages, err = lastPosition(ctx, c.o.Target); err != nil {
		return err
	}
	err = c.resume(ctx, at, from.hold)
	if errors.As(err, new(*LostError)) && c.pages == 0 {
		return c.anew(ctx, own) // nothing is lost by it
	}
	return err
}

// anew empties the target, and begins a copy.
func (c *copying) anew(ctx context.Context, own []byte) error {
	c.done, c.pages, c.resumed = position{}, 0, false
	if err := c.to.Empty(ctx); err != nil {
		return fmt.Errorf("empty the target: %w", err)
	}
	return c.start(ctx, own)
}

// unfinished looks at the target.
func (c *copying) unfinished(ctx context.Context) (at tso.Timestamp, from origin, found bool,
	err error) {
	snap, err := kv.Latest(c.o.Target)
	if err != nil {
		return 0, from, false, err
	}
	defer func() { err = errors.Join(err, snap.Close()) }()
	at, by, found, err := tso.ReadFilling(ctx, snap, txn.OracleKey())
	switch {
	case errors.Is(err, tso.ErrFilled):
		return 0, from, false, ErrNotEmpty
	case err != nil:
		return 0, from, false, err
	case !found:
		return 0, from, false, mustBeEmpty(ctx, snap)
	}
	from, err = decodeOrigin(by)
	return at, from, err == nil, err
}

// Claim makes an empty engine a target that is being filled with the state of a timestamp. The
// errors are ErrNotEmpty, and *tso.FillingError for one that is being filled already.
func Claim(ctx context.Context, target kv.Engine, at tso.Timestamp, by []byte) (err error) {
	snap, err := kv.Latest(target)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, snap.Close()) }()
	was, _, found, err := tso.ReadFilling(ctx, snap, txn.OracleKey())
	switch {
	case errors.Is(err, tso.ErrFilled):
		return ErrNotEmpty
	case err != nil:
		return err
	case found:
		return &tso.FillingError{At: was}
	}
	if err := mustBeEmpty(ctx, snap); err != nil {
		return err
	}
	err = tso.Fill(ctx, target, txn.OracleKey(), at, by)
	if errors.Is(err, tso.ErrFilled) {
		err = ErrNotEmpty
	}
	return err
}

func mustBeEmpty(ctx context.Context, r kv.Reader) (err error) {
	it, err := r.NewIter(ctx, kv.Span{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	if it.First() {
		return ErrNotEmpty
	}
	return it.Err()
}

// start begins a copy: first the hold, then the timestamp, then the mark of an unfinished copy in
// the target. The mark names the hold, so only then may the hold outlive this process for long.
func (c *copying) start(ctx context.Context, own []byte) (err error) {
	if c.hold, err = c.o.Source.NewHold(ctx, c.o.Hold); err != nil {
		return fmt.Errorf("hold the state of the source: %w", err)
	}
	if c.tx, err = c.o.Source.Begin(ctx, txn.BeginOptions{ReadOnly: true}); err == nil {
		c.at = c.tx.StartTS()
		err = c.held(c.hold.At(ctx, c.at))
	}
	if err == nil {
		by := origin{identity: own, hold: c.hold.ID()}.encode()
		err = tso.Fill(ctx, c.o.Target, txn.OracleKey(), c.at, by)
	}
	if err == nil {
		// An error leaves an unfinished copy, which the next run takes over or begins anew.
		return c.held(c.hold.Renew(ctx))
	}
	if errors.Is(err, tso.ErrFilled) {
		err = ErrNotEmpty
	}
	return errors.Join(err, c.hold.Release(context.WithoutCancel(ctx)))
}

// resume takes over a copy.
func (c *copying) resume(ctx context.Context, at tso.Timestamp, hold uint64) (err error) {
	c.at, c.resumed = at, true
	if c.hold, err = c.o.Source.TakeHold(ctx, hold, c.o.Hold); err != nil {
		return c.held(err)
	}
	c.tx, err = c.o.Source.Begin(ctx, txn.BeginOptions{ReadOnly: true, StartTS: at})
	var gone *txn.SafepointError
	if errors.As(err, &gone) {
		return &LostError{At: at}
	}
	return err
}
