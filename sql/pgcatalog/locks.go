package pgcatalog

import (
	"encoding/hex"
	"fmt"
	"time"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/txn/rowlock"
)

// Lock is a lock that a session holds, or waits for.
type Lock struct {
	Type                    string // "tuple", "relation" or "advisory"
	Key                     []byte
	Database, Class, Object uint32
	Sub                     byte
	Relation                table.ID
	Storage                 table.StorageID // of the row or index entry, instead of Relation
	Index                   table.IndexID
	PID                     int32
	Transaction             uint64
	Mode                    string
	Granted                 bool
	Fast                    bool      // kept outside of the lock table
	Since                   time.Time // of a wait
	Blockers                []Blocker
	Stored                  bool // in the store: a read of the key would wait for it
}

// Blocker is a session that holds a lock which another session waits for. Query is the statement
// that took the lock; "": unknown.
type Blocker struct {
	PID   int32
	Query string
}

// Conflict is one of the last transactions that failed because of a conflict.
type Conflict struct {
	At        time.Time
	Kind      string // "deadlock", "update", "delete", "insert", "read", "lock timeout"
	PID       int32
	Statement string
	Key       []byte
	// Detail names the statements of all sessions that took part, Sent those that the session whose
	// transaction failed may see.
	Detail, Sent string
	Role         acl.RoleID // that the session connected as
}

func lockRows(r *reader, emit emitter) {
	numbers := map[int32]uint64{} // of the transactions that hold locks, by session
	for _, l := range r.env.Locks() {
		if l.Granted && l.Transaction != 0 {
			numbers[l.PID] = l.Transaction
		}
		var relation, class, object, sub any
		if l.Type == "advisory" {
			class, object, sub = int64(l.Class), int64(l.Object), int(l.Sub)
		} else {
			relation = r.lockedRelation(&l)
		}
		emit("locktype", l.Type, "database", int64(l.Database), "relation", relation, "page", nil,
			"tuple", nil, "transactionid", nil, "classid", class, "objid", object, "objsubid", sub,
			"virtualtransaction", virtualTransaction(l.PID, l.Transaction), "pid", l.PID,
			"mode", l.Mode, "granted", l.Granted, "fastpath", l.Fast,
			"waitstart", timeOrNull(l.Since))
	}
	ownLocks(r, numbers, emit)
}

func virtualTransaction(pid int32, number uint64) string {
	return fmt.Sprintf("%d/%d", pid, number)
}

// ownLocks emits the locks that transactions have on themselves: by them one finds a transaction's
// other locks by its number. Those of read-only transactions that lock nothing are left out.
func ownLocks(r *reader, numbers map[int32]uint64, emit emitter) {
	for _, a := range r.env.Activity() {
		number, found := numbers[a.PID]
		if !found {
			continue
		}
		name := virtualTransaction(a.PID, number)
		one := func(kind string, fast bool, virtual, id any) {
			emit("locktype", kind, "database", nil, "relation", nil, "page", nil, "tuple", nil,
				"virtualxid", virtual, "transactionid", id, "classid", nil, "objid", nil,
				"objsubid", nil, "virtualtransaction", name, "pid", a.PID,
				"mode", "ExclusiveLock", "granted", true, "fastpath", fast)
		}
		one("virtualxid", true, name, nil)
		if id := transactionID(a.Writing); id != nil {
			one("transactionid", false, nil, id)
		}
	}
}

// lockedRelation is the table that a lock is on, nil if there is none any more.
func (r *reader) lockedRelation(l *Lock) any {
	if l.Storage == 0 {
		return l.Relation
	}
	d, err := r.env.View().RelationByStorage(r.ctx, l.Storage)
	if err != nil || d == nil {
		return nil
	}
	return d.ID
}

