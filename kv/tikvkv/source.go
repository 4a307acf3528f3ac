package tikvkv

import (
	"context"

	"github.com/minidb/minidb/kv/paged"
)

// source reads the pages of a reader's iterators.
type source struct{ r *reader }

func (s source) Usable() error { return s.r.usable() }

func (s source) From(ctx context.Context, lo, end []byte, size int, _ bool) (*paged.Page, error) {
	cells, err := s.r.scan(ctx, lo, end, size, false)
	if err != nil {
		return nil, err
	}
	return paged.PageOf(cells, lo, end, size), nil
}

func (s source) Below(ctx context.Context, lo, hi []byte, size int) (*paged.Page, error) {
	cells, err := s.r.scan(ctx, lo, hi, size, true)
	return paged.PageBelow(cells, lo, hi, size), err
}

// Prefix returns nothing: the client asks for a span, whatever it holds.
func (source) Prefix(context.Context, []byte) (*paged.Page, error) { return nil, nil }
