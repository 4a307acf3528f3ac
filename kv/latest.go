package kv

import (
	"bytes"
	"context"
	"errors"
)

// Latest returns a Reader for walks that may be long and need no single state: when the engine
// gives up the snapshot that it reads, it goes on in a new one. Each key is shown as it was at some
// moment after the call, and an iterator passes every key that was there all the while.
func Latest(e Engine) (Snapshot, error) {
	s, err := e.Snapshot()
	if err != nil || IsExclusive(e) {
		return s, err
	}
	return LatestFrom(e, s), nil
}

// LatestFrom is Latest that begins in a snapshot, and closes it.
func LatestFrom(e Engine, s Snapshot) Snapshot { return &latest{e: e, now: &held{Snapshot: s}} }

// latest is the reader that Latest returns.
type latest struct {
	e   Engine
	now *held
}

// held is a snapshot that is closed when it is given up and no iterator is open on it.
type held struct {
	Snapshot
	iterators int
	gone      bool
}

func (h *held) release() error {
	if h.gone && h.iterators == 0 {
		return h.Close()
	}
	return nil
}

// renew takes a new snapshot if err says that the present one is gone, and otherwise returns err.
func (l *latest) renew(err error) error {
	if !errors.Is(err, ErrSnapshotGone) {
		return err
	}
	s, err := l.e.Snapshot()
	if err != nil {
		return err
	}
	old := l.now
	old.gone, l.now = true, &held{Snapshot: s}
	return old.release()
}

func (l *latest) Get(ctx context.Context, key []byte) ([]byte, error) {
	for {
		value, err := l.now.Get(ctx, key)
		if err == nil {
			return value, nil
		}
		if err := l.renew(err); err != nil {
			return nil, err
		}
	}
}

func (l *latest) NewIter(ctx context.Context, span Span) (Iterator, error) {
	it := &latestIter{l: l, ctx: ctx, span: span}
	if err := it.open(); err != nil {
		return nil, err
	}
	return it, nil
}

func (l *latest) Close() error { return l.now.Close() }

// latestIter is an iterator that goes on where it was when its snapshot is gone.
type latestIter struct {
	Iterator
	l      *latest
	ctx    context.Context
	span   Span
	of     *held  // whose iterator it is
	prefix bool   // it stays within one
	at     []byte // the key that it is on
	err    error  // why there is no iterator
}

// open opens an iterator of the present snapshot.
func (i *latestIter) open() error {
	for {
		it, err := i.l.now.NewIter(i.ctx, i.span)
		if err == nil {
			i.Iterator, i.of = it, i.l.now
			i.of.iterators++
			return nil
		}
		if err := i.l.renew(err); err != nil {
			return err
		}
	}
}

// move makes a move, and while the snapshot is gone, again, the same move of a new iterator, which
// is on no key: at is the key that the old one was on.
func (i *latestIter) move(first func() bool, again func(at []byte) bool) bool {
	if i.err != nil {
		return false
	}
	ok := first()
	for !ok && errors.Is(i.Iterator.Err(), ErrSnapshotGone) {
		gone := i.Iterator.Err()
		if i.err = i.close(); i.err == nil && i.of == i.l.now {
			i.err = i.l.renew(gone)
		}
		if i.err == nil {
			i.err = i.open()
		}
		if i.err != nil {
			return false
		}
		ok = again(i.at)
	}
	if ok {
		i.at = append(i.at[:0], i.Iterator.Key()...)
	}
	return ok
}

// seek makes a move that does not depend on where the iterator is.
func (i *latestIter) seek(prefix bool, to func() bool) bool {
	i.prefix = prefix
	return i.move(to, func([]byte) bool { return to() })
}

func (i *latestIter) SeekGE(key []byte) bool {
	return i.seek(false, func() bool { return i.Iterator.SeekGE(key) })
}

func (i *latestIter) SeekPrefixGE(key []byte) bool {
	return i.seek(true, func() bool { return i.Iterator.SeekPrefixGE(key) })
}

func (i *latestIter) SeekLT(key []byte) bool {
	return i.seek(false, func() bool { return i.Iterator.SeekLT(key) })
}

func (i *latestIter) First() bool {
	return i.seek(false, func() bool { return i.Iterator.First() })
}

func (i *latestIter) Last() bool {
	return i.seek(false, func() bool { return i.Iterator.Last() })
}

func (i *latestIter) Next() bool {
	return i.move(func() bool { return i.Iterator.Next() }, func(at []byte) bool {
		if !i.prefix {
			return i.Iterator.SeekGE(Successor(at))
		}
		ok := i.Iterator.SeekPrefixGE(at)
		if ok && bytes.Equal(i.Iterator.Key(), at) {
			ok = i.Iterator.Next()
		}
		return ok
	})
}

func (i *latestIter) Prev() bool {
	return i.move(func() bool { return i.Iterator.Prev() },
		func(at []byte) bool { return i.Iterator.SeekLT(at) })
}

func (i *latestIter) NextPrefix() bool {
	return i.move(func() bool { return i.Iterator.NextPrefix() },
		func(at []byte) bool { return i.Iterator.SeekGE(BehindPrefix(at)) })
}

func (i *latestIter) Valid() bool { return i.err == nil && i.Iterator.Valid() }

func (i *latestIter) Err() error {
	if i.err != nil {
		return i.err
	}
	return i.Iterator.Err()
}

func (i *latestIter) Close() error {
	if i.err != nil {
		return nil // it is closed
	}
	return i.close()
}

func (i *latestIter) close() error {
	i.of.iterators--
	return errors.Join(i.Iterator.Close(), i.of.release())
}

// Repeat runs f over a snapshot, and again over a new one when the engine has given it up. So f
// sees one state, and must not take long.
func Repeat(ctx context.Context, e Engine, f func(r Reader) error) error {
	for {
		s, err := e.Snapshot()
		if err != nil {
			return err
		}
		err = errors.Join(f(s), s.Close())
		if !errors.Is(err, ErrSnapshotGone) {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}
