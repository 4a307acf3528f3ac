package backup

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/gc"
	"github.com/minidb/minidb/txn/tso"
	"golang.org/x/time/rate"
)

// Options say what is backed up where.
type Options struct {
	Source *txn.Store
	To     Place
	// Full makes a full backup though an incremental one is possible.
	Full bool
	// Protect is for how long the source keeps what the next incremental backup reads, by the
	// source's time; negative: it does not.
	Protect time.Duration
	// Hold is for how long the source keeps what is read after the backup was interrupted, so that
	// it can go on; 0 means an hour.
	Hold time.Duration
	// PageBytes is about how much is read at a time, and held in memory; 0 means 4 MiB.
	PageBytes int
	// FileBytes is about how many bytes of keys and values a file has; 0 means 256 MiB. What was
	// read for a file that is not finished is read again after an interruption.
	FileBytes int64
	// Rate bounds how many bytes of keys and values are read in a second; 0: not.
	Rate int
	// Recipients may read what is written, each with its own key; none: it is not encrypted.
	Recipients []Recipient
	// Progress, if not nil, is called behind each page.
	Progress func(Progress)
}

// Phase is what a backup is at.
type Phase byte

// The phases, in their order.
const (
	Versions      Phase = 1 + iota // of all keys
	Spans                          // that are replaced
	Notifications                  // that observers and views have to see
	finished
)

// String names the phase.
func (p Phase) String() string {
	return [...]string{"settling locks", "versions", "loaded spans", "notifications",
		"finishing"}[p]
}

// Progress is how far a backup has come.
type Progress struct {
	Phase        Phase
	Cells, Bytes int64 // of the backup so far: raw cells, and their keys and values
}

// Result is what a finished backup came to.
type Result struct {
	*Manifest
	Resumed bool // an earlier run had begun it
	// WhyFull says why a backup is full though another one is there to be continued.
	WhyFull string
}

// DefaultProtect is a day, and an hour for the backup that is made once in each.
const DefaultProtect = 25 * time.Hour

const (
	defaultHold      = time.Hour
	defaultPageBytes = 4 << 20
	defaultFileBytes = 256 << 20
)

// errGap is returned when the store has not kept what the incremental backup reads.
var errGap = errors.New("the store has not kept what was committed since the backup before")

// ErrTakenOver is returned when the hold of a backup ended while it was made.
var ErrTakenOver = errors.New("another run has taken the backup over, or it was stuck for longer " +
	"than the store keeps the state that is backed up")

// Run makes a backup, or goes on with one that was interrupted. It continues the newest backup of
// the same store in the place, unless the store has not kept all that was committed since: then it
// is a full one. When it ends early, because ctx does for instance, the files that are finished
// are kept for the next run, for as long as the hold lasts. Of two runs of one store into one place
// that overlap, the later one goes on with what the earlier one has finished, and that one fails
// with ErrTakenOver.
func Run(ctx context.Context, o Options) (Result, error) {
	o.Hold = cmp.Or(o.Hold, defaultHold)
	o.PageBytes = cmp.Or(o.PageBytes, defaultPageBytes)
	o.FileBytes = cmp.Or(o.FileBytes, defaultFileBytes)
	for {
		r, err := run(ctx, o)
		if !errors.Is(err, errGap) || o.Full {
			return r, err
		}
		o.Full = true // it is not a gap now, whatever happens
	}
}

func run(ctx context.Context, o Options) (r Result, err error) {
	b := &backing{o: o, source: o.Source.Engine(), run: rand.Text()[:8]}
	if o.Rate > 0 {
		b.limiter = rate.NewLimiter(rate.Limit(o.Rate), max(o.Rate, 1))
	}
	defer func() { err = errors.Join(err, b.end()) }()
	if err := b.begin(ctx); err != nil {
		return r, err
	}
	if err := b.tx.SettleAt(ctx); err != nil {
		return r, fmt.Errorf("settle what was committed up to %s: %w", b.m.At, err)
	}
	for b.p.Phase < finished {
		if err := b.nextFile(ctx); err != nil {
			return r, err
		}
	}
	if err := b.finish(ctx); err != nil {
		return r, err
	}
	return Result{Manifest: b.m, Resumed: b.resumed, WhyFull: b.whyFull}, nil
}

