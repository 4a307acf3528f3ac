package sql

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/minidb/minidb/sql/pgcatalog"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
)

// tupleMode is a row lock's mode as pg_locks names it.
func tupleMode(m rowlock.Mode) string {
	switch m {
	case rowlock.KeyShare:
		return "AccessShareLock"
	case rowlock.Share:
		return "RowShareLock"
	case rowlock.NoKeyUpdate:
		return "ExclusiveLock"
	}
	return "AccessExclusiveLock"
}

// advisory is an advisory lock as pg_locks shows it.
type advisory struct {
	database, class, object uint32
	sub                     byte
}

// advisoryOf takes apart what accessor.advisoryKey made.
func advisoryOf(key []byte) (a advisory, ok bool) {
	if len(key) != 14 || key[0] != table.PrefixAdvisory {
		return a, false
	}
	return advisory{database: binary.BigEndian.Uint32(key[1:]),
		class:  binary.BigEndian.Uint32(key[5:]),
		object: binary.BigEndian.Uint32(key[9:]), sub: key[13]}, true
}

// namedMode is the mode of a table's lock, or of an advisory one, as PostgreSQL names it.
func namedMode(m rowlock.Mode) string {
	if m == rowlock.Update {
		m = rowlock.Exclusive // of an advisory lock in the store (storedAdvisory)
	}
	return strings.ReplaceAll(capitalized(m.String()), " ", "") + "Lock"
}

// capitalized writes each word with a capital letter.
func capitalized(words string) string {
	b := []byte(words)
	for i := range b {
		if i == 0 || b[i-1] == ' ' {
			b[i] -= 'a' - 'A'
		}
	}
	return string(b)
}

// Locks is part of pgcatalog.Env: what is held and waited for, key by key.
func (c catalogEnv) Locks() []pgcatalog.Lock {
	var out []pgcatalog.Lock
	store := c.s.engine.store
	waits := store.LockWaits()
	for _, st := range store.RowLocks().States() {
		base, mode := c.lockOn(st.Key)
		for _, h := range st.Holders {
			if waitsElsewhere(waits, st.Key, &h) {
				continue
			}
			l := base
			l.PID, l.Transaction, l.Mode, l.Granted, l.Fast = int32(h.Owner), h.Transaction,
				mode(h.Mode), true, h.Fast
			out = append(out, l)
		}
		for _, w := range st.Waiters {
			l := base
			l.PID, l.Transaction, l.Mode, l.Since = int32(w.Owner), w.Transaction, mode(w.Mode),
				w.Since
			for _, b := range w.Blockers {
				l.Blockers = append(l.Blockers,
					pgcatalog.Blocker{PID: int32(b), Query: lockingStatement(st.Holders, b)})
			}
			out = append(out, l)
		}
	}
	return append(out, c.storeLocks(waits)...)
}

// Entry is part of pgcatalog.Env.
func (c catalogEnv) Entry(ctx context.Context, key []byte) ([]byte, error) {
	return c.s.tx.tx.GetUnserialized(ctx, key)
}

// lockingStatement returns the statement by which a holder got its lock; "" if it is unknown, or if
// the blocker itself waits, further ahead in the queue.
func lockingStatement(holders []rowlock.Holder, owner int64) string {
	for i := range holders {
		if holders[i].Owner == owner {
			return holders[i].Statement
		}
	}
	return ""
}

// waitsElsewhere reports whether the transaction that was granted a row here waits for it in the
// store.
func waitsElsewhere(waits []txn.LockWait, key []byte, h *rowlock.Holder) bool {
	_, ofSession := advisoryOf(key)
	return slices.ContainsFunc(waits, func(w txn.LockWait) bool {
		return bytes.Equal(w.Key, key) && (ofSession && int64(w.Client) == h.Owner ||
			w.Mode == h.Mode && uint64(w.StartTS) == h.Transaction)
	})
}

