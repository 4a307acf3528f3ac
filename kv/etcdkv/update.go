package etcdkv

import (
	"context"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/minidb/minidb/kv"
)

// Update implements kv.Engine.
func (e *Engine) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	if e.closed.Load() {
		return kv.NotApplied(kv.ErrClosed)
	}
	if len(rows) > e.limits.Rows {
		return e.limits.Check(len(rows), new(kv.Batch))
	}
	for try := 0; ; try++ {
		if err := ctx.Err(); err != nil {
			return kv.NotApplied(err)
		}
		applied, err := e.attempt(ctx, rows, step)
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

// attempt runs the step once, and applies its batch unless a row has changed meanwhile.
func (e *Engine) attempt(ctx context.Context, rows [][]byte, step kv.Step) (applied bool,
	err error) {
	r := &stepReader{reader: reader{e: e}, rows: map[string]*[256]bool{}}
	for _, row := range rows {
		r.rows[string(row)] = new([256]bool)
	}
	if prefixes := append(prefixesOf(rows, e.ofSteps.families()),
		e.ofSteps.favourites.list()...); len(prefixes) > 0 {
		r.known, err = r.readAhead(ctx, prefixes)
		if errors.Is(err, kv.ErrSnapshotGone) {
			return false, nil
		} else if err != nil {
			return false, kv.NotApplied(err)
		}
	}
	var b kv.Batch
	err = step(r, &b)
	for _, read := range r.rows {
		e.ofSteps.note(read)
	}
	e.ofSteps.favourites.note(r.noted)
	switch {
	case errors.Is(r.failed, kv.ErrSnapshotGone):
		return false, nil // the revision was compacted: it took too long
	case r.failed != nil:
		return false, kv.NotApplied(r.failed)
	case err != nil:
		return false, err
	}
	if err := b.CheckRows(rows); err != nil {
		return false, err
	}
	if err := e.limits.Check(len(rows), &b); err != nil {
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
	return e.send(ctx, r.rev, rows, &b)
}

// send applies a batch unless a row was written since a revision.
func (e *Engine) send(ctx context.Context, since int64, rows [][]byte, b *kv.Batch) (bool, error) {
	var conditions []clientv3.Cmp
	named := map[string]bool{}
	for _, row := range rows {
		if guard := e.names.guard(row); !named[guard] {
			named[guard] = true
			conditions = append(conditions,
				clientv3.Compare(clientv3.ModRevision(guard), "<", since+1))
		}
	}
	if err := ctx.Err(); err != nil {
		return false, kv.NotApplied(err)
	}
	once, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.o.Try)
	defer cancel()
	e.transactions.Add(1)
	got, err := e.c.Txn(once).If(conditions...).Then(e.writes(b)...).Commit()
	if err != nil {
		return false, updateError(err)
	}
	return got.Succeeded, nil
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

// stepReader is the reader of a step. Its failures are those of the engine, whatever the step makes
// of them.
type stepReader struct {
	reader
	rows   map[string]*[256]bool // the named ones, with the families in which they were read
	failed error
}

func (s *stepReader) note(err error) error {
	if err != nil && s.failed == nil {
		s.failed = err
	}
	return err
}

// reads notes that a key is read, or what follows it in its prefix.
func (s *stepReader) reads(key []byte) {
	if read := s.rows[string(kv.Row(key))]; read != nil && len(key) > 0 {
		read[key[0]] = true
	} else if read == nil {
		s.noted.add(key, s.known.of(key))
	}
}

func (s *stepReader) Get(ctx context.Context, key []byte) ([]byte, error) {
	s.reads(key)
	value, err := s.reader.Get(ctx, key)
	return value, s.note(err)
}

func (s *stepReader) NewIter(ctx context.Context, span kv.Span) (kv.Iterator, error) {
	it := &stepIterator{iterator: iterator{r: &s.reader, ctx: ctx, span: span}, s: s}
	it.failed = func(err error) { _ = s.note(err) }
	return it, s.note(ctx.Err())
}

// stepIterator is an iterator of a step.
type stepIterator struct {
	iterator
	s *stepReader
}

func (i *stepIterator) SeekPrefixGE(key []byte) bool {
	i.s.reads(key)
	return i.iterator.SeekPrefixGE(key)
}
