package observer_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/mvcc/mvcctest"
	"github.com/minidb/minidb/txn/observer"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

// version is what one transaction has committed on a key.
type version struct {
	startTS, commitTS tso.Timestamp
	kind              mvcc.Kind
	value             string // none of a delete
}

// logged is a run as its own transaction has written it down.
type logged struct {
	previous, at, origin tso.Timestamp
	generation           uint32
	before, after        string
}

// cause returns why a change was made: its origin and its generation.
type cause func(v version) (because logged, known bool)

// history is all that a store without running transactions has in it: what was committed, and what
// observers wrote down.
type history struct {
	t        testing.TB
	what     string
	versions map[string][]version
	state    map[string]string // of the observers, as it is now
	runs     map[string][]logged
	notes    []note
	// silent are the transactions that have left no notification of what they did to the row.
	silent map[tso.Timestamp]bool
}

// note is a notification that is left.
type note struct {
	key string
	of  uint32
}

// logKey is where a run writes itself down.
func logKey(o *observer.Target, c *observer.Change) []byte {
	return binary.BigEndian.AppendUint64(fmt.Appendf(nil, "log/%d/%s/", o.ID, c.Key), uint64(c.At))
}

func logValue(c *observer.Change) []byte {
	return fmt.Appendf(nil, "%d %d %d %d %s>%s", c.Previous, c.At, c.Origin, c.Generation,
		text(c.Old), text(c.Value))
}

// readHistory settles the locks of a store, holds it to mvcc's invariants, and reads all of it.
func readHistory(t testing.TB, s *txn.Store, what string) *history {
	_, err := s.SettleLocks(ctx)
	require.NoError(t, err, what)
	h := &history{t: t, what: what, versions: map[string][]version{}, state: map[string]string{},
		runs: map[string][]logged{}}
	snap, err := kv.Latest(s.Engine())
	require.NoError(t, err)
	require.NoError(t, mvcctest.Check(ctx, snap,
		func(problem string) { t.Errorf("%s: %s", what, problem) }))
	require.NoError(t, mvcc.Keys(ctx, snap, kv.Span{}, func(key []byte, cells []mvcc.Cell) error {
		h.add(string(key), cells)
		return nil
	}))
	require.NoError(t, snap.Close())
	for key, vs := range h.versions {
		if !strings.HasPrefix(key, "log/") {
			continue
		}
		require.Len(t, vs, 1, "%s: %q: a run is logged once", what, key)
		r := logged{}
		_, err := fmt.Sscan(vs[0].value, &r.previous, &r.at, &r.origin, &r.generation, &r.after)
		require.NoError(t, err, "%s: %q", what, vs[0].value)
		r.before, r.after, _ = cutValues(r.after)
		row := key[len("log/") : len(key)-9]
		h.runs[row] = append(h.runs[row], r)
	}
	for _, runs := range h.runs {
		slices.SortFunc(runs, func(a, b logged) int { return cmp.Compare(a.at, b.at) })
	}
	return h
}

// add reads the cells of a key.
func (h *history) add(key string, cells []mvcc.Cell) {
	data := map[tso.Timestamp]string{}
	for i := range cells {
		switch c := &cells[i]; c.Column {
		case mvcc.ColumnData:
			data[c.TS] = string(c.Value)
		case mvcc.ColumnLock:
			h.t.Errorf("%s: lock on %q of %s", h.what, key, c.Lock.StartTS)
		case mvcc.ColumnNotify:
			h.notes = append(h.notes, note{key, c.Notification.Observer})
		}
	}
	for i := range cells {
		c := &cells[i]
		if c.Column != mvcc.ColumnWrite || c.Write.Kind == mvcc.KindRollback {
			continue
		}
		v := version{startTS: c.Write.StartTS, commitTS: c.TS, kind: c.Write.Kind, value: "none"}
		if v.kind == mvcc.KindPut {
			v.value = string(c.Write.Short)
			if !c.Write.HasShort {
				v.value = data[v.startTS]
			}
		}
		h.versions[key] = append(h.versions[key], v)
	}
	slices.SortFunc(h.versions[key], func(a, b version) int {
		return cmp.Compare(a.commitTS, b.commitTS)
	})
	if now := h.at(key, tso.Max); now != "none" {
		h.state[key] = now
	}
}

