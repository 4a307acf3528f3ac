package txn

import (
	"context"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/buffer"
	"github.com/minidb/minidb/txn/commit"
	"github.com/minidb/minidb/txn/mvcc"
)

// mutations returns the buffered writes as the protocol's steps take them, sorted by key. absent
// are the keys that were inserted and deleted again: there is nothing to write, but the insert was
// wrong if another transaction has written one meanwhile. Of fresh keys that does not matter. With
// versions, the mutations have what a return to a savepoint needs.
func (t *Txn) mutations(ctx context.Context, versions bool) (muts []mvcc.Mutation,
	absent []commit.Validation, err error) {
	muts = make([]mvcc.Mutation, 0, t.buf.Len())
	keys := 0
	t.buf.Each(func(w buffer.Write) bool {
		keys += len(w.Key)
		return true
	})
	rows := make([]byte, 0, keys+rowMore*t.buf.Len())
	n := 0
	t.buf.Each(func(w buffer.Write) bool {
		if n++; n%writesPerCheck == 0 {
			if err = ctx.Err(); err != nil {
				return false
			}
		}
		m := mvcc.Mutation{Key: w.Key, Value: w.Value, MustNotExist: w.MustNotExist, BaseTS: w.Base,
			Held: w.Held, Notes: w.Notes()}
		if versions {
			t.buf.Version(&w, &m)
		}
		m.Kind = w.Kind.In()
		if m.Kind == mvcc.KindLock {
			if t.stream == nil && len(m.Older) == 0 {
				if w.MustNotExist {
					absent = append(absent, commit.Validation{
						Span: kv.Span{Start: w.Key, End: kv.Successor(w.Key)}, Row: mvcc.Row(w.Key),
						Since: max(w.Base, t.reg.startTS),
					})
				}
				return true
			}
			m.Value, m.OwnOnly = nil, len(m.Older) == 0
			if m.OwnOnly {
				m.Notes = nil // else an older write may come back, and with it what it noted
			}
		}
		at := len(rows)
		rows = mvcc.AppendRow(rows, w.Key)
		m.Row = rows[at:len(rows):len(rows)]
		if w.Kind != buffer.Put || !w.MustNotExist && !w.Fresh {
			t.replaced.Add(m.Row)
		}
		muts = append(muts, m)
		return true
	})
	return muts, absent, err
}

// rowMore is how much longer than its key a row may be without another allocation.
const rowMore = 4

// writesPerCheck is how many buffered writes pass between two checks of the context.
const writesPerCheck = 4096
