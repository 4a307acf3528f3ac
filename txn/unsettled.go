package txn

import (
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// A large transaction has locks in the store for seconds or minutes: while it writes, and after its
// commit point until the background has settled them. Readers on an exclusive engine share
// snapshots all the while (txn: I14), for memory knows of each whether it is committed, and in
// which span its locks are. A reader at S that finds all lock holders large, after it looked for
// their commit points in the table in flight, goes by this:
//
//	the transaction               its locks in a snapshot that is complete up to upTo
//	runs, or is rolled back       mean nothing: if it commits, then above S
//	committed at c, S < c         mean nothing
//	committed at c, upTo < c <= S the snapshot may lack them: of a key in the span it is too old
//	committed at c <= upTo        were there when the snapshot was taken: those that it shows are
//	                              read as the records that they become (I23)
//
// What has been settled is outside of the span, and its slots of recent commits were raised before.

// unsettled are the locks of a snapshot that mean something: of transactions that were committed at
// or below upTo when it was taken. Their spans are at least as wide as their locks were then.
type unsettled struct {
	anywhere bool // nothing is known: any row may be locked by anybody
	spans    []kv.Span
	decided  map[tso.Timestamp]tso.Timestamp // what became of their transactions; nobody changes it
}

// unsettledOf returns those of the large transactions. It comes before the snapshot, for the spans
// shrink.
func unsettledOf(large []*lockHolder, upTo tso.Timestamp) (u unsettled) {
	for _, k := range large {
		commitTS, _ := k.liveness.committed()
		if commitTS == 0 || commitTS > upTo {
			continue
		}
		if u.decided == nil {
			u.decided = map[tso.Timestamp]tso.Timestamp{}
		}
		u.decided[k.startTS] = commitTS
		u.spans = append(u.spans, *k.span.Load())
	}
	return u
}

// has reports whether the key may have one.
func (u *unsettled) has(key []byte) bool {
	for i := range u.spans {
		if u.spans[i].Contains(key) {
			return true
		}
	}
	return u.anywhere
}

// in reports whether there may be one in the span.
func (u *unsettled) in(span kv.Span) bool {
	for i := range u.spans {
		if u.spans[i].Overlaps(span) {
			return true
		}
	}
	return u.anywhere
}
