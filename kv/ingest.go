package kv

import "context"

// Source gives keys with their values to put, in ascending order and each once. It may be called in
// a goroutine of its own, and ends with the first error of put.
type Source func(put func(key, value []byte) error) error

// Ingester is an engine that takes in many new keys at a cost far below that of updates.
type Ingester interface {
	// Ingest adds what the sources give, all at once: when it returns nil the keys are there,
	// durably, and with an error none is. Snapshots that are there do not show them. Requires: the
	// spans of two sources' keys do not overlap, no key is there yet, and no caller reads or writes
	// a row of any of them meanwhile.
	//
	// Cancelling ctx is honoured until the last source has ended; the error is then ErrNotApplied.
	Ingest(ctx context.Context, sources []Source) error
	// Ingests reports whether the engine can. An engine that is wrapped perhaps cannot.
	Ingests() bool
}

// IngesterOf returns e as an Ingester, or nil when it is none.
func IngesterOf(e Engine) Ingester {
	if i, ok := e.(Ingester); ok && i.Ingests() {
		return i
	}
	return nil
}
