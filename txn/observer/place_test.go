package observer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/observer"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

// The rows of the first observer move: what stands for TRUNCATE gives them another place, and so
// does a rewrite, which writes them anew, in another encoding or under other keys.

// where is the value of the key place.
type where struct {
	n        int // of the place
	encoding int // begins each value
	epoch    int // of the keys: rows of two of them are not the same
}

var place = []byte("place")

func (w where) String() string { return fmt.Sprintf("%d %d %d", w.n, w.encoding, w.epoch) }

func parseWhere(value []byte) (w where, err error) {
	if value != nil {
		_, err = fmt.Sscan(string(value), &w.n, &w.encoding, &w.epoch)
	}
	return w, err
}

func whereIn(ctx context.Context, t *txn.Txn) (where, error) {
	value, err := t.Get(ctx, place)
	if err != nil {
		return where{}, err
	}
	return parseWhere(value)
}

// prefix begins the keys of a place: "a/" is the first one.
func prefix(n int) string {
	if n == 0 {
		return "a/"
	}
	return fmt.Sprintf("a%04d/", n)
}

func (w where) rows() kv.Span { return prefixSpan(prefix(w.n)) }

func prefixSpan(p string) kv.Span {
	return kv.Span{Start: []byte(p), End: kv.PrefixEnd([]byte(p))}
}

func (w where) target() observer.Target {
	o := upper
	o.Rows = w.rows()
	return o
}

// move gives the rows another place.
func (w *world) move(ctx context.Context, dice *rand.Rand) (err error) {
	tx, err := w.s.Begin(ctx, txn.BeginOptions{})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	tx.Validate(kv.Span{Start: registered, End: kv.Successor(registered)})
	known, err := tx.Get(ctx, registered)
	if err != nil {
		return err
	}
	from, err := whereIn(ctx, tx)
	if err != nil {
		return err
	}
	to := where{n: from.n + 1, encoding: from.encoding, epoch: from.epoch}
	rewrite := dice.IntN(2) == 0
	if rewrite && dice.IntN(2) == 0 {
		to.encoding++
	}
	if rewrite && dice.IntN(3) == 0 {
		to.epoch++
	}
	m := &observer.Move{Number: uint32(from.n), From: from.rows(), To: to.rows(),
		Keep: to.epoch == from.epoch, Dropped: from.rows().Start}
	if !m.Keep || to.encoding != from.encoding {
		m.Shape = []byte(from.String())
	}
	err = errors.Join(tx.DropSpan(m.From), tx.Set(place, []byte(to.String())))
	if err == nil && known != nil {
		o := from.target()
		err = o.Move(tx, m)
	}
	if err == nil && rewrite {
		err = copyRows(ctx, tx, from, to, dice)
	}
	if err == nil {
		err = tx.Commit(ctx)
	}
	return err
}

// copyRows writes the rows to their new place, those of some of them changed.
func copyRows(ctx context.Context, tx *txn.Txn, from, to where, dice *rand.Rand) error {
	tx.Validate(from.rows())
	it, err := tx.Scan(ctx, from.rows(), txn.ScanOptions{})
	if err != nil {
		return err
	}
	for err == nil && it.Next() {
		_, value, _ := strings.Cut(string(it.Value()), "|")
		if dice.IntN(2) == 0 {
			value += "+"
		}
		key := prefix(to.n) + string(it.Key()[len(prefix(from.n)):])
		err = tx.SetNew([]byte(key), fmt.Appendf(nil, "%d|%s", to.encoding, value))
	}
	return errors.Join(err, it.Err(), it.Close())
}

// checkImages holds that a run knows how its images are encoded.
func (w *world) checkImages(now where, c *observer.Change) {
	encoded := func(value []byte, in where) {
		if value != nil && !bytes.HasPrefix(value, fmt.Appendf(nil, "%d|", in.encoding)) {
			w.t.Errorf("%q: %q is not of %v", c.Key, value, in)
		}
	}
	encoded(c.Value, now)
	if c.Former == nil {
		encoded(c.Old, now)
		return
	}
	then, err := parseWhere(c.Former.Shape)
	require.NoError(w.t, err)
	if encoded(c.Old, then); !then.rows().Contains(c.Former.Key) ||
		!bytes.HasSuffix(c.Former.Key, c.Key[len(c.Key)-2:]) {
		w.t.Errorf("%q: its old key is not %q", c.Key, c.Former.Key)
	}
}

