package pgcatalog

import (
	"encoding/hex"
	"fmt"
	"time"

	"github.com/minidb/minidb/table"
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
	Detail    string
}

func lockRows(r *reader, emit emitter) {
	for _, l := range r.env.Locks() {
		var relation, class, object, sub any
		if l.Type == "advisory" {
			class, object, sub = int64(l.Class), int64(l.Object), int(l.Sub)
		} else {
			relation = r.lockedRelation(&l)
		}
		emit("locktype", l.Type, "database", int64(l.Database), "relation", relation, "page", nil,
			"tuple", nil, "transactionid", nil, "classid", class, "objid", object, "objsubid", sub,
			"virtualtransaction", fmt.Sprintf("%d/%d", l.PID, l.Transaction), "pid", l.PID,
			"mode", l.Mode, "granted", l.Granted, "fastpath", l.Fast,
			"waitstart", timeOrNull(l.Since))
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
	queries := map[int32]Activity{}
	for _, a := range r.env.Activity() {
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
		row, err := r.describeRow(&l)
		r.fail(err)
		for _, b := range l.Blockers {
			query := b.Query
			if query == "" {
				query = queries[b.PID].Query
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
	for _, c := range r.env.Conflicts() {
		what := r.describeKey(c.Key)
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
	out := described{key: hex.EncodeToString(k.Rest)}
	d, err := r.env.View().RelationByStorage(r.ctx, k.Storage)
	if err != nil || d == nil {
		return out
	}
	out.table = d.Schema + "." + d.Name
	if ix := d.Index(k.Index); ix != nil {
		out.index = ix.Name
	}
	out.key = table.DescribeKey(d, k)
	return out
}

// describeRow returns the row key of the row that is locked, or that the locked entry of an index
// leads to. It is "" if the entry leads to no committed row yet, as for a new unique key. It reads
// nothing that a lock in the store protects, since a query of the lock views must not wait for a
// lock.
func (r *reader) describeRow(l *Lock) (string, error) {
	k, ok := table.DecodeKey(l.Key)
	if !ok {
		return "", nil
	}
	d, err := r.env.View().RelationByStorage(r.ctx, k.Storage)
	if err != nil || d == nil {
		return "", err
	}
	if ix := d.Index(k.Index); ix != nil && k.Index != table.RowIndexID {
		if l.Stored {
			return "", nil
		}
		value, err := r.env.Entry(r.ctx, l.Key)
		if err != nil || value == nil {
			return "", err
		}
		row, err := table.RowKeyOf(d, ix, l.Key, value)
		if err != nil {
			return "", err
		}
		if k, ok = table.DecodeKey(row); !ok {
			return "", nil
		}
	}
	return table.DescribeKey(d, k), nil
}

func timeOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}
