package sqlhistory

import (
	"slices"
	"strings"

	"github.com/minidb/minidb/tests/history"
	"github.com/minidb/minidb/txn/tso"
)

// The verdicts beside those of package history.
const (
	// WrongEffect: a row is not what its statement makes of the version before it: that one was
	// lost, or the statement has happened twice.
	WrongEffect history.Verdict = "wrong effect"
	// WrongClaim: what a statement found missing, or in its way, was otherwise all the time.
	WrongClaim history.Verdict = "wrong claim"
	// WrongRange: a range read through an index is not what the table had.
	WrongRange history.Verdict = "wrong range"
	// Disagreement: an index, a unique key, the bank's total or the catalog's check is broken.
	Disagreement history.Verdict = "disagreement"
)

// effect is a row that a statement returned: what it was made to by to, or that it is gone.
type effect struct {
	rec   *history.Record
	table string
	k     int
	own   int // writes of the transaction before
	to    change
	gone  string // of a DELETE: the row
}

// claim is what a statement says of a table without showing a row: that one was there, or none.
type claim struct {
	rec    *history.Record
	table  string
	own    int
	match  func(k int, v, who string) bool
	exists bool
	lo, hi tso.Timestamp
}

// rangeRead is an answer of an index.
type rangeRead struct {
	rec    *history.Record
	table  string
	own    int
	ts     tso.Timestamp
	got    []history.Pair
	within func(k int, v, who string) bool
}

// sent is a statement by its label.
type sent struct {
	rec   *history.Record
	table string
	to    change
}

// claim notes one. Outside READ COMMITTED what is missing is so in the snapshot; what is in the way
// may have come while the statement waited.
func (s *session) claim(a *answer, table string, match func(k int, v, who string) bool,
	exists bool) {
	c := claim{rec: s.rec, table: table, own: len(s.rec.Writes), match: match, exists: exists,
		lo: a.lo, hi: a.hi}
	if !s.rec.ReadCommitted {
		c.lo = s.rec.StartTS
		if !exists {
			c.hi = c.lo
		}
	}
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	s.r.claims = append(s.r.claims, c)
}

// parts takes a key and a value of the history apart.
func parts(k, value string) (n int, v, who string) {
	n = number(k[strings.Index(k, "/")+1:])
	at := strings.LastIndex(value, "|")
	return n, value[:at], value[at+1:]
}

// stateOf is a table as a transaction with its first own writes sees it at ts.
func (r *run) stateOf(rec *history.Record, table string, own int,
	ts tso.Timestamp) map[string]string {
	out := map[string]string{}
	for k := range r.history.Truth {
		if v := r.history.Truth.At(k, ts); strings.HasPrefix(k, table+"/") && v != nil &&
			!v.Delete {
			out[k] = v.Value
		}
	}
	for k, w := range rec.Own(own) {
		if !strings.HasPrefix(k, table+"/") {
			continue
		}
		if delete(out, k); !w.Delete {
			out[k] = w.Value
		}
	}
	return out
}

// check looks for all that history.Check does not.
func (r *run) check() {
	for _, e := range r.effects {
		if e.rec.CommitTS != 0 {
			r.checkEffect(e)
		}
	}
	for _, c := range r.claims {
		r.checkClaim(c)
	}
	for _, g := range r.ranges {
		var want []history.Pair
		for k, value := range r.stateOf(g.rec, g.table, g.own, g.ts) {
			if g.within(parts(k, value)) {
				want = append(want, history.Pair{Key: k, Value: value})
			}
		}
		slices.SortFunc(want, func(a, b history.Pair) int { return strings.Compare(a.Key, b.Key) })
		if !slices.Equal(want, g.got) {
			r.found(WrongRange, "%s: at %s the index of %s gave %v, the table had %v", g.rec, g.ts,
				g.table, g.got, want)
		}
	}
}

func (r *run) checkEffect(e effect) {
	k := key(e.table, e.k)
	before, there := "", false
	if w, mine := e.rec.Own(e.own)[k]; mine {
		before, there = w.Value, !w.Delete
	} else if v := r.history.Truth.At(k, e.rec.CommitTS-1); v != nil && !v.Delete {
		before, there = v.Value, true
	}
	v := ""
	if there {
		_, v, _ = parts(k, before)
	}
	want, stays := e.to(e.k, v, there)
	if e.gone != "" {
		if e.gone != before || !stays {
			r.found(WrongEffect, "%s: deleted %s as %q, it was %q (%v)", e.rec, k, e.gone, before,
				stays)
		}
		return
	}
	_, got, _ := parts(k, e.rec.Writes[e.own].Value)
	if !stays || got != want {
		r.found(WrongEffect, "%s: of %s, which was %q, it made %q; should be %q (%v)", e.rec, k,
			before, got, want, stays)
	}
}

func (r *run) checkClaim(c claim) {
	moments := []tso.Timestamp{c.lo, c.hi}
	for k, list := range r.history.Truth {
		if !strings.HasPrefix(k, c.table+"/") {
			continue
		}
		for _, v := range list {
			if v.CommitTS > c.lo && v.CommitTS < c.hi {
				moments = append(moments, v.CommitTS)
			}
		}
	}
	for _, ts := range moments {
		exists := false
		for k, value := range r.stateOf(c.rec, c.table, c.own, ts) {
			exists = exists || c.match(parts(k, value))
		}
		if exists == c.exists {
			return
		}
	}
	r.found(WrongClaim, "%s: a row of %s is said to be there (%v), and was not so between %s and "+
		"%s", c.rec, c.table, c.exists, c.lo, c.hi)
}
