package etcdkv

import (
	"bytes"
	"context"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/paged"
)

// source reads the pages of a reader's iterators.
type source struct{ r *reader }

func (source) Usable() error { return nil }

func (s source) From(ctx context.Context, lo, end []byte, size int, first bool) (*paged.Page,
	error) {
	if first {
		if p := s.r.foreseen(lo); p != nil {
			return p, nil
		}
	}
	return s.r.walk(ctx, lo, end, size, first)
}

func (s source) Below(ctx context.Context, lo, hi []byte, size int) (*paged.Page, error) {
	cells, from, err := s.r.lastBelow(ctx, lo, hi, size)
	return &paged.Page{Cells: cells, Lo: from, Hi: hi}, err
}

func (s source) Prefix(ctx context.Context, key []byte) (*paged.Page, error) {
	b, err := s.r.look(ctx, key)
	if b == nil {
		return nil, err
	}
	return &paged.Page{Cells: b.cells, Lo: bytes.Clone(kv.Prefix(key)), Hi: b.end}, err
}
