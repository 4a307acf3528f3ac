package sql

import (
	"encoding/binary"
	"errors"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/txn/rowlock"
)

// advisoryPrefix keeps the keys of advisory locks apart from those of rows in the lock table.
const advisoryPrefix = 'a'

func (f *accessor) advisoryKey(key expr.AdvisoryKey) []byte {
	b := binary.BigEndian.AppendUint32([]byte{advisoryPrefix}, uint32(f.s.databaseID))
	b = binary.BigEndian.AppendUint32(b, key.Hi)
	b = binary.BigEndian.AppendUint32(b, key.Lo)
	if key.Pair {
		return append(b, 2)
	}
	return append(b, 1)
}

func advisoryMode(shared bool) rowlock.Mode {
	if shared {
		return rowlock.TableShare
	}
	return rowlock.Exclusive
}

// AdvisoryLock takes a lock in the process's lock table (expr.AdvisoryLocks).
func (f *accessor) AdvisoryLock(key expr.AdvisoryKey, shared, transaction, wait bool) (bool,
	error) {
	if err := f.s.engine.unlessShared(lockFunction(shared, transaction, wait),
		insteadOfAdvisory); err != nil {
		return false, err
	}
	f.s.sideEffects = true // a second attempt would not give back a lock of the session
	_, err := f.s.engine.store.RowLocks().Lock(f.ctx, f.s.locks, f.advisoryKey(key),
		rowlock.Request{
			Mode: advisoryMode(shared), NoWait: !wait, Timeout: f.s.settings.Derived().LockTimeout,
			Session: !transaction,
		})
	if !wait && errors.Is(err, rowlock.ErrNotAvailable) {
		return false, nil
	}
	return err == nil, err
}

// lockFunction is the name of the function that takes a lock.
func lockFunction(shared, transaction, wait bool) string {
	name := "pg_"
	if !wait {
		name += "try_"
	}
	name += "advisory_"
	if transaction {
		name += "xact_"
	}
	return ofMode(name+"lock", shared)
}

func ofMode(function string, shared bool) string {
	if shared {
		return function + "_shared"
	}
	return function
}

// AdvisoryUnlock gives back one lock of the session.
func (f *accessor) AdvisoryUnlock(key expr.AdvisoryKey, shared bool) (bool, error) {
	if err := f.s.engine.unlessShared(ofMode("pg_advisory_unlock", shared),
		insteadOfAdvisory); err != nil {
		return false, err
	}
	f.s.sideEffects = true
	if f.s.locks.Unlock(f.advisoryKey(key), advisoryMode(shared)) {
		return true, nil
	}
	kind := "ExclusiveLock"
	if shared {
		kind = "ShareLock"
	}
	f.s.notice("WARNING", "01000", "you don't own a lock of type %s", kind)
	return false, nil
}

// AdvisoryUnlockAll gives back all locks of the session. On a shared store it has none, which is
// no error: pools of connections call this whenever a client is done.
func (f *accessor) AdvisoryUnlockAll() { f.s.locks.UnlockAll() }
