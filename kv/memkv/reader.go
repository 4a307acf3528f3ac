package memkv

import (
	"context"

	"github.com/minidb/minidb/kv"
	"github.com/tidwall/btree"
)

// reader sees one version of the tree.
type reader struct {
	tree *btree.BTreeG[item]
}

func (r *reader) Get(ctx context.Context, key []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	it, ok := r.tree.Get(item{key: key})
	if !ok {
		return nil, nil
	}
	return it.value, nil
}

func (r *reader) NewIter(ctx context.Context, span kv.Span) (kv.Iterator, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &iterator{it: r.tree.Iter(), span: span, gone: never}, nil
}

// never is the gone of a reader that the engine does not give up.
func never() error { return nil }

// snapshot is a reader of the version that was the newest at its first read, or, of an engine that
// is not Shared, when it was taken.
type snapshot struct {
	e        *Engine
	r        *reader
	pinnedAt int64
	reads    int
	lost     bool // it is given up during its first read
}

func (s *snapshot) pin() {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	s.r, s.pinnedAt = &reader{tree: s.e.mu.tree.Copy()}, s.e.applied.Load()
}

// gone comes before a read. It returns kv.ErrSnapshotGone when the engine has given the snapshot
// up.
func (s *snapshot) gone() error {
	o := &s.e.opts
	if !o.Shared {
		return nil
	}
	s.reads++
	if s.lost || o.Keeps > 0 && s.e.applied.Load()-s.pinnedAt > int64(o.Keeps) ||
		o.Reads > 0 && s.reads > o.Reads {
		return kv.ErrSnapshotGone
	}
	return nil
}

func (s *snapshot) Get(ctx context.Context, key []byte) ([]byte, error) {
	if err := s.read(); err != nil {
		return nil, err
	}
	return s.r.Get(ctx, key)
}

func (s *snapshot) NewIter(ctx context.Context, span kv.Span) (kv.Iterator, error) {
	if err := s.read(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &iterator{it: s.r.tree.Iter(), span: span, gone: s.gone}, nil
}

// read comes before a read: the first one pins.
func (s *snapshot) read() error {
	if s.r == nil {
		s.pin()
		if !s.lost {
			return nil
		}
	}
	return s.gone()
}

func (s *snapshot) Close() error { return nil }
