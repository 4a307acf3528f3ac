package gin

import (
	"bytes"
	"slices"

	"github.com/minidb/minidb/table/types"
)

// Op is what a [Query] is.
type Op uint8

// The operators of queries.
const (
	Key     Op = iota // rows with an entry of Query.Key
	And               // rows of all Args
	Or                // rows of any of Args
	AtLeast           // rows of at least N of Args
	Every             // all rows: the keys say nothing
	Nothing           // no row
)

// Query describes the rows that may satisfy a condition by the keys that they have.
type Query struct {
	Op   Op
	Key  []byte // as entries have it behind the index's prefix
	N    int
	Args []*Query
}

var (
	every   = &Query{Op: Every}
	nothing = &Query{Op: Nothing}
)

// AllOf returns the query of the rows of all args.
func AllOf(args []*Query) *Query {
	out := &Query{Op: And}
	for _, a := range args {
		switch a.Op {
		case Nothing:
			return nothing
		case Every:
		case And:
			out.Args = append(out.Args, a.Args...)
		default:
			out.Args = append(out.Args, a)
		}
	}
	return out.reduced(every)
}

// AnyOf returns the query of the rows of any of args.
func AnyOf(args []*Query) *Query {
	out := &Query{Op: Or}
	for _, a := range args {
		switch a.Op {
		case Every:
			return every
		case Nothing:
		case Or:
			out.Args = append(out.Args, a.Args...)
		default:
			out.Args = append(out.Args, a)
		}
	}
	return out.reduced(nothing)
}

// reduced leaves out keys that repeat. Without arguments a query is empty; with one it is that.
func (q *Query) reduced(empty *Query) *Query {
	q.Args = slices.CompactFunc(q.Args, func(a, b *Query) bool {
		return a.Op == Key && b.Op == Key && bytes.Equal(a.Key, b.Key)
	})
	switch len(q.Args) {
	case 0:
		return empty
	case 1:
		return q.Args[0]
	}
	return q
}

// atLeast returns the query of the rows of at least n of args.
func atLeast(n int, args []*Query) *Query {
	switch {
	case n <= 0:
		return every
	case n > len(args):
		return nothing
	case n == 1:
		return AnyOf(args)
	case n == len(args):
		return AllOf(args)
	}
	return &Query{Op: AtLeast, N: n, Args: args}
}

// Leaves returns the number of keys in the query, those that repeat included.
func (q *Query) Leaves() int {
	if q.Op == Key {
		return 1
	}
	n := 0
	for _, a := range q.Args {
		n += a.Leaves()
	}
	return n
}

// keysOf returns queries for the keys of a list, sorted, each once.
func (c *Column) keysOf(keys []types.Datum) ([]*Query, error) {
	list := make([][]byte, len(keys))
	for i, k := range keys {
		var err error
		if list[i], err = c.appendKey(nil, k); err != nil {
			return nil, err
		}
	}
	list = distinct(list)
	out := make([]*Query, len(list))
	for i, k := range list {
		out[i] = &Query{Op: Key, Key: k}
	}
	return out, nil
}

// empty returns the query of the rows whose value has no key.
func (c *Column) empty() *Query { return &Query{Op: Key, Key: []byte{c.position, markEmpty}} }

// Behind returns the query with a prefix before all keys: that of the index's entries.
func (q *Query) Behind(prefix []byte) *Query {
	out := &Query{Op: q.Op, N: q.N}
	if q.Op == Key {
		out.Key = append(append(make([]byte, 0, len(prefix)+len(q.Key)), prefix...), q.Key...)
	}
	for _, a := range q.Args {
		out.Args = append(out.Args, a.Behind(prefix))
	}
	return out
}
