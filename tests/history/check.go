package history

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
)

// Check holds a history to its truth and returns all that is wrong with it.
func Check(h *History) []Violation {
	c := &checker{h: h, found: slices.Clone(h.Found), byStart: map[tso.Timestamp]*Record{}}
	c.order()
	c.commits()
	for _, r := range h.Records {
		c.reads(r)
	}
	c.updates()
	c.locks()
	if h.Serializable {
		c.cycles()
	}
	return c.found
}

type checker struct {
	h       *History
	found   []Violation
	byStart map[tso.Timestamp]*Record
}

func (c *checker) report(v Verdict, format string, args ...any) {
	c.found = append(c.found, Violation{v, fmt.Sprintf(format, args...)})
}

// order checks that no timestamp was given twice, that commits lie above their starts, and that a
// transaction, or a statement of READ COMMITTED, which began after another was acknowledged is
// above it.
func (c *checker) order() {
	given := map[tso.Timestamp]string{}
	give := func(ts tso.Timestamp, what string) {
		if other, again := given[ts]; again && other != what {
			c.report(BrokenOrder, "timestamp %s is the %s and the %s", ts, other, what)
		}
		given[ts] = what
	}
	type event struct {
		at int
		ts tso.Timestamp // of what began; zero of what ended
		of *Record
	}
	var events []event
	for _, r := range c.h.Records {
		if r.StartTS == 0 || r.Historical {
			continue
		}
		c.byStart[r.StartTS] = r
		give(r.StartTS, "start of "+r.Name)
		events = append(events, event{at: r.Began, ts: r.StartTS, of: r})
		for _, s := range r.Statements {
			events = append(events, event{at: s.Began, ts: s.TS, of: r})
			if s.TS != r.StartTS {
				give(s.TS, "a statement of "+r.Name)
			}
		}
		if r.Outcome != Committed {
			continue
		}
		if r.CommitTS != 0 {
			give(r.CommitTS, "commit of "+r.Name)
			if r.CommitTS <= r.StartTS {
				c.report(BrokenOrder, "%s: commit at or below start", r)
			}
		}
		events = append(events, event{at: r.Ended, of: r})
	}
	sort.Slice(events, func(i, j int) bool { return events[i].at < events[j].at })
	var high tso.Timestamp
	var by *Record
	for _, e := range events {
		switch {
		case e.ts == 0:
			if ts := max(e.of.StartTS, e.of.CommitTS); ts > high {
				high, by = ts, e.of
			}
		case e.ts <= high:
			c.report(BrokenOrder, "%s read at %s after %s was acknowledged, which is above that",
				e.of, e.ts, by)
		}
	}
}

// commits compares the records of each transaction with what it wrote and the result it received.
func (c *checker) commits() {
	versions := map[tso.Timestamp]map[string][]Version{}
	for _, k := range c.h.Truth.Keys() {
		for _, v := range c.h.Truth[k] {
			if versions[v.StartTS] == nil {
				versions[v.StartTS] = map[string][]Version{}
			}
			versions[v.StartTS][k] = append(versions[v.StartTS][k], v)
			if c.byStart[v.StartTS] == nil {
				c.report(WrongWrite, "key %q at %s: no transaction started at %s", k, v.CommitTS,
					v.StartTS)
			}
		}
	}
	for _, r := range c.h.Records {
		if r.StartTS != 0 && !r.Historical {
			c.commit(r, versions[r.StartTS])
		}
	}
}

func (c *checker) commit(r *Record, got map[string][]Version) {
	want := r.final()
	var missing []string
	times := map[tso.Timestamp]bool{}
	for k, w := range want {
		list := got[k]
		for _, v := range list {
			times[v.CommitTS] = true
		}
		switch {
		case len(list) == 0:
			missing = append(missing, k)
		case len(list) > 1:
			c.report(DuplicateCommit, "%s: key %q has %d versions", r, k, len(list))
		case list[0].Delete != w.Delete || list[0].Value != w.Value:
			c.report(WrongWrite, "%s: key %q is %q, was written as %q", r, k, list[0].Value,
				w.Value)
		}
	}
	for k := range got {
		if _, ok := want[k]; !ok {
			c.report(WrongWrite, "%s: key %q was not written by it", r, k)
		}
	}
	sort.Strings(missing)
	switch {
	case len(got) == 0 && r.Outcome != Committed:
	case r.Outcome == Aborted:
		c.report(RisenAbort, "%s: %v, and %d keys are there", r, r.Err, len(got))
	case len(missing) == len(want) && len(want) > 0:
		c.report(LostCommit, "%s: nothing is there", r)
	case len(missing) > 0:
		c.report(TornCommit, "%s: of %d keys %q are missing", r, len(want), missing)
	}
	if len(times) > 1 {
		c.report(DuplicateCommit, "%s: its keys have %d timestamps", r, len(times))
	}
	for ts := range times {
		if r.Outcome == Committed && ts != r.CommitTS {
			c.report(DuplicateCommit, "%s: its keys lie at %s", r, ts)
		}
	}
}

