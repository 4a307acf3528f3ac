package sql

import (
	"encoding/binary"
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

// advisoryOf takes apart what facts.advisoryKey made.
func advisoryOf(key []byte) (a advisory, ok bool) {
	if len(key) != 14 || key[0] != advisoryPrefix {
		return a, false
	}
	return advisory{database: binary.BigEndian.Uint32(key[1:]), class: binary.BigEndian.Uint32(key[5:]),
		object: binary.BigEndian.Uint32(key[9:]), sub: key[13]}, true
}

// namedMode is the mode of a table's lock, or of an advisory one, as PostgreSQL names it.
func namedMode(m rowlock.Mode) string {
	return strings.ReplaceAll(cases(m.String()), " ", "") + "Lock"
}

// cases writes each word with a capital.
func cases(words string) string {
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
	for _, st := range c.s.engine.store.RowLocks().States() {
		base := pgcatalog.Lock{Key: st.Key}
		mode := tupleMode
		if a, ok := advisoryOf(st.Key); ok {
			base.Type, base.Database, base.Class, base.Object, base.Sub = "advisory", a.database, a.class, a.object, a.sub
			mode = namedMode
		} else if id, ok := rowlock.DecodeRelationKey(st.Key); ok {
			base.Type, base.Database, base.Relation = "relation", uint32(c.s.databaseID), table.ID(id)
			mode = namedMode
		} else if k, ok := table.DecodeKey(st.Key); ok {
			base.Type, base.Database, base.Relation, base.Index = "tuple", uint32(c.s.databaseID), k.Table, k.Index
		}
		for _, h := range st.Holders {
			l := base
			l.PID, l.Transaction, l.Mode, l.Granted, l.Fast = int32(h.Owner), h.Transaction, mode(h.Mode), true, h.Fast
			out = append(out, l)
		}
		for _, w := range st.Waiters {
			l := base
			l.PID, l.Transaction, l.Mode, l.Since = int32(w.Owner), w.Transaction, mode(w.Mode), w.Since
			for _, b := range w.Blockers {
				l.Blockers = append(l.Blockers, int32(b))
			}
			out = append(out, l)
		}
	}
	return out
}

// Conflicts is part of pgcatalog.Env.
func (c catalogEnv) Conflicts() []pgcatalog.Conflict {
	var out []pgcatalog.Conflict
	for _, x := range c.s.engine.Conflicts() {
		out = append(out, pgcatalog.Conflict{At: x.At, Kind: x.Kind, PID: x.PID, Statement: x.Statement, Key: x.Key, Detail: x.Detail})
	}
	return out
}

// SafeSnapshotBlockers is part of pgcatalog.Env.
func (c catalogEnv) SafeSnapshotBlockers(pid int32) []int32 {
	return safeSnapshotBlockers(c.s.engine.store, pid)
}

// SafeSnapshotBlockers answers pg_safe_snapshot_blocking_pids.
func (f *facts) SafeSnapshotBlockers(pid int32) []int32 {
	return safeSnapshotBlockers(f.s.engine.store, pid)
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

// BlockingPIDs answers pg_blocking_pids.
func (f *facts) BlockingPIDs(pid int32) []int32 {
	var out []int32
	for _, id := range f.s.engine.store.RowLocks().Blockers(int64(pid)) {
		out = append(out, int32(id))
	}
	return out
}
