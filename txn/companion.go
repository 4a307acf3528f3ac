package txn

import (
	"context"
	"errors"
	"fmt"

	"github.com/minidb/minidb/kv"
)

// A store may have a companion: a store beside it whose contents end with the process, and which is
// never synced. Keys that begin with CompanionPrefix are the companion's. A transaction reads and
// writes them in a transaction of the companion, which it begins when it first meets such a key and
// which follows it: savepoints, Freeze, Idle, and the end.
//
// Every key of the companion belongs to one client, whose transactions come one after the other. So
// there are no conflicts on it and nothing to lock: row locks, validations and the serial order
// leave these keys out.
//
// # All or none
//
// Commit decides the store's own transaction first, and commits the companion's only then (txn:
// I27). Before the decision everything that may fail is done: what the companion's transaction has
// streamed out is complete, and there is room for the rest. What may still fail is the companion
// itself. Its contents are worthless then, as after a crash, and the error is *CompanionError: the
// caller ends what used the companion, because the other half of the transaction has happened.

// CompanionPrefix begins the keys of the companion.
const CompanionPrefix byte = 'T'

// CompanionError is returned by Commit when the store's own writes are committed and the
// companion's are lost.
type CompanionError struct{ Err error }

func (e *CompanionError) Error() string {
	return fmt.Sprintf("the transaction is committed, but its temporary part is lost: %v", e.Err)
}

func (e *CompanionError) Unwrap() error { return e.Err }

// ErrNoCompanion is returned for a key of the companion by a store that has none.
var ErrNoCompanion = errors.New("txn: the store has no companion")

// Companion returns the companion of the store, which is opened when it is first asked for.
func (s *Store) Companion() (*Store, error) {
	if s.opts.Companion == nil {
		return nil, ErrNoCompanion
	}
	return s.opts.Companion()
}

// aside reports whether a key is the companion's. The companion itself has none, and keeps the keys
// as they are.
func (t *Txn) aside(key []byte) bool {
	return len(key) > 0 && key[0] == CompanionPrefix && t.s.opts.Companion != nil
}

// beside returns the transaction of the companion, which it begins at the first call.
func (t *Txn) beside(ctx context.Context) (*Txn, error) {
	if t.companion != nil {
		return t.companion, nil
	}
	if t.done {
		return nil, ErrTxnDone
	}
	s, err := t.s.Companion()
	if err != nil {
		return nil, err
	}
	c, err := s.Begin(ctx, BeginOptions{Session: t.reg.session, OnStream: t.onStream})
	if err != nil {
		return nil, err
	}
	c.CountIn(t.counted.account)
	c.SetStatement(t.statementCtx, t.waiter.Statement)
	c.frees = t.frees
	if t.buf.Frozen() {
		c.Freeze()
	}
	t.companion = c
	return c, nil
}

// getBeside reads a key of the companion in the way of one of Txn's methods.
func (t *Txn) getBeside(ctx context.Context, key []byte,
	get func(*Txn, context.Context, []byte) ([]byte, error)) ([]byte, error) {
	c, err := t.beside(ctx)
	if err != nil {
		return nil, err
	}
	return get(c, ctx, key)
}

// besideWrite returns the companion's transaction for a write. It is not read-only even if t is: as
// in PostgreSQL, READ ONLY protects what others see.
func (t *Txn) besideWrite() (*Txn, error) {
	return t.beside(t.writeContext())
}

// putBeside writes a key of the companion in the way of one of Txn's methods.
func (t *Txn) putBeside(key, value []byte, put func(*Txn, []byte, []byte) error) error {
	c, err := t.besideWrite()
	if err != nil {
		return err
	}
	return put(c, key, value)
}

// Dirty reports whether any write is buffered, the companion's included.
func (t *Txn) Dirty() bool { return t.dirty() || t.CompanionDirty() }

// DirtyShared reports whether any write is buffered that is not the companion's.
func (t *Txn) DirtyShared() bool { return t.dirty() }

// CompanionDirty reports whether any write of the companion is buffered.
func (t *Txn) CompanionDirty() bool { return t.companion != nil && t.companion.dirty() }

// CompanionStreams reports whether some of the companion's writes are in the store already.
func (t *Txn) CompanionStreams() bool { return t.companion != nil && t.companion.stream != nil }

// undoBeside takes the companion's transaction back to a savepoint. If that is older than the
// transaction, it is nil, and the transaction ends: the next use begins another.
func (t *Txn) undoBeside(sp *Savepoint) {
	switch {
	case t.companion == nil:
	case sp != nil:
		t.companion.RollbackTo(*sp)
	default:
		// Nothing of it was ever visible, so a failure to remove it changes nothing.
		_ = t.companion.Rollback(context.WithoutCancel(t.writeContext()))
		t.companion = nil
	}
}

// forgetBesideAfter is ForgetSavepointsAfter for the companion's transaction.
func (t *Txn) forgetBesideAfter(sp *Savepoint) {
	switch {
	case t.companion == nil:
	case sp != nil:
		t.companion.ForgetSavepointsAfter(*sp)
	default:
		t.companion.ForgetSavepoints()
	}
}

// settleBeside does what may fail of the companion's commit, before the store's own is decided.
func (t *Txn) settleBeside(ctx context.Context) error {
	c := t.companion
	if c == nil || !c.dirty() {
		return nil
	}
	if err := c.s.Room(c.frees); err != nil {
		return kv.NotApplied(err)
	}
	if c.stream == nil {
		return kv.FailureOf(c.s.engine)
	}
	if err := c.s.enter(); err != nil {
		return err
	}
	defer c.s.gate.RUnlock()
	return c.streamRest(ctx)
}

// endBeside ends the companion's transaction as the store's own has ended.
func (t *Txn) endBeside(ctx context.Context, err error) error {
	c := t.companion
	if c == nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	switch {
	case err == nil:
		if lost := c.Commit(ctx); lost != nil {
			return &CompanionError{lost}
		}
	case errors.Is(err, ErrAmbiguous) && c.dirty():
		return errors.Join(err, &CompanionError{err}, c.Rollback(ctx))
	default:
		return errors.Join(err, c.Rollback(ctx))
	}
	return nil
}
