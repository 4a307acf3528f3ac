package history

import (
	"fmt"
	"maps"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// Outcome is the result that a transaction received.
type Outcome int

// The outcomes. Unknown is that of a coordinator that died, or received an unknown result.
const (
	Unknown Outcome = iota
	Committed
	Aborted
)

func (o Outcome) String() string { return [...]string{"unknown", "committed", "aborted"}[o] }

// Pair is a key with its value.
type Pair struct{ Key, Value string }

// Write is one buffered write, in the order in which they were made.
type Write struct {
	Key, Value     string
	Delete, Insert bool
	// Base is the timestamp as of which the key was known when it was written: no other transaction
	// may commit a write of it between that and this write's commit.
	Base tso.Timestamp
	// Undone takes back all earlier writes of the key: a savepoint was rolled back.
	Undone bool
}

// Read is one answer: of a key (Span is then nil), or of a span.
type Read struct {
	Key     string
	Span    *kv.Span
	Reverse bool
	Got     []Pair
	Own     int           // how many of the transaction's writes came before
	TS      tso.Timestamp // at which it read
}

// Statement is a part of a READ COMMITTED transaction that has a read timestamp of its own.
type Statement struct {
	Began int // as Record.Began
	TS    tso.Timestamp
}

// Lock is a row lock that was taken on a key as it was at a timestamp.
type Lock struct {
	Key string
	TS  tso.Timestamp
	// Until is when the lock may be taken away: the end of the owner's lease, as it was then, or of
	// the time to live of what it becomes at the commit.
	Until tso.Timestamp
}

// Record is a transaction as its coordinator saw it.
type Record struct {
	Name         string
	Began, Ended int // in the order of all beginnings and answers; Ended is zero without an answer
	Historical   bool
	// ReadCommitted: each statement reads at its own timestamp; otherwise all read at StartTS.
	ReadCommitted bool
	StartTS       tso.Timestamp
	CommitTS      tso.Timestamp
	Reads         []Read
	Writes        []Write
	Statements    []Statement
	Locks         []Lock
	Outcome       Outcome
	Err           error // of an abort
}

// final returns what the transaction leaves on each key, and whether a write of the key asks for
// the absence of an earlier value.
func (r *Record) final() map[string]Write { return r.Own(len(r.Writes)) }

// Own returns what the first n writes of the transaction leave on each key.
func (r *Record) Own(n int) map[string]Write {
	out := map[string]Write{}
	for _, w := range r.Writes[:n] {
		if w.Undone {
			delete(out, w.Key)
			continue
		}
		before, again := out[w.Key]
		if again {
			w.Insert, w.Base = before.Insert, before.Base
		}
		out[w.Key] = w
	}
	return out
}

func (r *Record) String() string {
	return fmt.Sprintf("%s [%s, %s] %s", r.Name, r.StartTS, r.CommitTS, r.Outcome)
}

// Version is one write record of a key, with its value.
type Version struct {
	CommitTS, StartTS tso.Timestamp
	Delete            bool
	Value             string
}

// Truth is what was committed: the versions of each key, oldest first.
type Truth map[string][]Version

// Add puts a version into its place. One that is there already is not added again.
func (t Truth) Add(key string, v Version) {
	list := t[key]
	i, _ := slices.BinarySearchFunc(list, v, func(a, b Version) int {
		if a.CommitTS != b.CommitTS {
			return map[bool]int{true: -1, false: 1}[a.CommitTS < b.CommitTS]
		}
		return map[bool]int{true: -1, false: 0}[a.StartTS < b.StartTS]
	})
	if i < len(list) && list[i] == v {
		return
	}
	t[key] = slices.Insert(list, i, v)
}

// At returns the version of a key that a reader at ts sees: nil before the first.
func (t Truth) At(key string, ts tso.Timestamp) *Version {
	list := t[key]
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].CommitTS <= ts {
			return &list[i]
		}
	}
	return nil
}

// Keys lists the keys in order.
func (t Truth) Keys() []string { return slices.Sorted(maps.Keys(t)) }

// takeCells makes the truth of what a store holds.
func takeCells(cells []mvcc.Cell) Truth {
	data := map[string]map[tso.Timestamp]string{}
	for _, c := range cells {
		if c.Column == mvcc.ColumnData {
			if data[string(c.Key)] == nil {
				data[string(c.Key)] = map[tso.Timestamp]string{}
			}
			data[string(c.Key)][c.TS] = string(c.Value)
		}
	}
	t := Truth{}
	for _, c := range cells {
		if c.Column != mvcc.ColumnWrite || c.Write.Kind != mvcc.KindPut &&
			c.Write.Kind != mvcc.KindDelete {
			continue
		}
		v := Version{CommitTS: c.TS, StartTS: c.Write.StartTS,
			Delete: c.Write.Kind == mvcc.KindDelete}
		if c.Write.HasShort {
			v.Value = string(c.Write.Short)
		} else if !v.Delete {
			v.Value = data[string(c.Key)][v.StartTS]
		}
		t.Add(string(c.Key), v)
	}
	return t
}

// History is what a run has written down.
type History struct {
	Records      []*Record
	Truth        Truth
	Serializable bool
	Found        []Violation // what was seen while it ran
}
