package pebblekv

import (
	"bytes"
	"context"

	"github.com/minidb/minidb/kv"
)

// Size implements kv.Sizer: bytes in table files. What is in memtables only does not count.
func (e *Engine) Size(ctx context.Context, span kv.Span) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := e.enter(); err != nil {
		return 0, err
	}
	defer e.gate.RUnlock()
	end := span.End
	if end == nil {
		end = bytes.Repeat([]byte{0xff}, 16) // no family begins with it
	}
	n, err := e.db.EstimateDiskUsage(append([]byte{}, span.Start...), end)
	return int64(n), err
}