// backing is a run.
type backing struct {
	o       Options
	source  kv.Engine
	tx      *txn.Txn // reads the source at Manifest.At
	hold    *txn.Hold
	base    *Manifest // that is continued; nil for a full backup
	m       *Manifest // of the backup: p's
	run     string    // in the names of its files, so that none is of another run
	p       progress
	limiter *rate.Limiter
	resumed bool
	whyFull string
	cells   int64 // so far, with those of the file that is not finished
	bytes   int64
}

// end ends the reader. The hold stays, unless the backup is finished.
func (b *backing) end() error {
	if b.tx == nil {
		return nil
	}
	return b.tx.Rollback(context.Background())
}

// save notes how far the backup is.
func (b *backing) save(ctx context.Context) error {
	return writeJSON(ctx, b.o.To, b.m.Name+"/"+progressName, &b.p)
}

// held explains an error of the hold.
func held(err error) error {
	if errors.Is(err, txn.ErrHoldEnded) {
		return ErrTakenOver
	}
	return err
}

// safepoint reads that of the source.
func (b *backing) safepoint(ctx context.Context) (point tso.Timestamp, err error) {
	err = kv.Repeat(ctx, b.source, func(r kv.Reader) error {
		safe, err := gc.ReadSafepoint(ctx, r)
		point = max(safe.Point, safe.Target)
		return err
	})
	return point, err
}

// unbroken returns errGap if versions that were committed above Since may have been collected
// (backup I2).
func (b *backing) unbroken(ctx context.Context) error {
	point, err := b.safepoint(ctx)
	if err != nil {
		return err
	}
	if b.m.Safepoint = point; b.base != nil && point > b.base.At {
		return errGap
	}
	return nil
}

// finish checks that all was there while it was read, writes the manifest, and leaves the hold for
// the next backup.
func (b *backing) finish(ctx context.Context) error {
	if err := b.unbroken(ctx); err != nil {
		return errors.Join(err, b.discard(ctx))
	}
	if err := held(b.hold.Check(ctx)); err != nil {
		return err
	}
	if b.o.Protect > 0 {
		b.m.Hold = b.hold.ID()
	}
	if err := writeJSON(ctx, b.o.To, b.m.Name+"/"+manifestName, b.m); err != nil {
		return err
	}
	// Whatever is not done from here on, the lease ends.
	var err error
	if b.o.Protect > 0 {
		err = held(b.hold.Leave(ctx, b.m.At, 0, b.o.Protect))
	} else {
		err = b.hold.Release(ctx)
	}
	if b.base != nil && b.base.Hold != 0 {
		err = errors.Join(err, b.o.Source.DropHold(ctx, b.base.Hold))
	}
	return errors.Join(err, b.sweep(ctx))
}

// sweep removes what is in the backup's directory and not of it: how far it was, and files that
// runs before this one have left.
func (b *backing) sweep(ctx context.Context) error {
	keep := map[string]bool{b.m.Name + "/" + manifestName: true}
	for _, f := range b.m.Files {
		keep[b.m.Name+"/"+f.Name] = true
	}
	names, err := b.o.To.Names(ctx)
	for _, n := range names {
		if strings.HasPrefix(n, b.m.Name+"/") && !keep[n] {
			err = errors.Join(err, b.o.To.Remove(ctx, n))
		}
	}
	return err
}

// discard removes a backup that cannot be finished, and its hold.
func (b *backing) discard(ctx context.Context) error {
	return errors.Join(b.hold.Release(ctx), remove(ctx, b.o.To, b.m.Name))
}
