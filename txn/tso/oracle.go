// Package tso is the timestamp oracle (Percolator, §2.3): one source of strictly increasing, unique
// timestamps, from which transactions draw start_ts and commit_ts.
//
// The oracle persists the end of the range that it may serve (the high-water mark) before it serves
// from it, and serves from memory: a draw is one atomic operation and a reading of the clock. After
// a restart it continues above the saved mark, so neither a crash nor a wall clock that steps back
// makes it repeat or go down.
//
// A timestamp carries milliseconds, so TTLs of locks and reads AS OF are judged by oracle time and
// no local clock ever decides. That time neither stops nor runs away when the wall clock is set,
// and a wall clock that cannot be right is refused (clock.go).
//
// One oracle serves all transactions of a store. On an exclusive engine that is the process's own.
// Of the processes that share a store one holds the office and serves the others (package elected).
// It is named behind the mark (cell.go), and a process that is not named there extends no range.
package tso

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minidb/minidb/kv"
)

// Source is where timestamps come from. *Oracle is one; a client of a remote oracle is another.
type Source interface {
	Next(ctx context.Context) (Timestamp, error)
}

// Options of an Oracle.
type Options struct {
	// Clock returns milliseconds since 1970; nil means the wall clock.
	Clock func() int64
	// Elapsed is the monotonic clock beside Clock. When it is nil, the wall clock has the
	// machine's monotonic clock beside it, and another Clock has the sum of its own steps
	// forwards.
	Elapsed func() time.Duration
	// AcceptClock opens the oracle though its clock seems wrong (ClockError).
	AcceptClock bool
	// Window is how much time one persisted range covers; 0 means three seconds. A crash moves
	// timestamps ahead of the clock by at most this much.
	Window time.Duration
	// Holder is what Take has put behind the mark: as long as it is there this oracle may extend
	// its range. Nil: no other process ever serves timestamps from this cell.
	Holder []byte
	// Begin is the store's time as the process knows it from the oracle before; zero: it does not.
	// The clock begins there, whatever the wall clock says, and approaches that as after a step.
	Begin Timestamp
	// Logger receives jumps of the wall clock; nil means slog.Default().
	Logger *slog.Logger
}

// Oracle is a Source that keeps its high-water mark in an engine.
type Oracle struct {
	engine kv.Engine
	key    []byte
	holder []byte
	clock  clock
	window Timestamp

	last  atomic.Uint64 // the newest timestamp given out
	limit atomic.Uint64 // persisted: nothing above it may be given out
	drawn atomic.Int64  // how many were given out

	mu sync.Mutex // held while the range is extended
}

// Open reads the high-water mark kept under key and returns an oracle that continues above it.
// Nothing is written before the first draw. A clock that cannot be right is refused with
// *ClockError, and a Holder that is not there any more with ErrDeposed.
func Open(ctx context.Context, engine kv.Engine, key []byte, opts Options) (*Oracle, error) {
	o := &Oracle{engine: engine, key: key, holder: opts.Holder}
	o.clock.read, o.clock.logger = opts.clocks(), cmp.Or(opts.Logger, slog.Default())
	// Where others write too, leases are judged by the time of this oracle.
	o.clock.steady = !kv.IsExclusive(engine)
	if opts.Window <= 0 {
		opts.Window = 3 * time.Second
	}
	o.window = New(opts.Window.Milliseconds(), 0)

	snap, err := kv.Latest(engine)
	if err != nil {
		return nil, err
	}
	defer func() { _ = snap.Close() }()
	mark, err := o.readMark(ctx, snap)
	if err != nil {
		return nil, err
	}
	if err := opts.CheckClock(mark); err != nil {
		return nil, err
	}
	wall, elapsed := o.clock.read()
	if opts.Begin != 0 {
		wall = opts.Begin.Physical()
	}
	o.clock.start(wall, elapsed, mark)
	o.last.Store(uint64(mark))
	o.limit.Store(uint64(mark))
	return o, nil
}

// CheckClock returns *ClockError if Open would, for a store with that high-water mark.
func (o *Options) CheckClock(mark Timestamp) error {
	if o.AcceptClock {
		return nil
	}
	wall := time.Now().UnixMilli()
	if o.Clock != nil {
		wall = o.Clock()
	}
	return checkClock(wall, mark, o.Clock == nil)
}

// clocks returns what reads the wall clock and the monotonic clock, in milliseconds.
func (o *Options) clocks() func() (wall, elapsed int64) {
	switch {
	case o.Clock == nil:
		return machine()
	case o.Elapsed == nil:
		return advances(o.Clock)
	}
	wall, elapsed := o.Clock, o.Elapsed
	return func() (int64, int64) { return wall(), elapsed().Milliseconds() }
}

