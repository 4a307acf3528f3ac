package memkv

import (
	"bytes"
	"context"

	"github.com/minidb/minidb/kv"
)

// DeleteRange implements kv.RangeDeleter. It takes place in all groups at once.
func (e *Engine) DeleteRange(ctx context.Context, span kv.Span) error {
	if err := ctx.Err(); err != nil {
		return kv.NotApplied(err)
	}
	if e.closed.Load() {
		return kv.NotApplied(kv.ErrClosed)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	var gone []item
	e.mu.tree.Ascend(item{key: span.Start}, func(it item) bool {
		if span.End != nil && bytes.Compare(it.key, span.End) >= 0 {
			return false
		}
		gone = append(gone, it)
		return true
	})
	for _, it := range gone {
		e.mu.tree.Delete(it)
	}
	e.mu.ranged = e.applied.Add(1)
	return nil
}