func lockWaitRows(r *reader, emit emitter) {
	who := r.authority()
	if who == nil {
		return
	}
	queries, hidden := map[int32]Activity{}, map[int32]bool{}
	for _, a := range r.env.Activity() {
		if hidden[a.PID] = !sees(who, a.Role); hidden[a.PID] {
			a = Activity{PID: a.PID, Query: concealed}
		}
		queries[a.PID] = a
	}
	for _, l := range r.env.Locks() {
		if l.Granted {
			continue
		}
		what := r.describeKey(l.Key)
		if l.Type == "advisory" {
			what.key = l.advisoryKey()
		}
		row := r.describeRow(&l)
		for _, b := range l.Blockers {
			query := b.Query
			if _, known := queries[b.PID]; query == "" || hidden[b.PID] {
				query = queries[b.PID].Query
			} else if !known && !who.Has(acl.ReadAllStats) { // of another server
				query = concealed
			}
			emit("locktype", l.Type, "table_name", orNull(what.table),
				"index_name", orNull(what.index), "key", orNull(what.key), "row_key", orNull(row),
				"waiting_pid", l.PID, "waiting_query", queries[l.PID].Query, "mode", l.Mode,
				"blocking_pid", b.PID, "blocking_query", query,
				"blocking_state", queries[b.PID].State, "since", timeOrNull(l.Since))
		}
	}
}

func conflictRows(r *reader, emit emitter) {
	who := r.authority()
	if who == nil {
		return
	}
	for _, c := range r.env.Conflicts() {
		what := r.describeKey(c.Key)
		switch {
		case who.Has(acl.ReadAllStats):
		case who.Has(c.Role):
			c.Detail = c.Sent
		default:
			c.Statement, c.Detail = concealed, ""
		}
		emit("at", c.At, "kind", c.Kind, "pid", c.PID, "query", c.Statement,
			"table_name", orNull(what.table), "index_name", orNull(what.index),
			"key", orNull(what.key), "detail", orNull(c.Detail))
	}
}

// advisoryKey is the number, or the two, that the lock was taken with.
func (l *Lock) advisoryKey() string {
	if l.Sub == 1 {
		return fmt.Sprintf("(%d)", int64(uint64(l.Class)<<32|uint64(l.Object)))
	}
	return fmt.Sprintf("(%d, %d)", int32(l.Class), int32(l.Object))
}

// described is a key in words.
type described struct{ table, index, key string }

// describeKey returns the table and the index of a key, and its columns as far as they can be read.
// The key is for roles that may read all of the table; where the table is gone, for roles that see
// the statements of all.
func (r *reader) describeKey(key []byte) described {
	if id, ok := rowlock.DecodeRelationKey(key); ok { // a table as a whole
		if d, err := r.env.View().RelationByID(r.ctx, table.ID(id)); err == nil && d != nil {
			return described{table: d.Schema + "." + d.Name}
		}
		return described{}
	}
	k, ok := table.DecodeKey(key)
	if !ok {
		return described{key: hex.EncodeToString(key)}
	}
	out := described{}
	d, err := r.env.View().RelationByStorage(r.ctx, k.Storage)
	if err != nil || d == nil {
		if a := r.authority(); a != nil && a.Has(acl.ReadAllStats) {
			out.key = hex.EncodeToString(k.Rest)
		}
		return out
	}
	out.table = d.Schema + "." + d.Name
	if ix := d.Index(k.Index); ix != nil {
		out.index = ix.Name
	}
	if r.opens(d) {
		out.key = table.DescribeKey(d, k)
	}
	return out
}

// describeRow returns the row key of the row that is locked, or that the locked entry of an index
// leads to. It is "" if the entry leads to no committed row yet, as for a new unique key. It reads
// nothing that a lock in the store protects, since a query of the lock views must not wait for a
// lock.
func (r *reader) describeRow(l *Lock) string {
	k, ok := table.DecodeKey(l.Key)
	if !ok {
		return ""
	}
	d, err := r.env.View().RelationByStorage(r.ctx, k.Storage)
	if r.fail(err); err != nil || d == nil || !r.opens(d) {
		return ""
	}
	if ix := d.Index(k.Index); ix != nil && k.Index != table.RowIndexID {
		if l.Stored {
			return ""
		}
		value, err := r.env.Entry(r.ctx, l.Key)
		if r.fail(err); err != nil || value == nil {
			return ""
		}
		row, err := table.RowKeyOf(d, ix, l.Key, value)
		if r.fail(err); err != nil {
			return ""
		}
		if k, ok = table.DecodeKey(row); !ok {
			return ""
		}
	}
	return table.DescribeKey(d, k)
}

func timeOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}
