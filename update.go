package minidb

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/wait"
)

const (
	// updateAttempts bounds how often Update runs its function. Each conflict means that another
	// transaction has committed, so the database as a whole moves on.
	updateAttempts = 1000
	// updateBackoffMax is the longest pause between two attempts.
	updateBackoffMax = 64 * time.Millisecond
)

// ErrManaged is returned by Commit and Rollback of a Tx that Update or View made: they end it
// themselves.
var ErrManaged = errors.New("minidb: Update and View end their transaction themselves")

// Update runs f in a transaction with snapshot isolation (REPEATABLE READ) and commits it. When f
// returns an error, or panics, the transaction is rolled back and Update returns that error, or
// panics on.
//
// When the transaction loses against another one (SQLSTATE 40001, or 40P01 in a deadlock), be it in
// f or at the commit, Update rolls it back, waits a little, longer each time, and runs f again in a
// new one. So f may run several times: what it does outside of the transaction must bear that, and
// it must return the errors of its statements. After a thousand attempts, or when ctx ends, Update
// gives up and returns the last conflict, joined with ctx's error. It never repeats a commit whose
// outcome is unknown (40003), because its writes may have been applied.
func (db *DB) Update(ctx context.Context, f func(tx *Tx) error) error {
	for attempt := 1; ; attempt++ {
		err := db.managed(ctx, f, true, Isolation("repeatable read"))
		if err == nil || !repeatable(err) || attempt == updateAttempts {
			return err
		}
		if stopped := pauseUpdate(ctx, attempt); stopped != nil {
			return errors.Join(stopped, err)
		}
	}
}

// View runs f in a read-only transaction on one snapshot (REPEATABLE READ), and returns its error.
// f runs once; its statements neither wait for others nor conflict with them, and cannot write
// (25006).
func (db *DB) View(ctx context.Context, f func(tx *Tx) error) error {
	return db.managed(ctx, f, false, Isolation("repeatable read"), ReadOnly())
}

// managed runs f in a transaction, and commits it if that is wanted and f returns nil.
func (db *DB) managed(ctx context.Context, f func(tx *Tx) error, commit bool,
	opts ...TxOption) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	tx, err := db.Begin(ctx, opts...)
	if err != nil {
		return err
	}
	tx.managed = true
	tx.h.lost = nil
	// also when f panics or ends its goroutine; after a commit it does nothing
	defer func() { _ = tx.rollback(ctx) }()
	if err := f(tx); err != nil {
		return err
	}
	if !commit {
		return nil
	}
	if !tx.h.inBlock() {
		return fmt.Errorf("minidb: the function of Update has ended the transaction: %w", ErrTxDone)
	}
	lost := tx.h.lost
	if err = tx.commit(ctx); errors.Is(err, ErrRolledBack) && lost != nil {
		return lost // f kept it to itself
	}
	return err
}

// repeatable reports whether a transaction that ended with err may succeed when it is run again,
// and has left nothing behind.
func repeatable(err error) bool {
	var coded interface{ SQLState() string }
	if errors.Is(err, txn.ErrAmbiguous) || !errors.As(err, &coded) {
		return false
	}
	switch coded.SQLState() {
	case sqlerr.SerializationFailure, sqlerr.DeadlockDetected:
		return true
	}
	return false
}

// pauseUpdate waits before the next attempt, a random part of a time that doubles. It returns why
// ctx ended, if it did.
func pauseUpdate(ctx context.Context, attempt int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	most := min(time.Millisecond<<min(attempt-1, 10), updateBackoffMax)
	return wait.Pause(ctx, rand.N(most)+1)
}