// lockOn describes the key of a lock, and returns how the lock's modes are named.
func (c catalogEnv) lockOn(key []byte) (base pgcatalog.Lock, mode func(rowlock.Mode) string) {
	base, mode = pgcatalog.Lock{Key: key}, tupleMode
	if a, ok := advisoryOf(key); ok {
		base.Type, base.Database, base.Class, base.Object, base.Sub = "advisory", a.database,
			a.class, a.object, a.sub
		mode = namedMode
	} else if id, ok := rowlock.DecodeRelationKey(key); ok {
		base.Type, base.Database, base.Relation = "relation", uint32(c.s.databaseID), table.ID(id)
		mode = namedMode
	} else if k, ok := table.DecodeKey(key); ok {
		base.Type, base.Database, base.Storage, base.Index = "tuple", uint32(c.s.databaseID),
			k.Storage, k.Index
	}
	return base, mode
}

// storeLocks lists the locks in the store that are waited for, each with its waiters. Such a lock
// belongs to a commit in two phases, to a large transaction that has written some of its rows to
// the store or, if it is a row lock, to a transaction of another process.
func (c catalogEnv) storeLocks(waits []txn.LockWait) (out []pgcatalog.Lock) {
	shown := map[string]bool{}
	store := c.s.engine.store
	for _, w := range waits {
		base, mode := c.lockOn(w.Key)
		base.Stored = true
		holder, waiter := base, base
		// A lock that is not a row lock is shown in the strongest mode.
		holder.Mode, waiter.Mode = mode(w.Held), mode(w.Mode)
		holder.PID, holder.Transaction, holder.Granted = holderPID(store,
			&w), uint64(w.Lock.StartTS), !w.Queues
		if !shown[string(w.Key)] {
			shown[string(w.Key)] = true
			out = append(out, holder)
		}
		waiter.PID, waiter.Transaction, waiter.Since = int32(w.Client), uint64(w.StartTS), w.Since
		waiter.Blockers = []pgcatalog.Blocker{{PID: holder.PID, Query: w.Lock.Statement}}
		out = append(out, waiter)
	}
	return out
}

// holderPID returns the session that holds the lock. It is zero, as in PostgreSQL for a holder
// without a session, if the lock belongs to another process or to one that has ended.
func holderPID(store *txn.Store, w *txn.LockWait) int32 {
	if w.Lock.Owner != store.SessionID() {
		return 0
	}
	return int32(w.Lock.Client)
}

// Reruns is part of pgcatalog.Env.
func (c catalogEnv) Reruns() []pgcatalog.Reruns { return c.s.engine.Reruns() }

// Conflicts is part of pgcatalog.Env.
func (c catalogEnv) Conflicts() []pgcatalog.Conflict { return c.s.engine.Conflicts() }

// SafeSnapshotBlockers is part of pgcatalog.Env.
func (c catalogEnv) SafeSnapshotBlockers(pid int32) []int32 {
	return safeSnapshotBlockers(c.s.engine.store, pid)
}

// SafeSnapshotBlockers is pg_safe_snapshot_blocking_pids.
func (f *accessor) SafeSnapshotBlockers(pid int32) ([]int32, error) {
	err := f.s.engine.unlessShared("pg_safe_snapshot_blocking_pids", "")
	if err != nil {
		return nil, err
	}
	return safeSnapshotBlockers(f.s.engine.store, pid), nil
}

func safeSnapshotBlockers(store *txn.Store, pid int32) (out []int32) {
	for _, w := range store.SafeSnapshotWaits() {
		if w.Owner != int64(pid) {
			continue
		}
		for _, b := range w.Blockers {
			out = append(out, int32(b))
		}
	}
	return out
}

// BlockingPIDs is pg_blocking_pids.
func (f *accessor) BlockingPIDs(pid int32) ([]int32, error) {
	if err := f.s.engine.unlessShared("pg_blocking_pids", insteadOfLocks); err != nil {
		return nil, err
	}
	var out []int32
	store := f.s.engine.store
	for _, id := range store.RowLocks().Blockers(int64(pid)) {
		out = append(out, int32(id))
	}
	for _, w := range store.LockWaits() {
		if holder := holderPID(store, &w); int32(w.Client) == pid && !slices.Contains(out, holder) {
			out = append(out, holder)
		}
	}
	return out, nil
}
