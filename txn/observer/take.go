package observer

import (
	"context"
	"time"

	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
)

// A transaction that is not a Pool's may run on changes too: it takes rows, and acknowledges their
// changes. What it does until its commit is its run. The row lock of an acknowledgement ends with
// the transaction, or with the lease of a process that died.

// Take is Look that takes the row lock of the row's acknowledgement for t, without waiting, and
// keeps it if the change is pending. It finds Taken where another transaction has that lock, or has
// acknowledged the change since t's snapshot. t reads nothing of what it leaves to others.
func (o *Target) Take(ctx context.Context, t *txn.Txn, key []byte) (c Change, found Found,
	err error) {
	found = Taken
	_, err = t.TryLock(ctx, o.stateKey(stateAck, o.RowKey(key)), rowlock.Update,
		func(v mvcc.Version) (bool, error) {
			if v.CommitTS != 0 {
				return false, nil
			}
			c, found, err = o.Look(ctx, t, key)
			return found == Pending, err
		})
	return c, found, err
}

// Claim is Look for a run of a Pool. On a store that several processes share it is Take: processes
// do not run the same row in vain. Within one process a Pool keeps its workers apart.
func (o *Target) Claim(ctx context.Context, t *txn.Txn, key []byte) (c Change, found Found,
	err error) {
	if t.LocksBind() {
		return o.Look(ctx, t, key)
	}
	return o.Take(ctx, t, key)
}

// Refuse gives a row up that t has taken: its commit leaves a dead letter.
func (o *Target) Refuse(t *txn.Txn, c *Change, err error) error {
	l := &DeadLetter{Key: c.Key, At: c.At, Attempts: 1, Failed: time.Now(), Err: err.Error()}
	return o.leave(t, l, c.Previous)
}

// Acknowledged reports whether t has acknowledged a change itself, and not taken that back to a
// savepoint.
func (o *Target) Acknowledged(ctx context.Context, t *txn.Txn, c *Change) (bool, error) {
	if c.only {
		value, err := t.GetCurrent(ctx, c.weak[0])
		return value == nil, err
	}
	value, err := t.GetCurrent(ctx, o.stateKey(stateAck, c.Key))
	if err != nil || value == nil {
		return false, err
	}
	at, err := timestamp(value)
	return at == c.At, err
}

// CleanTaken is Clean of changes that one transaction has acknowledged, after its commit.
func (o *Target) CleanTaken(ctx context.Context, s *txn.Store, taken []Change) error {
	var keys [][]byte
	for i := range taken {
		c := &taken[i]
		keys = append(append(keys, c.done...), c.weak...)
		if !c.only {
			keys = append(keys, c.Key)
		}
	}
	if len(taken) == 0 {
		return nil
	}
	if held, err := s.AcknowledgeAll(ctx, keys, o.ID, taken[0].At); err != nil || held {
		return err
	}
	for i := range taken {
		if !taken[i].Gone() || taken[i].only {
			continue
		}
		if err := o.forget(ctx, s, &taken[i]); err != nil {
			return err
		}
	}
	return nil
}

// Gone reports whether the row is gone.
func (c *Change) Gone() bool { return c.Value == nil }
