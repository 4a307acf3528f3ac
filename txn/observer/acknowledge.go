package observer

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/minidb/minidb/txn"
)

// Acknowledge makes the commit of a run acknowledge its change. Requires: t is the transaction in
// which Look found it.
func (o *Target) Acknowledge(t *txn.Txn, c *Change) error {
	at := binary.BigEndian.AppendUint64(nil, uint64(c.At))
	for _, key := range c.weak {
		if err := t.Delete(key); err != nil {
			return err
		}
	}
	var err error
	if !c.only {
		err = t.Set(o.stateKey(stateAck, c.Key), at)
	}
	if err == nil && c.letter {
		err = t.Delete(o.stateKey(stateLetter, c.Key))
	}
	if err == nil && c.moved {
		err = t.Delete(o.stateKey(stateImage, c.Key))
	}
	switch {
	case err != nil || c.only:
	case c.Value == nil:
		err = t.Set(o.stateKey(stateGone, c.Key), at)
	case c.Previous != 0 && c.Old == nil:
		// The last run saw the row gone, and its clean-up has perhaps left the mark.
		err = t.Delete(o.stateKey(stateGone, c.Key))
	}
	return err
}

// CleanStale removes, after Look has found nothing to run on, the notifications of what is
// acknowledged, and those of a backfill on a row on which the observer has run or which is gone.
// Those of a dead letter stay. Of a row that was gone at the last run it removes the
// acknowledgement too: the clean-up of that run has failed.
func (o *Target) CleanStale(ctx context.Context, s *txn.Store, c *Change) error {
	if err := o.cleanWeak(ctx, s, &Change{done: c.done, At: c.At}); err != nil {
		return err
	}
	upTo := c.At
	if c.letter {
		upTo = c.Previous
	}
	held, err := s.AcknowledgeAll(ctx, [][]byte{c.Key}, o.ID, upTo)
	if err != nil || held || !c.forgotten() {
		return err
	}
	return o.forget(ctx, s, &Change{Key: c.Key, At: c.Previous})
}

// forgotten reports whether nothing but the acknowledgement of a row that is gone is left.
func (c *Change) forgotten() bool { return c.Value == nil && c.Previous != 0 && !c.letter }

// Clean follows the commit of a run, and removes what it has dealt with: its notifications, and of
// a row that is gone the acknowledgement. It may be repeated, by any process, at any time later,
// and is, where a hold keeps notifications: without the acknowledgement there would be a second run
// on them.
func (o *Target) Clean(ctx context.Context, s *txn.Store, c *Change) error {
	if err := o.cleanWeak(ctx, s, c); err != nil || c.only {
		return err
	}
	held, err := s.AcknowledgeAll(ctx, [][]byte{c.Key}, o.ID, c.At)
	if err != nil || held || c.Value != nil {
		return err
	}
	return o.forget(ctx, s, c)
}

// forget removes the acknowledgement of a row that was gone and the mark that leads to it, unless
// there was another run since: then both are of that one. The notifications that it covers are
// removed already, and not after it, for the log keeps the order.
func (o *Target) forget(ctx context.Context, s *txn.Store, c *Change) (err error) {
	t, err := s.Begin(ctx, txn.BeginOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Rollback(context.WithoutCancel(ctx))) }()
	for _, kind := range []byte{stateAck, stateGone} {
		key := o.stateKey(kind, c.Key)
		at, err := timestampAt(ctx, t, key)
		if err == nil && at == c.At {
			err = t.Delete(key)
		}
		if err != nil {
			return err
		}
	}
	err = t.Commit(ctx)
	var conflict *txn.WriteConflictError
	if errors.As(err, &conflict) {
		return nil // another run, or its clean-up, has just dealt with both
	}
	return err
}

// gone lists the rows that were gone in a run whose clean-up did not get to its end.
func (o *Target) gone(ctx context.Context, s *txn.Store, visit func(c *Change) error) (err error) {
	t, err := s.Begin(ctx, txn.BeginOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Rollback(context.WithoutCancel(ctx))) }()
	it, err := t.Scan(ctx, o.stateSpan(stateGone), txn.ScanOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for it.Next() {
		key := append([]byte{}, it.Key()[len(o.State)+1:]...)
		at, err := timestamp(it.Value())
		if err != nil {
			return err
		}
		if err := visit(&Change{Key: key, At: at}); err != nil {
			return err
		}
	}
	return it.Err()
}

// CleanUp removes what runs before a crash have left, and what table-level changes have left that
// are worked off. left reports whether there is one that is not, in all its rows.
func (o *Target) CleanUp(ctx context.Context, s *txn.Store) (left bool, err error) {
	err = o.gone(ctx, s, func(c *Change) error { return o.Clean(ctx, s, c) })
	if err != nil {
		return false, err
	}
	return o.prune(ctx, s)
}
