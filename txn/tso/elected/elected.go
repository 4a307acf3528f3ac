package elected

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
	"github.com/minidb/minidb/txn/wait"
)

var errClosed = errors.New("the timestamp oracle is closed")

// Options of an Oracle.
type Options struct {
	// Engine is the store, and Key the cell in it where the high-water mark and the holder of the
	// office are.
	Engine kv.Engine
	Key    []byte
	// Listener is where this process serves timestamps when it holds the office. The Oracle closes
	// it.
	Listener net.Listener
	// Advertise is the address at which others reach the listener; empty: its own.
	Advertise string
	// TLS is used on both sides of every connection: its certificates prove what this process is,
	// and its ClientCAs and RootCAs are those it trusts. Nil: connections are not encrypted, and
	// the token in the store is the only proof.
	TLS *tls.Config
	// Term is how long an office lasts without a renewal; 0 means two seconds.
	Term time.Duration
	// Patience is for how long requests may fail until callers get tso.ErrUnavailable; 0 means ten
	// seconds.
	Patience time.Duration
	// AcceptClock takes the office though this machine's clock seems wrong.
	AcceptClock bool
	// Logger receives changes of the office; nil means slog.Default().
	Logger *slog.Logger
}

// Oracle is a tso.Source of a store that several processes share. It is safe for concurrent use.
type Oracle struct {
	opts      Options
	term      time.Duration
	now       func() Moment
	listener  net.Listener
	office    office
	questions chan question
	suspected chan struct{}          // holds one when the holder does not answer
	known     atomic.Pointer[holder] // as the store was read last
	newest    atomic.Pointer[reading]
	shown     tso.Forward // what Now returns
	closed    context.Context
	end       context.CancelFunc
	work      sync.WaitGroup
}

// reading is a timestamp, and when it was drawn.
type reading struct {
	ts tso.Timestamp
	at time.Duration
}

// Open joins the processes that share a store, and waits until it knows its time: until one of them
// serves. It fails when that takes longer than the patience.
func Open(ctx context.Context, opts Options) (*Oracle, error) {
	opts.Logger = cmp.Or(opts.Logger, slog.Default())
	opts.Term = cmp.Or(opts.Term, 2*time.Second)
	opts.Patience = cmp.Or(opts.Patience, 10*time.Second)
	opts.Advertise = cmp.Or(opts.Advertise, opts.Listener.Addr().String())
	o := &Oracle{opts: opts, term: opts.Term, now: machine(), listener: opts.Listener,
		questions: make(chan question, 64), suspected: make(chan struct{}, 1)}
	o.office = office{engine: opts.Engine, key: opts.Key, term: opts.Term, now: o.now,
		address: opts.Advertise, estimate: o.estimate, left: o.note, log: opts.Logger,
		oracle: tso.Options{AcceptClock: opts.AcceptClock, Logger: opts.Logger}}
	o.closed, o.end = context.WithCancel(context.WithoutCancel(ctx))
	// This says at once what is wrong with the store or this machine's clock.
	if err := o.look(ctx); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	o.work.Go(func() { o.accept(o.closed) })
	o.work.Go(func() { o.campaign(o.closed) })
	o.work.Go(func() { (&asker{o: o}).run(o.closed) })
	if _, err := o.Next(ctx); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

// Next draws a timestamp.
func (o *Oracle) Next(ctx context.Context) (tso.Timestamp, error) {
	if t := o.office.current(); t != nil {
		if ts, err := t.draw(ctx, 1); err == nil {
			return ts, nil
		}
	}
	return o.ask(ctx)
}

// Now returns about the oracle's time without asking for it. It never goes back. It judges how old
// something is, and orders nothing.
func (o *Oracle) Now() tso.Timestamp { return o.shown.Time(o.estimate()) }

// Serving reports whether this process holds the office.
func (o *Oracle) Serving() bool {
	t := o.office.current()
	return t != nil && t.valid()
}

// estimate is the oracle's time as it is known here: its own, or the newest timestamp and the time
// since; zero when there was none.
func (o *Oracle) estimate() tso.Timestamp {
	if t := o.office.current(); t != nil {
		return t.oracle.Now()
	}
	r := o.newest.Load()
	if r == nil {
		return 0
	}
	return r.ts + tso.New((o.now().Elapsed-r.at).Milliseconds(), 0)
}

// note remembers the newest timestamp.
func (o *Oracle) note(ts tso.Timestamp) {
	r := &reading{ts: ts, at: o.now().Elapsed}
	for {
		old := o.newest.Load()
		if old != nil && ts <= old.ts || o.newest.CompareAndSwap(old, r) {
			return
		}
	}
}

// suspect makes the process look at the office.
func (o *Oracle) suspect() {
	select {
	case o.suspected <- struct{}{}:
	default:
	}
}

// campaign holds the office, or looks after it whenever its holder does not answer.
func (o *Oracle) campaign(ctx context.Context) {
	for ctx.Err() == nil {
		if o.office.current() != nil {
			limit, cancel := context.WithTimeout(ctx, o.term/2)
			err := o.office.renew(limit)
			cancel()
			switch {
			case errors.Is(err, tso.ErrDeposed):
				o.suspect()
			case err != nil && ctx.Err() == nil:
				o.opts.Logger.Warn("timestamps: the term could not be extended", "err", err)
			}
			if wait.Pause(ctx, o.term/8) != nil {
				return
			}
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-o.suspected:
		}
		limit, cancel := context.WithTimeout(ctx, o.term/2)
		err := o.look(limit)
		cancel()
		if err != nil && ctx.Err() == nil {
			o.opts.Logger.Warn("timestamps: who serves them is not known", "err", err)
		}
		if wait.Pause(ctx, o.term/16) != nil {
			return
		}
	}
}

// look reads the holder, or takes the office.
func (o *Oracle) look(ctx context.Context) error {
	h, ok, err := o.office.look(ctx)
	if ok {
		o.known.Store(&h)
	}
	return err
}

// Close leaves the office and ends all connections. Callers that wait get an error.
func (o *Oracle) Close() error {
	o.end()
	err := o.listener.Close()
	o.work.Wait()
	limit, cancel := context.WithTimeout(context.Background(), o.term)
	defer cancel()
	if resigned := o.office.resign(limit); resigned != nil &&
		!errors.Is(resigned, tso.ErrDeposed) {
		err = errors.Join(err, fmt.Errorf("oracle: resign: %w", resigned))
	}
	return err
}
