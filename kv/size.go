package kv

import "context"

// Sizer is an engine that can say about how much a span holds, without reading it.
type Sizer interface {
	// Size returns how much the span holds, in a unit of the engine's own (bytes on its disk, or
	// keys): it is for comparing spans of one engine. It may be off by what was written lately.
	Size(ctx context.Context, span Span) (int64, error)
}

// SizeOf returns the size of a span, and zero for an engine that is not a Sizer.
func SizeOf(ctx context.Context, e Engine, span Span) (int64, error) {
	if s, ok := e.(Sizer); ok && !span.Empty() {
		return s.Size(ctx, span)
	}
	return 0, nil
}
