package memkv

import (
	"bytes"
	"context"

	"github.com/minidb/minidb/kv"
)

// Ingest implements kv.Ingester: the keys come in like those of one update.
func (e *Engine) Ingest(ctx context.Context, sources []kv.Source) error {
	var items []item
	for _, source := range sources {
		err := source(func(key, value []byte) error {
			items = append(items, item{key: bytes.Clone(key), value: append([]byte{}, value...)})
			return ctx.Err()
		})
		if err != nil {
			return kv.NotApplied(err)
		}
	}
	if e.closed.Load() {
		return kv.NotApplied(kv.ErrClosed)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, it := range items {
		e.mu.tree.Set(it)
	}
	return nil
}

// Ingests implements kv.Ingester. On a shared engine others would read what is not theirs to see.
func (e *Engine) Ingests() bool { return !e.opts.Shared }