// Next draws a timestamp above every one drawn before.
func (o *Oracle) Next(ctx context.Context) (Timestamp, error) { return o.Draw(ctx, 1) }

// Draw draws n timestamps, which follow one another, and returns the first. n is at most MaxDraw.
func (o *Oracle) Draw(ctx context.Context, n int) (Timestamp, error) {
	for {
		if ts, ok := o.TryDraw(n); ok {
			return ts, nil
		}
		if err := o.Extend(ctx); err != nil {
			return 0, err
		}
	}
}

// MaxDraw is the most timestamps of one Draw: every range holds more.
const MaxDraw = 1 << 16

// TryNext draws a timestamp if that needs no write to the engine. It may be called where an engine
// must not be (inside a step of an Update); when it refuses, leave that place and call Extend.
func (o *Oracle) TryNext() (Timestamp, bool) { return o.TryDraw(1) }

// TryDraw is Draw if that needs no write to the engine.
func (o *Oracle) TryDraw(n int) (Timestamp, bool) {
	now := uint64(New(o.clock.now(), 0))
	for {
		last := o.last.Load()
		next := max(last+1, now)
		end := next + uint64(n) - 1
		if end > o.limit.Load() {
			return 0, false
		}
		if o.last.CompareAndSwap(last, end) {
			o.drawn.Add(int64(n))
			return Timestamp(next), true
		}
	}
}

// Now returns the oracle's time without drawing from it. It is not unique: it judges how old
// something is, and orders nothing.
func (o *Oracle) Now() Timestamp {
	return max(Timestamp(o.last.Load()), New(o.clock.now(), 0))
}

// Drawn returns how many timestamps were drawn since Open.
func (o *Oracle) Drawn() int64 { return o.drawn.Load() }

// Last returns the newest timestamp that was drawn, without drawing one.
func (o *Oracle) Last() Timestamp { return Timestamp(o.last.Load()) }

// Extend persists a further range, if the present one is used up.
func (o *Oracle) Extend(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.next()+o.window/2 <= Timestamp(o.limit.Load()) {
		return nil // another caller has just done it
	}
	return o.extend(ctx)
}

// Renew persists a further range whether it is needed or not, so that a process that looks at
// the cell sees that the oracle lives.
func (o *Oracle) Renew(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.extend(ctx)
}

// next is the timestamp that would be drawn now.
func (o *Oracle) next() Timestamp {
	return max(Timestamp(o.last.Load())+1, New(o.clock.now(), 0))
}

func (o *Oracle) extend(ctx context.Context) error {
	limit := max(o.next()+o.window, Timestamp(o.limit.Load())+1)
	err := o.engine.Update(ctx, [][]byte{kv.Row(o.key)}, func(r kv.Reader, b *kv.Batch) error {
		mark, err := o.readMark(ctx, r)
		if err != nil {
			return err
		}
		if held := Timestamp(o.limit.Load()); mark > held {
			// Everything up to the mark is taken: by another oracle that has extended its range,
			// or by an extension of this one whose answer was lost.
			o.raiseLast(mark)
			limit = max(limit, o.next()+o.window)
		}
		b.Set(o.key, Cell{Mark: limit, Holder: o.holder}.encode())
		return nil
	})
	if err != nil {
		return fmt.Errorf("oracle: extend range: %w", err)
	}
	o.limit.Store(uint64(limit))
	return nil
}

// Release gives the unused end of the range back, so that a clean restart does not run ahead of
// the clock, and the office with it. No draw may follow or be under way.
func (o *Oracle) Release(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	held := Timestamp(o.limit.Load())
	last := o.last.Load()
	o.limit.Store(last)
	if last == uint64(held) && o.holder == nil {
		return nil
	}
	return o.engine.Update(ctx, [][]byte{kv.Row(o.key)}, func(r kv.Reader, b *kv.Batch) error {
		mark, err := o.readMark(ctx, r)
		if err != nil || mark != held {
			return err // another oracle has taken a range above this one
		}
		b.Set(o.key, Cell{Mark: Timestamp(last)}.encode())
		return nil
	})
}

func (o *Oracle) raiseLast(to Timestamp) {
	o.clock.reach(to)
	for {
		last := o.last.Load()
		if last >= uint64(to) || o.last.CompareAndSwap(last, uint64(to)) {
			return
		}
	}
}

func (o *Oracle) readMark(ctx context.Context, r kv.Reader) (Timestamp, error) {
	cell, err := ReadCell(ctx, r, o.key)
	if err == nil && !bytes.Equal(cell.Holder, o.holder) {
		err = ErrDeposed
	}
	return cell.Mark, err
}
