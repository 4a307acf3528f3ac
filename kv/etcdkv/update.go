package etcdkv

import (
	"context"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/minidb/minidb/kv"
)

// Update implements kv.Engine.
func (e *Engine) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	u := update{e: e, rows: rows, step: step}
	return u.run(ctx)
}

// UpdateShown implements kv.Shower. With the answer come the cells that most of its callers read
// then.
func (e *Engine) UpdateShown(ctx context.Context, rows [][]byte,
	step kv.Step) (kv.Snapshot, error) {
	u := update{e: e, rows: rows, step: step, shows: true}
	if err := u.run(ctx); err != nil || u.shown == nil {
		return nil, err
	}
	return u.shown, nil
}

// update is one call.
type update struct {
	e    *Engine
	rows [][]byte
	step kv.Step

	shows bool
	shown *reader
}

func (u *update) run(ctx context.Context) error {
	e := u.e
	if e.closed.Load() {
		return kv.NotApplied(kv.ErrClosed)
	}
	if len(u.rows) > e.limits.Rows {
		return e.limits.Check(len(u.rows), new(kv.Batch))
	}
	if applied, err := u.guess(ctx); applied || err != nil {
		return err
	}
	for try := 0; ; try++ {
		if err := ctx.Err(); err != nil {
			return kv.NotApplied(err)
		}
		applied, err := u.attempt(ctx)
		if applied || err != nil {
			return err
		}
		if try < 2 {
			continue
		}
		if err := pause(ctx, try-2); err != nil { // others write the same rows
			return kv.NotApplied(err)
		}
	}
}

// guess runs the step on what is remembered, if that is enough, and applies its batch unless a row
// has changed since.
func (u *update) guess(ctx context.Context) (applied bool, err error) {
	known := u.e.recall(u.rows)
	if known == nil {
		return false, nil
	}
	r := &stepReader{reader: reader{e: u.e, recall: known}}
	var b kv.Batch
	// A run that fails or writes nothing was perhaps shown what is no more.
	if err := u.step(r, &b); err != nil || r.failed != nil || b.Empty() {
		return false, nil
	}
	unchanged := known.revisions()
	if u.check(&b) != nil || len(unchanged) > u.e.o.MaxOps {
		return false, nil
	}
	applied, err = u.send(ctx, unchanged, known.shown(), &b)
	if known.news && err == nil {
		u.e.news.note(applied)
	}
	if applied {
		known.noteRead(&u.e.ofSnapshots.habits)
	}
	return applied, err
}

// attempt runs the step once on what there is now, and applies its batch unless a row has changed
// meanwhile.
func (u *update) attempt(ctx context.Context) (applied bool, err error) {
	e := u.e
	r := &stepReader{reader: reader{e: e}, rows: map[string]*[256]bool{}}
	for _, row := range u.rows {
		r.rows[string(row)] = new([256]bool)
	}
	if prefixes := append(prefixesOf(u.rows, e.ofSteps.families()),
		e.ofSteps.favourites.list()...); len(prefixes) > 0 {
		r.known, err = r.readAhead(ctx, prefixes)
		if errors.Is(err, kv.ErrSnapshotGone) {
			return false, nil
		} else if err != nil {
			return false, kv.NotApplied(err)
		}
	}
	var b kv.Batch
	err = u.step(r, &b)
	e.noteStep(r)
	switch {
	case errors.Is(r.failed, kv.ErrSnapshotGone):
		return false, nil // the revision was compacted: it took too long
	case r.failed != nil:
		return false, kv.NotApplied(r.failed)
	case err != nil:
		return false, err
	}
	if err := u.check(&b); err != nil {
		return false, err
	}
	if b.Empty() {
		return true, nil
	}
	if r.rev == 0 { // else it could be applied after a later update of the rows
		if _, err := r.count(ctx, nil, []byte{0}); err != nil {
			return false, kv.NotApplied(err)
		}
	}
	unchanged := make(map[string]int64, len(r.rows))
	for row := range r.rows {
		unchanged[row] = r.rev
	}
	return u.send(ctx, unchanged, r.known.byRow(r.rows), &b)
}

// check refuses a batch that the cluster would not take.
func (u *update) check(b *kv.Batch) error {
	if err := b.CheckRows(u.rows); err != nil {
		return err
	}
	return u.e.limits.Check(len(u.rows), b)
}

// send applies a batch unless one of some rows was written since the revision that it has. before
// is what the rows were like at that revision.
func (u *update) send(ctx context.Context, unchanged map[string]int64,
	before map[string]map[byte]*block, b *kv.Batch) (applied bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, kv.NotApplied(err)
	}
	e := u.e
	conditions := make([]clientv3.Cmp, 0, len(unchanged))
	for row, since := range unchanged {
		conditions = append(conditions,
			clientv3.Compare(clientv3.ModRevision(e.names.guard([]byte(row))), "<", since+1))
	}
	ops := e.writes(b)
	writes, reads := len(ops), e.toShow(u.shows, len(ops))
	for _, prefix := range reads {
		ops = append(ops, e.rangeOp(prefix, kv.PrefixEnd(prefix), 0, cellsAhead))
	}
	once, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.o.Try)
	defer cancel()
	e.transactions.Add(1)
	got, err := e.c.Txn(once).If(conditions...).Then(ops...).Commit()
	if err != nil {
		return false, updateError(err)
	}
	if !got.Succeeded {
		return false, nil
	}
	e.memory.noteWritten(got.Header.Revision, before, b)
	if u.shows {
		u.shown = &reader{e: e, rev: got.Header.Revision, habits: &e.ofSnapshots.habits,
			favours: &e.ofShown}
		u.shown.take(reads, nil, u.shown.aheadOf(reads, got.Responses[writes:]))
	}
	return true, nil
}

// toShow returns the prefixes that are read with the answer to an update of some operations.
func (e *Engine) toShow(shows bool, ops int) [][]byte {
	if !shows {
		return nil
	}
	all := e.ofShown.list()
	return all[:max(0, min(len(all), e.o.MaxOps-ops))]
}

// writes returns the operations of a batch: the last one of each key, for etcd takes no key twice,
// and the guards of its rows.
func (e *Engine) writes(b *kv.Batch) []clientv3.Op {
	last, guards := map[string]int{}, map[string]bool{}
	var ops []clientv3.Op
	for i := range b.Len() {
		key, value, deleted := b.Op(i)
		name := e.names.cell(key)
		op := clientv3.OpPut(name, string(value))
		if deleted {
			op = clientv3.OpDelete(name)
		}
		if at, found := last[name]; found {
			ops[at] = op
			continue
		}
		last[name] = len(ops)
		ops = append(ops, op)
		if guard := e.names.guard(kv.Row(key)); !guards[guard] {
			guards[guard] = true
			ops = append(ops, clientv3.OpPut(guard, ""))
		}
	}
	return ops
}
