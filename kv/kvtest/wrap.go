package kvtest

import (
	"context"

	"github.com/minidb/minidb/kv"
)

// wrapped is what the wrappers of this package embed.
type wrapped = kv.Wrapped

// KeyByKey hides from an engine that it can delete ranges.
type KeyByKey struct {
	kv.Engine
	inner wrapped
}

// NewKeyByKey wraps an engine.
func NewKeyByKey(e kv.Engine) *KeyByKey { return &KeyByKey{Engine: e, inner: wrapped{Engine: e}} }

// UpdateLazy implements kv.Lazy.
func (k *KeyByKey) UpdateLazy(ctx context.Context, rows [][]byte, step kv.Step) error {
	return k.inner.UpdateLazy(ctx, rows, step)
}

// Limits implements kv.Limited.
func (k *KeyByKey) Limits() kv.Limits { return k.inner.Limits() }

// Group implements kv.Grouped.
func (k *KeyByKey) Group(row []byte) uint64 { return k.inner.Group(row) }

// Exclusive implements kv.Exclusive.
func (k *KeyByKey) Exclusive() bool { return k.inner.Exclusive() }

// Syncs implements kv.SyncCounter.
func (k *KeyByKey) Syncs() uint64 { return k.inner.Syncs() }
