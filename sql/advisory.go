package sql

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
)

func (f *accessor) advisoryKey(key expr.AdvisoryKey) []byte {
	b := binary.BigEndian.AppendUint32([]byte{table.PrefixAdvisory}, uint32(f.s.databaseID))
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

// AdvisoryLock takes a lock in the process's lock table (expr.AdvisoryLocks), and then in the store
// if several processes share it.
func (f *accessor) AdvisoryLock(key expr.AdvisoryKey, shared, transaction, wait bool) (bool,
	error) {
	f.s.sideEffects = true // a second attempt would not give back a lock of the session
	began, mark := time.Now(), f.s.locks.Mark()
	k, req := f.advisoryKey(key), rowlock.Request{
		Mode: advisoryMode(shared), NoWait: !wait, Timeout: f.s.settings.Derived().LockTimeout,
		Session: !transaction,
	}
	_, err := f.s.engine.store.RowLocks().Lock(f.ctx, f.s.locks, k, req)
	if err == nil && f.s.engine.shared {
		if req.Timeout > 0 {
			req.Timeout = max(1, req.Timeout-time.Since(began))
		}
		if err = f.s.lockAdvisory(f.ctx, k, req); err != nil {
			if transaction {
				f.s.locks.ReleaseTo(mark)
			} else {
				f.s.locks.Unlock(k, req.Mode)
			}
			f.s.keepAdvisory()
		}
	}
	if !wait && errors.Is(err, rowlock.ErrNotAvailable) {
		return false, nil
	}
	return err == nil, err
}

// lockAdvisory takes in the store what was granted in memory.
func (s *transactor) lockAdvisory(ctx context.Context, key []byte, r rowlock.Request) (err error) {
	if s.advisory == nil {
		if s.advisory, err = s.engine.store.NewSessionLocks(ctx, s.locks); err != nil {
			return err
		}
		if s.tx.tx != nil {
			s.tx.tx.RestOn(s.advisory)
		}
	}
	return s.advisory.Lock(ctx, txn.SessionRequest{Key: key, Mode: storedAdvisory(r.Mode),
		NoWait: r.NoWait, Timeout: r.Timeout, Statement: s.text})
}

// storedAdvisory is the mode of an advisory lock in the store.
func storedAdvisory(m rowlock.Mode) rowlock.Mode {
	switch m {
	case rowlock.None:
		return rowlock.None
	case rowlock.TableShare:
		return rowlock.Share
	}
	return rowlock.Update
}

// keepAdvisory gives back in the store the advisory locks that were given back in memory.
func (s *transactor) keepAdvisory() {
	if s.advisory != nil {
		s.advisory.Keep(func(key string) rowlock.Mode {
			return storedAdvisory(s.locks.Holds([]byte(key)))
		})
	}
}

// releaseLocks gives back what the transaction has locked since a mark.
func (s *transactor) releaseLocks(mark rowlock.Mark) {
	s.locks.ReleaseTo(mark)
	s.keepAdvisory()
}

// unlockAll gives back all advisory locks of the session.
func (s *transactor) unlockAll() {
	s.locks.UnlockAll()
	s.keepAdvisory()
}

// advisoryLast returns an error, and ends the session, if its advisory locks may be others' by now.
func (s *Session) advisoryLast() error {
	if s.advisory == nil || !s.advisory.Lost() {
		return nil
	}
	s.Terminate()
	return sqlerr.New(sqlerr.AdminShutdown,
		"terminating connection because its advisory locks were lost").
		WithDetail("The server did not reach the store for longer than its lease, so other " +
			"sessions may have the locks.")
}

// AdvisoryUnlock gives back one lock of the session.
func (f *accessor) AdvisoryUnlock(key expr.AdvisoryKey, shared bool) (bool, error) {
	f.s.sideEffects = true
	if f.s.locks.Unlock(f.advisoryKey(key), advisoryMode(shared)) {
		f.s.keepAdvisory()
		return true, nil
	}
	kind := "ExclusiveLock"
	if shared {
		kind = "ShareLock"
	}
	f.s.notice("WARNING", "01000", "you don't own a lock of type %s", kind)
	return false, nil
}

// AdvisoryUnlockAll gives back all locks of the session.
func (f *accessor) AdvisoryUnlockAll() { f.s.unlockAll() }