// reads recomputes what a transaction should have read.
func (c *checker) reads(r *Record) {
	for _, read := range r.Reads {
		if read.TS != r.StartTS && !r.ReadCommitted {
			c.report(BrokenOrder, "%s: read at %s", r, read.TS)
		}
		own := r.Own(read.Own)
		got := map[string]string{}
		for i, p := range read.Got {
			got[p.Key] = p.Value
			if i > 0 && (p.Key > read.Got[i-1].Key) == read.Reverse {
				c.report(DirtyRead, "%s: the scan from %q came out of order", r, read.Span.Start)
			}
		}
		keys := []string{read.Key}
		if read.Span != nil {
			keys = c.keysIn(read, own, got)
		}
		for _, k := range keys {
			c.readOf(r, read.TS, k, own, got)
		}
	}
}

// keysIn returns every key of the span of a read that any transaction has written or seen.
func (c *checker) keysIn(read Read, own map[string]Write, got map[string]string) []string {
	in := map[string]bool{}
	for k := range c.h.Truth {
		in[k] = true
	}
	for k := range own {
		in[k] = true
	}
	var out []string
	for k := range in {
		if read.Span.Contains([]byte(k)) {
			out = append(out, k)
		}
	}
	for k := range got {
		if !in[k] || !read.Span.Contains([]byte(k)) {
			out = append(out, k)
		}
	}
	sort.Strings(out)
	return out
}

func (c *checker) readOf(r *Record, ts tso.Timestamp, k string, own map[string]Write,
	got map[string]string) {
	value, found := got[k]
	if w, ok := own[k]; ok {
		if found == w.Delete || value != w.Value {
			c.report(DirtyRead, "%s: its own write of %q reads %q", r, k, value)
		}
		return
	}
	want := c.h.Truth.At(k, ts)
	switch {
	case want == nil || want.Delete:
		if !found {
			return
		}
	case found && value == want.Value:
		return
	}
	var wantTS tso.Timestamp
	if want != nil {
		wantTS = want.CommitTS
	}
	if !found {
		c.report(StaleRead, "%s: %q was found absent at %s, and is %s", r, k, ts, brief(want))
		return
	}
	for _, v := range c.h.Truth[k] {
		if v.Delete || v.Value != value {
			continue
		}
		verdict := StaleRead
		if v.CommitTS > wantTS {
			verdict = FutureRead
		}
		c.report(verdict, "%s: %q read at %s is %s, should be %s", r, k, ts, brief(&v), brief(want))
		return
	}
	c.report(DirtyRead, "%s: %q read %.40q, which nobody committed; should be %s", r, k, value,
		brief(want))
}

func brief(v *Version) string {
	if v == nil {
		return "absent"
	}
	value := strings.TrimRight(v.Value, "-")
	if len(value) > 40 {
		value = "…" + value[len(value)-40:]
	}
	return fmt.Sprintf("%q of [%s, %s]", value, v.StartTS, v.CommitTS)
}

// updates checks that no transaction wrote a key between what a write of it was based on and its
// commit, which for snapshots is the first-committer rule, and that no insert met a living value.
func (c *checker) updates() {
	for _, k := range c.h.Truth.Keys() {
		list := c.h.Truth[k]
		for i, v := range list {
			r := c.byStart[v.StartTS]
			if r == nil {
				continue
			}
			w := r.final()[k]
			if i > 0 && list[i-1].CommitTS > w.Base && list[i-1].StartTS != v.StartTS {
				c.report(LostUpdate, "key %q: %s wrote on what was there at %s, before %s", k, r,
					w.Base, brief(&list[i-1]))
			}
			if w.Insert && i > 0 && !list[i-1].Delete {
				c.report(DuplicateInsert, "key %q: %s inserted over %s", k, r, brief(&list[i-1]))
			}
		}
	}
}

// locks checks that no other transaction wrote a key while one held its row lock: such a
// transaction would learn it at its commit. A transaction that outlives its lease loses its locks.
func (c *checker) locks() {
	for _, r := range c.h.Records {
		var conflict *txn.WriteConflictError
		if !errors.As(r.Err, &conflict) {
			continue
		}
		for _, l := range r.Locks {
			if l.Key != string(conflict.Key) || conflict.ConflictTS <= l.TS {
				continue
			}
			for _, v := range c.h.Truth[l.Key] {
				if v.CommitTS == conflict.ConflictTS && v.CommitTS < l.Until {
					c.report(StolenLock, "key %q: %s had locked it as it was at %s; then came %s",
						l.Key, r, l.TS, brief(&v))
				}
			}
		}
	}
}
