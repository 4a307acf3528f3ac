package etcdkv

import (
	"context"

	"github.com/minidb/minidb/kv"
)

// Size implements kv.Sizer: the number of keys, with one request.
func (e *Engine) Size(ctx context.Context, span kv.Span) (int64, error) {
	if e.closed.Load() {
		return 0, kv.ErrClosed
	}
	return (&reader{e: e}).count(ctx, span.Start, span.End)
}
