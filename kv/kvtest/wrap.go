package kvtest

import (
	"context"

	"github.com/minidb/minidb/kv"
)

// wrapped passes everything on to an engine, optional interfaces included.
type wrapped struct{ kv.Engine }

func (w wrapped) UpdateLazy(ctx context.Context, rows [][]byte, step kv.Step) error {
	return kv.UpdateLazy(ctx, w.Engine, rows, step)
}

// DeleteRange deletes the keys of a span one by one where the engine cannot do better.
func (w wrapped) DeleteRange(ctx context.Context, span kv.Span) error {
	_, err := kv.DeleteSpan(ctx, w.Engine, span, 0)
	return err
}

func (w wrapped) CompactRange(ctx context.Context, span kv.Span) error {
	return kv.CompactRange(ctx, w.Engine, span)
}

func (w wrapped) Group(row []byte) uint64 { return kv.GroupOf(w.Engine, row) }

func (w wrapped) Exclusive() bool { return kv.IsExclusive(w.Engine) }

func (w wrapped) Syncs() uint64 {
	if c, ok := w.Engine.(kv.SyncCounter); ok {
		return c.Syncs()
	}
	return 0
}

// KeyByKey hides from an engine that it can delete ranges.
type KeyByKey struct {
	kv.Engine
	inner wrapped
}

// NewKeyByKey wraps an engine.
func NewKeyByKey(e kv.Engine) *KeyByKey { return &KeyByKey{Engine: e, inner: wrapped{e}} }

// UpdateLazy implements kv.Lazy.
func (k *KeyByKey) UpdateLazy(ctx context.Context, rows [][]byte, step kv.Step) error {
	return k.inner.UpdateLazy(ctx, rows, step)
}

// Group implements kv.Grouped.
func (k *KeyByKey) Group(row []byte) uint64 { return k.inner.Group(row) }

// Exclusive implements kv.Exclusive.
func (k *KeyByKey) Exclusive() bool { return k.inner.Exclusive() }

// Syncs implements kv.SyncCounter.
func (k *KeyByKey) Syncs() uint64 { return k.inner.Syncs() }
