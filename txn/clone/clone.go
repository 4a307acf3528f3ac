package clone

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/gc"
	"github.com/minidb/minidb/txn/pages"
	"github.com/minidb/minidb/txn/tso"
)

// Options say what is copied where.
type Options struct {
	// Source is what is copied. On an engine that others write to they may go on.
	Source *txn.Store
	// Target is empty, or has an unfinished copy of the source. No process has a store open on it.
	Target kv.Engine
	// Anew empties a target that has an unfinished copy, of whatever source, and begins.
	Anew bool
	// Hold is for how long the source keeps the state that is copied after the copy was
	// interrupted, by the source's time; 0 means an hour.
	Hold time.Duration
	// PageBytes is about how much is copied at a time, and held in memory; 0 means what the
	// target takes best (pages.Writer).
	PageBytes int
	// Progress, if not nil, is called behind each page.
	Progress func(Progress)
	// Differs, if not nil, is called with each difference that the verification finds.
	Differs func(Difference)
}

// Phase is what a copy is at.
type Phase byte

// The phases, in their order.
const (
	Versions      Phase = 1 + iota // of all keys
	Notifications                  // that observers and views have to see
	Verification
)

// String names the phase.
func (p Phase) String() string {
	return [...]string{"", "versions", "notifications", "verification"}[p]
}

// Progress is how far a copy has come.
type Progress struct {
	Phase Phase
	// Cells and Bytes are what the phase has passed so far: raw cells, and their keys and values.
	Cells, Bytes int64
	// Share is the share of the phase that is done, from 0 to 1, or negative where it is not known.
	Share float64
}

// Result is what a finished copy came to.
type Result struct {
	At      tso.Timestamp // what the source held then was copied
	Resumed bool          // an earlier run had begun it
	// Cells and Bytes were copied: raw cells, with keys and values, by this run and those before.
	Cells, Bytes int64
	// Keys have a value at At, and Digest is that of all of them with their values: SHA-256, over
	// the length of each key (8 bytes), the key, the length of its value and the value.
	Keys   int64
	Digest [32]byte
}

const defaultHold = time.Hour

// Run copies the source into the target, or goes on with a copy that was interrupted, verifies it,
// and opens the target to use. When it ends early, because ctx does for instance, all that it did
// is kept for the next run, for as long as the hold lasts. The errors are those of the package, of
// the engines, and of ctx.
func Run(ctx context.Context, o Options) (r Result, err error) {
	o.Hold = cmp.Or(o.Hold, defaultHold)
	to := pages.NewWriter(o.Target)
	o.PageBytes = cmp.Or(o.PageBytes, to.PageBytes())
	c := &copying{o: o, source: o.Source.Engine(), to: to}
	defer func() { err = errors.Join(err, c.end()) }()
	if err := c.begin(ctx); err != nil {
		return r, err
	}
	if err := c.tx.SettleAt(ctx); err != nil {
		return r, fmt.Errorf("settle what was committed up to %s: %w", c.at, err)
	}
	if err := c.copy(ctx); err != nil {
		return r, err
	}
	if err := c.copySafepoint(ctx); err != nil {
		return r, err
	}
	if err := c.verify(ctx); err != nil {
		return r, err
	}
	// Nothing that was copied or compared was taken away meanwhile.
	if err := c.held(c.hold.Check(ctx)); err != nil {
		return r, err
	}
	if err := c.finish(ctx); err != nil {
		return r, err
	}
	r = Result{At: c.at, Resumed: c.resumed, Cells: c.done.cells, Bytes: c.done.bytes,
		Keys: c.keys, Digest: c.digest}
	return r, nil
}

// copying is a run.
type copying struct {
	o       Options
	source  kv.Engine
	to      *pages.Writer
	at      tso.Timestamp
	tx      *txn.Txn // reads the source at it
	hold    *txn.Hold
	resumed bool
	done    position // as the target has it
	pages   int      // that the target has

	keys   int64
	digest [32]byte
}

// end ends the reader of the source. The hold stays, unless the copy is finished.
func (c *copying) end() error {
	if c.tx == nil {
		return nil
	}
	return c.tx.Rollback(context.Background())
}

// held explains an error of the hold.
func (c *copying) held(err error) error {
	if errors.Is(err, txn.ErrHoldEnded) {
		return &LostError{At: c.at}
	}
	return err
}

// copySafepoint makes the target refuse readers below the safepoint of the source: some versions
// that they would see are gone. It was read when all versions were copied.
func (c *copying) copySafepoint(ctx context.Context) error {
	point, err := c.sourceSafepoint(ctx)
	if err != nil {
		return err
	}
	return c.o.Target.Update(ctx, [][]byte{gc.SafepointRow()},
		func(r kv.Reader, b *kv.Batch) error { return gc.SetPoint(ctx, r, b, point) })
}

func (c *copying) sourceSafepoint(ctx context.Context) (point tso.Timestamp, err error) {
	err = kv.Repeat(ctx, c.source, func(r kv.Reader) error {
		safe, err := gc.ReadSafepoint(ctx, r)
		point = safe.Point
		return err
	})
	return point, err
}

// finish opens the target to use, and gives up what only a copy needs.
func (c *copying) finish(ctx context.Context) error {
	if err := tso.Filled(ctx, c.o.Target, txn.OracleKey()); err != nil {
		return fmt.Errorf("open the target to use: %w", err)
	}
	return errors.Join(forget(ctx, c.o.Target), c.hold.Release(ctx))
}

// report passes on how far a phase is, which goes on at a raw key of a span of the source.
func (c *copying) report(ctx context.Context, p Progress, span kv.Span, next []byte,
	total int64) error {
	if c.o.Progress == nil {
		return nil
	}
	p.Share = -1
	switch {
	case next == nil:
		p.Share = 1
	case total > 0:
		left, err := kv.SizeOf(ctx, c.source, kv.Span{Start: next, End: span.End})
		if err != nil {
			return err
		}
		p.Share = max(0, 1-float64(left)/float64(total))
	}
	c.o.Progress(p)
	return nil
}
