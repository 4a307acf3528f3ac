package elected

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// Moment is a reading of the two clocks of a machine, each since some start.
type Moment struct{ Elapsed, Wall time.Duration }

// machine reads the clocks of this machine.
func machine() func() Moment {
	start := time.Now()
	return func() Moment {
		now := time.Now()
		// Round strips the monotonic reading.
		return Moment{Elapsed: now.Sub(start), Wall: now.Round(0).Sub(start.Round(0))}
	}
}

// most is the longest time that may have passed since an earlier reading. Many a monotonic clock
// does not run while its machine is suspended.
func (m Moment) most(since Moment) time.Duration {
	return max(m.Elapsed-since.Elapsed, m.Wall-since.Wall)
}

// office is the election as one process sees it. Its methods but current are called by one
// goroutine.
type office struct {
	engine  kv.Engine
	key     []byte
	term    time.Duration
	now     func() Moment
	address string
	oracle  tso.Options
	// estimate is the store's time as far as this process knows it, or zero.
	estimate func() tso.Timestamp
	// left is called with the time at which a tenure of this process ends.
	left func(tso.Timestamp)
	log  *slog.Logger

	seen     tso.Cell
	seenAt   time.Duration // on the monotonic clock
	hasSeen  bool
	standing holder // this process's last attempt to take the office
	tenure   atomic.Pointer[tenure]
}

// tenure is a time during which this process holds the office.
type tenure struct {
	self   holder
	oracle *tso.Oracle
	now    func() Moment
	lasts  time.Duration
	from   atomic.Pointer[Moment] // when the extension that was applied last was sent
	ended  context.Context
	end    context.CancelFunc
}

// valid reports whether no other process can have begun to serve.
func (t *tenure) valid() bool {
	return t.ended.Err() == nil && t.now().most(*t.from.Load()) < t.lasts
}

// draw returns the first of n timestamps, for questions that were asked before the call. It is
// tso.ErrDeposed while the tenure is not valid.
func (t *tenure) draw(ctx context.Context, n int) (tso.Timestamp, error) {
	if !t.valid() {
		return 0, tso.ErrDeposed
	}
	if ts, ok := t.oracle.TryDraw(n); ok {
		return ts, nil
	}
	// Renewals keep the range ahead, so this is rare.
	limit, cancel := context.WithTimeout(ctx, t.lasts/2)
	defer cancel()
	return t.oracle.Draw(limit, n)
}

// current returns the tenure of this process, or nil.
func (o *office) current() *tenure { return o.tenure.Load() }

// look reads the holder of the office, and takes the office when there is none or it has stopped.
// It returns the holder; ok is false while there is none.
func (o *office) look(ctx context.Context) (h holder, ok bool, err error) {
	cell, err := o.read(ctx)
	if err != nil {
		return h, false, err
	}
	now := o.now()
	if !o.hasSeen || !cell.Equal(o.seen) {
		o.seen, o.seenAt, o.hasSeen = cell, now.Elapsed, true
	}
	if cell.Holder != nil && now.Elapsed-o.seenAt < o.term {
		h, err = decodeHolder(cell.Holder)
		return h, err == nil, err
	}
	err = o.take(ctx, cell)
	if errors.Is(err, tso.ErrDeposed) {
		return h, false, nil // another candidate was faster
	}
	return o.standing, err == nil, err
}

func (o *office) read(ctx context.Context) (tso.Cell, error) {
	snap, err := kv.Latest(o.engine)
	if err != nil {
		return tso.Cell{}, err
	}
	defer func() { _ = snap.Close() }()
	return tso.ReadCell(ctx, snap, o.key)
}

// take takes the office and begins to serve.
func (o *office) take(ctx context.Context, seen tso.Cell) error {
	self, err := newHolder(o.address)
	if err != nil {
		return err
	}
	opts := o.oracle
	// Before the office is taken: the others would wait for a term.
	if err := opts.CheckClock(seen.Mark); err != nil {
		return err
	}
	opts.Holder = self.encode()
	if o.estimate != nil {
		opts.Begin = o.estimate()
	}
	from := o.now()
	if err := tso.Take(ctx, o.engine, o.key, seen, opts.Holder); err != nil {
		return err
	}
	oracle, err := tso.Open(ctx, o.engine, o.key, opts)
	if err != nil {
		return err
	}
	t := &tenure{self: self, oracle: oracle, now: o.now, lasts: o.term * 9 / 10}
	t.from.Store(&from)
	t.ended, t.end = context.WithCancel(context.WithoutCancel(ctx))
	o.standing = self
	o.tenure.Store(t)
	o.log.Info("timestamps: this process serves them now", "at", self.address)
	return nil
}

// renew extends the tenure, also one that was not valid for a while: as long as its holder is in
// the store no other one has served. It is tso.ErrDeposed when another process has taken over.
func (o *office) renew(ctx context.Context) error {
	t := o.current()
	from := o.now()
	err := t.oracle.Renew(ctx)
	switch {
	case err == nil:
		t.from.Store(&from)
	case errors.Is(err, tso.ErrDeposed):
		o.log.Warn("timestamps: another process serves them now")
		o.leave()
	}
	return err
}

// leave ends the tenure without a word to the others.
func (o *office) leave() {
	if t := o.tenure.Swap(nil); t != nil {
		if o.left != nil {
			o.left(t.oracle.Now())
		}
		t.end()
	}
	o.hasSeen = false
}

// resign gives the office back, so that the others need not wait for the end of the term.
func (o *office) resign(ctx context.Context) error {
	t := o.current()
	if t == nil {
		return nil
	}
	o.leave()
	return t.oracle.Release(ctx)
}
