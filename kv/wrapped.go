package kv

import "context"

// Wrapped passes everything on to an engine, optional interfaces included. What wraps an engine
// embeds it, and replaces what it changes.
type Wrapped struct{ Engine }

// UpdateLazy implements Lazy.
func (w Wrapped) UpdateLazy(ctx context.Context, rows [][]byte, step Step) error {
	return UpdateLazy(ctx, w.Engine, rows, step)
}

// DeleteRange implements RangeDeleter. It deletes the keys of a span one by one where the engine
// cannot do better.
func (w Wrapped) DeleteRange(ctx context.Context, span Span) error {
	_, err := DeleteSpan(ctx, w.Engine, span, 0)
	return err
}

// CompactRange compacts the span where the engine can.
func (w Wrapped) CompactRange(ctx context.Context, span Span) error {
	return CompactRange(ctx, w.Engine, span)
}

// Group implements Grouped.
func (w Wrapped) Group(row []byte) uint64 { return GroupOf(w.Engine, row) }

// Limits implements Limited.
func (w Wrapped) Limits() Limits { return LimitsOf(w.Engine) }

// Exclusive reports whether the engine is of this process alone.
func (w Wrapped) Exclusive() bool { return IsExclusive(w.Engine) }

// Size implements Sizer; an engine that does not know has 0.
func (w Wrapped) Size(ctx context.Context, span Span) (int64, error) {
	return SizeOf(ctx, w.Engine, span)
}

// Syncs implements SyncCounter; an engine that does not count has 0.
func (w Wrapped) Syncs() uint64 {
	if c, ok := w.Engine.(SyncCounter); ok {
		return c.Syncs()
	}
	return 0
}

// Measures implements Measured; an engine that does not measure has none.
func (w Wrapped) Measures() []Measure { return MeasuresOf(w.Engine) }

// Ingest implements Ingester where the engine does.
func (w Wrapped) Ingest(ctx context.Context, sources []Source) error {
	return IngesterOf(w.Engine).Ingest(ctx, sources)
}

// Ingests implements Ingester.
func (w Wrapped) Ingests() bool { return IngesterOf(w.Engine) != nil }