// at returns the value of a key at a timestamp.
func (h *history) at(key string, ts tso.Timestamp) string {
	value := "none"
	for _, v := range h.versions[key] {
		if v.commitTS <= ts && v.kind != mvcc.KindLock {
			value = v.value
		}
	}
	return value
}

// check holds that every committed change of the observer's rows is in exactly one run's (previous,
// at], that each run was given the row as it was at both, and that nothing is left but the
// acknowledgements of the rows that are there. since is the commit_ts of the observer; rows that
// were gone by then do not concern it. cause returns origin and generation of a change, if
// they are known.
func (h *history) check(o *observer.Target, since tso.Timestamp, cause cause) {
	require.Empty(h.t, h.notes, "%s: notifications", h.what)
	state := map[string]string{}
	for key, vs := range h.versions {
		if !o.Rows.Contains([]byte(key)) {
			continue
		}
		runs := h.runs[fmt.Sprintf("%d/%s", o.ID, key)]
		last := tso.Timestamp(0)
		for i, r := range runs {
			h.checkRun(key, vs, runs[:i], r, cause)
			last = r.at
		}
		unknown := h.unknown(vs, since, last)
		for _, v := range vs {
			before := v.commitTS <= since && h.at(key, since) == "none"
			if v.commitTS > last && v.kind != mvcc.KindLock && !before && v.commitTS > unknown {
				h.t.Errorf("%s: %q: change at %d is in no run; runs %v, changes %v", h.what, key,
					v.commitTS, runs, vs)
			}
		}
		if h.at(key, tso.Max) != "none" {
			state[string(o.StateAck([]byte(key)))] =
				string(binary.BigEndian.AppendUint64(nil, uint64(last)))
		}
	}
	for key, value := range h.state {
		if bytes.HasPrefix([]byte(key), o.State) && state[key] != value && value != "" {
			h.t.Errorf("%s: state %q=%x, and not %x", h.what, key, value, state[key])
		}
		delete(state, key)
	}
	require.Empty(h.t, state, "%s: acknowledgements that are missing", h.what)
}

// checkRun holds one run against the changes of its row, given the runs before it.
func (h *history) checkRun(key string, vs []version, before []logged, r logged, cause cause) {
	last := logged{after: "none"}
	if len(before) > 0 {
		last = before[len(before)-1]
	}
	complain := func(what string) {
		h.t.Errorf("%s: %q: %s: run %+v after %+v, changes %v", h.what, key, what, r, last, vs)
	}
	forgotten := last.after == "none" && r.previous == 0
	if r.previous != last.at && !forgotten || r.at <= last.at {
		complain("it does not follow the last one")
	}
	if r.before != last.after {
		complain("the old image is not what the last run saw")
	}
	if r.after != h.at(key, r.at) {
		complain("the row is not as it was at the snapshot")
	}
	var of []version
	for _, v := range vs {
		if v.commitTS > last.at && v.commitTS <= r.at {
			of = append(of, v)
		}
	}
	if len(of) == 0 {
		complain("it has no change")
		return
	}
	h.checkCause(of, r, cause, complain)
}

// checkCause holds that a run has the lowest origin and generation of its changes. Of one that was
// taken back in the middle of its transaction there may be a notification or none.
func (h *history) checkCause(of []version, r logged, cause cause, complain func(string)) {
	var lowest, certain logged
	for _, v := range of {
		c, known := cause(v)
		if !known {
			return
		}
		if lowest.origin == 0 || c.origin < lowest.origin {
			lowest = c
		}
		if v.kind != mvcc.KindLock && (certain.origin == 0 || c.origin < certain.origin) {
			certain = c
		}
	}
	if r.origin < lowest.origin || certain.origin != 0 && r.origin > certain.origin {
		complain(fmt.Sprintf("its origin is not between %d and %d", lowest.origin, certain.origin))
	}
	if r.generation != lowest.generation {
		complain("its generation is another one")
	}
}
