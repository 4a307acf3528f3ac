package shared

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/lease"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
	"github.com/minidb/minidb/txn/wait"
)

// What a process publishes of its waits, for the search for deadlock cycles (wait_graph.go). Each
// wait has a cell, which is written once. While the wait goes on, the number of the publication in
// the session's record means that the blockers were checked again. So a publication costs only what
// has changed since the last one.

// publication is what the store has of this process's waits.
type publication struct {
	turn   turn              // held while cells are written
	number atomic.Uint64     // the last one whose cells are in the store
	cells  map[string]string // by key; an empty value is not known
}

// publishWaits brings the cells up to date: all waits while a transaction searches for deadlock
// cycles, and otherwise none. The record of the session, which is written after it, then has the
// new number.
func (p *Peers) publishWaits(ctx context.Context) error {
	pub := &p.publication
	if err := pub.turn.take(ctx); err != nil {
		return err
	}
	defer pub.turn.leave()
	number := pub.number.Load() + 1
	want := map[string]string{}
	for _, w := range p.waitsNow(number) {
		want[string(w.CellKey())] = string(w.Cell())
	}
	if len(want)+len(pub.cells) == 0 {
		return nil
	}
	groups := map[uint64][]string{}
	change := func(key string) {
		g := kv.GroupOf(p.o.Engine, kv.Row([]byte(key)))
		groups[g] = append(groups[g], key)
	}
	for key, value := range want {
		if pub.cells[key] != value {
			change(key)
		}
	}
	for key := range pub.cells {
		if _, stays := want[key]; !stays {
			change(key)
		}
	}
	for _, keys := range groups {
		err := kv.InParts(p.o.Limits, keys,
			func(part []string) error { return p.writeWaits(ctx, part, want) })
		if err != nil {
			return err
		}
	}
	pub.number.Store(number)
	return nil
}

// writeWaits writes the cells of one group that are wanted, and removes the others. Requires: the
// publication is locked.
func (p *Peers) writeWaits(ctx context.Context, keys []string, want map[string]string) error {
	cells := &p.publication.cells
	if *cells == nil {
		*cells = map[string]string{}
	}
	rows := make([][]byte, len(keys))
	for i, key := range keys {
		rows[i] = kv.Row([]byte(key))
		(*cells)[key] = "" // until it is known
	}
	for attempts := 1; ; attempts++ {
		unknown, err := kv.AttemptLazy(ctx, p.o.Engine, rows, func(_ kv.Reader, b *kv.Batch) error {
			for _, key := range keys {
				if value, wanted := want[key]; wanted {
					b.Set([]byte(key), []byte(value))
				} else {
					b.Delete([]byte(key))
				}
			}
			return nil
		})
		if err == nil {
			break
		}
		if !unknown || attempts == wait.UnknownAttempts || ctx.Err() != nil {
			return err
		}
	}
	for _, key := range keys {
		if value, wanted := want[key]; wanted {
			(*cells)[key] = value
		} else {
			delete(*cells, key)
		}
	}
	return nil
}

// waitsNow lists the waits of this process, in memory and in the store, for a publication: none
// while no transaction searches for deadlock cycles.
func (p *Peers) waitsNow(number uint64) []lease.Wait {
	out, elsewhere := p.storeWaits(number)
	if len(out) == 0 {
		return nil
	}
	owner := p.SessionID()
	for _, e := range p.o.RowLocks.Edges(
		func(n uint64) bool { return elsewhere[tso.Timestamp(n)] }) {
		w := lease.Wait{
			Waiter: tso.Timestamp(e.Transaction), ID: uint64(e.Since.UnixNano()), Owner: owner,
			Key: e.Key, Mode: uint8(e.Mode), Client: uint64(e.Owner),
		}
		for _, b := range e.Blockers {
			w.Blockers = append(w.Blockers, tso.Timestamp(b))
		}
		out = append(out, w)
		elsewhere[w.Waiter] = true
	}
	p.waits.mu.Lock()
	defer p.waits.mu.Unlock()
	return append(out, p.waits.clientEdges(owner, elsewhere)...)
}

// storeWaits returns the waits for locks in the store, and their transactions: of a client that
// waits for a session lock, its transaction too. A wait that has not
// checked its blockers since the last publication is left unconfirmed until the next one.
func (p *Peers) storeWaits(number uint64) (out []lease.Wait, waiters map[tso.Timestamp]bool) {
	owner := p.SessionID()
	p.waits.mu.Lock()
	defer p.waits.mu.Unlock()
	if p.waits.searching == 0 {
		return nil, nil
	}
	waiters = map[tso.Timestamp]bool{}
	for w := range p.waits.all {
		if w.seen == w.looks {
			w.from = number + 1
		}
		w.seen = w.looks
		waiters[w.StartTS] = true
		out = append(out, lease.Wait{
			Waiter: w.StartTS, ID: w.id, Owner: owner, From: w.from, Searches: w.searches,
			Stored: true,
			Key:    w.Key, Mode: uint8(w.Mode), Place: w.place, Client: w.Client,
			Statement: mvcc.CutStatement(w.by.Statement),
		})
	}
	for s := range p.waits.clients {
		if waiters[s.l.startTS] {
			waiters[tso.Timestamp(s.owner.Transaction())] = true
		}
	}
	return out, waiters
}

// dropDeadWaits is part of a collection: waits of sessions that have ended, or that go on without
// the transaction.
func (p *Peers) dropDeadWaits(ctx context.Context) (err error) {
	snap, err := kv.Latest(p.o.Engine)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, snap.Close()) }()
	waits, err := lease.NewWaits(ctx, snap)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, waits.Close()) }()
	oldest := map[uint64]tso.Timestamp{}
	return waits.All(func(w lease.Wait) error {
		bound, known := oldest[w.Owner]
		if !known {
			if bound, err = p.OldestOf(ctx, w.Owner); err != nil {
				return err
			}
			oldest[w.Owner] = bound
		}
		if w.Waiter >= bound {
			return nil
		}
		key := w.CellKey()
		return kv.UpdateLazy(ctx, p.o.Engine, [][]byte{kv.Row(key)},
			func(_ kv.Reader, b *kv.Batch) error {
				b.Delete(key)
				return nil
			})
	})
}
