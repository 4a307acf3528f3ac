package hints

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
//	the transaction               its locks in a snapshot that is complete up to UpTo
//	runs, or is rolled back       mean nothing: if it commits, then above S
//	committed at c, S < c         mean nothing
//	committed at c, UpTo < c <= S the snapshot may lack them: of a key in the span it is too old
//	committed at c <= UpTo        were there when the snapshot was taken: those that it shows are
//	                              read as the records that they become (I23)
//
// Validation of a span that was read at S needs no snapshot: the locks of a transaction that is
// rolled back, or was committed at c <= S, mean nothing to it (NoneSince).
//
// What has been settled is outside of the span, and its slots of recent commits were raised before.

// Unsettled are the locks of a snapshot that mean something: of transactions that were committed at
// or below upTo when it was taken. Their spans are at least as wide as their locks were then.
type Unsettled struct {
	Anywhere bool // nothing is known: any row may be locked
	spans    []kv.Span
	// Decided has the commit_ts of each transaction. It is never changed.
	Decided map[tso.Timestamp]tso.Timestamp
}

// UnsettledOf returns those of the large transactions. It comes before the snapshot, for the spans
// shrink.
func UnsettledOf(large []*LockHolder, upTo tso.Timestamp) (u Unsettled) {
	for _, k := range large {
		commitTS, _ := k.liveness.committed()
		if commitTS == 0 || commitTS > upTo {
			continue
		}
		if u.Decided == nil {
			u.Decided = map[tso.Timestamp]tso.Timestamp{}
		}
		u.Decided[k.startTS] = commitTS
		u.spans = append(u.spans, *k.Span.Load())
	}
	return u
}

// Has reports whether the key may have one.
func (u *Unsettled) Has(key []byte) bool {
	for i := range u.spans {
		if u.spans[i].Contains(key) {
			return true
		}
	}
	return u.Anywhere
}

// In reports whether there may be one in the span.
func (u *Unsettled) In(span kv.Span) bool {
	for i := range u.spans {
		if u.spans[i].Overlaps(span) {
			return true
		}
	}
	return u.Anywhere
}

// MayLackLarge reports whether the snapshot may lack a commit of the key, at or below a read
// timestamp, by one of the large transactions, whose locks are not settled. It comes before the
// look at the slot of recent commits, which is raised before a span shrinks.
func MayLackLarge(large []*LockHolder, v *Snapshot, key []byte, readTS tso.Timestamp) bool {
	for _, k := range large {
		if !k.Span.Load().Contains(key) {
			continue
		}
		if commitTS, _ := k.liveness.committed(); v.UpTo < commitTS && commitTS <= readTS {
			return true
		}
	}
	return false
}