// fold makes one history of each row, whatever places it was in, under a key of upper.Rows.
func (h *history) fold() {
	moves := h.versions[string(place)]
	states := []where{{}}
	h.silent = map[tso.Timestamp]bool{}
	for _, v := range moves {
		h.silent[v.startTS] = true
		w, err := parseWhere([]byte(v.value))
		require.NoError(h.t, err)
		states = append(states, w)
	}
	name := func(key string) (to string, w where, ok bool) {
		row, limbo := upper.Limbo([]byte(key))
		if !limbo {
			row = []byte(key)
		}
		for _, w := range states {
			if w.rows().Contains(row) {
				return fmt.Sprintf("a/%d.%s", w.epoch, row[len(prefix(w.n)):]), w, true
			}
		}
		return "", where{}, false
	}
	folded := map[string][]version{}
	for i, w := range states { // in the order of the places
		for key, vs := range h.versions {
			if !w.rows().Contains([]byte(key)) {
				continue
			}
			to, _, _ := name(key)
			for _, v := range vs {
				// It had validated before the move, and has drawn its timestamp after it.
				if i < len(moves) {
					v.commitTS = min(v.commitTS, moves[i].commitTS)
				}
				folded[to] = append(folded[to], v)
			}
			if i < len(moves) && h.at(key, tso.Max) != "none" {
				keeps := w.epoch == states[i+1].epoch
				folded[to] = append(folded[to], h.gone(key, moves[i], states[i+1], keeps)...)
			}
		}
	}
	h.rename(folded, name)
	now := states[len(states)-1]
	state := h.state
	h.state = map[string]string{}
	for key, value := range state {
		row, ok := strings.CutPrefix(key, string(upper.StateAck(nil)))
		if to, w, known := name(row); ok && known && w == now {
			key = string(upper.StateAck([]byte(to)))
		}
		h.state[key] = value
		if strings.HasPrefix(key, "\x00hold") {
			h.t.Errorf("%s: %q still holds a place", h.what, key)
		}
	}
	h.notes = slices.DeleteFunc(h.notes, func(n note) bool {
		_, w, ok := name(n.key)
		_, limbo := upper.Limbo([]byte(n.key))
		return ok && !limbo && w != now // it goes with its span
	})
}

// rename takes the versions and the runs of rows over to their folded names.
func (h *history) rename(folded map[string][]version,
	name func(string) (string, where, bool)) {
	for key := range h.versions {
		if _, _, ok := name(key); ok {
			delete(h.versions, key)
		}
	}
	for key, vs := range folded {
		slices.SortStableFunc(vs, func(a, b version) int { return int(a.commitTS - b.commitTS) })
		h.versions[key] = vs
	}
	of := fmt.Sprintf("%d/", upper.ID)
	all := h.runs
	h.runs = map[string][]logged{}
	for row, runs := range all {
		key, ok := strings.CutPrefix(row, of)
		if to, _, known := name(key); ok && known {
			row = of + to
		}
		h.runs[row] = append(h.runs[row], runs...)
		slices.SortFunc(h.runs[row], func(a, b logged) int { return int(a.at - b.at) })
	}
}

// gone returns that a row went with its place, unless the transaction wrote it to the next one.
func (h *history) gone(key string, move version, to where, keeps bool) []version {
	if keeps {
		next := prefix(to.n) + key[strings.Index(key, "/")+1:]
		for _, v := range h.versions[next] {
			if v.startTS == move.startTS {
				return nil
			}
		}
	}
	return []version{{startTS: move.startTS, commitTS: move.commitTS, kind: mvcc.KindDelete,
		value: "none"}}
}

// rekeyed returns which transactions have given the rows other keys.
func (h *history) rekeyed() map[tso.Timestamp]bool {
	by, epoch := map[tso.Timestamp]bool{}, 0
	for _, v := range h.versions[string(place)] {
		w, err := parseWhere([]byte(v.value))
		require.NoError(h.t, err)
		by[v.startTS] = w.epoch != epoch
		epoch = w.epoch
	}
	return by
}

// unknown returns up to where a row need not be in any run after the last one: it was gone with its
// place before a backfill came to it, and nothing else happened to it.
func (h *history) unknown(vs []version, since, last tso.Timestamp) (upTo tso.Timestamp) {
	known := false
	for _, v := range vs {
		if v.commitTS <= last {
			known = v.value != "none" // the last run has seen that
			continue
		}
		// A writer that began before the observer was there has left no notification, even where
		// it validated before the observer's commit and drew its own timestamp after it. The
		// backfill answers for such a row, unless the row's place goes first.
		known = known || v.startTS > since && !h.silent[v.startTS]
		if v.value == "none" && v.kind != mvcc.KindLock && !known {
			upTo = v.commitTS
		}
		known = known && v.value != "none"
	}
	return upTo
}
