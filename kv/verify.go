package kv

import "context"

// Verifier is an engine whose files have checksums.
type Verifier interface {
	// Verify reads every file that the engine uses as a whole, also what no reader is shown: old
	// versions, deleted keys, filters and indexes. It changes nothing and may run beside everything
	// else. Damage is reported and does not end it; the error is for what does.
	Verify(ctx context.Context, report VerifyReport) error
}

// VerifyReport receives what a Verifier finds. Both functions may be nil.
type VerifyReport struct {
	// Damaged is called for each damaged part of a file, with where the keys of that part lie.
	Damaged func(*CorruptionError)
	// Progress is called behind each file with how many bytes are read, of how many.
	Progress func(done, total int64)
}

// Verify verifies the files of an engine that can, and returns nil at once for any other.
func Verify(ctx context.Context, e Engine, report VerifyReport) error {
	v, ok := e.(Verifier)
	if !ok {
		return nil
	}
	if report.Damaged == nil {
		report.Damaged = func(*CorruptionError) {}
	}
	if report.Progress == nil {
		report.Progress = func(int64, int64) {}
	}
	return v.Verify(ctx, report)
}
