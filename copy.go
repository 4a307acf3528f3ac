package minidb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/clone"
)

// CopyOptions change how Copy copies. The zero value is what most want.
type CopyOptions struct {
	// Anew empties a target that has an unfinished copy, and begins from the start.
	Anew bool
	// Hold is for how long the source keeps the state that is copied after an interruption, so that
	// the copy can go on; 0 means an hour.
	Hold time.Duration
	// Progress is called now and then with what the copy is at: "versions", "notifications" or
	// "verification", how many cells and bytes of that are done, and the share of it, from 0 to 1,
	// or negative where that is not known.
	Progress func(phase string, cells, bytes int64, share float64)
	// Differs is called with a line for each difference that the verification finds.
	Differs func(line string)
}

// Copied is what a finished copy came to.
type Copied struct {
	// At is the moment whose state was copied, by the source's time, and Timestamp the same as
	// AS OF SYSTEM TIME takes it.
	At        time.Time
	Timestamp uint64
	// Resumed reports whether an earlier call had begun it.
	Resumed bool
	// Cells and Bytes were copied in all: versions of keys, long values and notifications.
	Cells, Bytes int64
	// Keys had a value at At, and Digest is the SHA-256 of all of them with their values, in
	// hexadecimal digits. Both stores have the same.
	Keys   int64
	Digest string
}

// ErrCopyDiffers is returned by Copy when source and copy differ at the end.
var ErrCopyDiffers = clone.ErrDiffers

// Copy copies a database from one store to another, of the same engine or another one: directories,
// or URLs as for Open. It copies all databases, as of one moment, with their history for AS OF, the
// notifications that observers and incremental views have to see, and everything else that a backup
// needs; and compares both in the end.
//
// A source that several processes share may be written to meanwhile. No other handle may have a
// directory open, on either side. The target must be empty: a directory that is missing or has
// nothing in it, or a path of a shared store that no process has used. It cannot be opened until
// the copy is finished. A copy that ended early, because ctx did for instance, goes on when it is
// called again; the source keeps the state of that moment for CopyOptions.Hold.
//
// Of the options Copy uses Engine, OracleAddress, OracleTLS, AcceptClock, CacheSize, Logger and
// OnEngine, which changes both directories.
func Copy(ctx context.Context, from, to string, o CopyOptions, opts ...Option) (c Copied,
	err error) {
	var with options
	for _, f := range opts {
		f(&with)
	}
	with.mustExist = true
	with.logger = cmp.Or(with.logger, slog.Default())
	if samePlace(from, to) {
		return c, errors.New("minidb: copy: source and target are the same store")
	}
	source, err := openSource(ctx, from, with)
	if err != nil {
		return c, fmt.Errorf("minidb: copy from %s: %w", from, err)
	}
	defer func() { err = errors.Join(err, source.close()) }()
	target, err := openTarget(ctx, to, with)
	if err != nil {
		return c, fmt.Errorf("minidb: copy to %s: %w", to, err)
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	co := clone.Options{Source: source.store, Target: target, Anew: o.Anew, Hold: o.Hold}
	if o.Progress != nil {
		co.Progress = func(p clone.Progress) {
			o.Progress(p.Phase.String(), p.Cells, p.Bytes, p.Share)
		}
	}
	if o.Differs != nil {
		co.Differs = func(d clone.Difference) { o.Differs(source.line(ctx, d)) }
	}
	r, err := clone.Run(ctx, co)
	if err != nil {
		return c, fmt.Errorf("minidb: copy from %s to %s: %w", from, to, err)
	}
	return Copied{At: time.UnixMilli(r.At.Physical()), Timestamp: uint64(r.At), Resumed: r.Resumed,
		Cells: r.Cells, Bytes: r.Bytes, Keys: r.Keys, Digest: fmt.Sprintf("%x", r.Digest)}, nil
}

// samePlace reports whether two places are the same for certain.
func samePlace(a, b string) bool {
	if kv.IsURL(a) != kv.IsURL(b) {
		return false
	}
	if kv.IsURL(a) {
		return a == b
	}
	return absolute(a) == absolute(b)
}

// absolute returns the path of a directory, with what links lead to where it is there.
func absolute(place string) string {
	dir := strings.TrimPrefix(place, "pebble:")
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return dir
}

// copySource is a store that is read by Copy. It has a transaction layer and nothing above it, so
// nothing in it is run, advanced or collected by this process.
type copySource struct {
	db    *DB // the engine, and the oracle of a shared store
	store *txn.Store
}

func openSource(ctx context.Context, place string, with options) (*copySource, error) {
	s := &copySource{db: &DB{opts: with}}
	to := txn.Options{Logger: with.logger, AcceptClock: with.acceptClock}
	if kv.IsURL(place) {
		u, err := kv.ParseURL(place)
		if err == nil {
			s.db.engine, err = with.engines.Open(ctx, u)
		}
		if err != nil {
			return nil, err
		}
		if err := s.db.joinShared(ctx, u); err != nil {
			return nil, errors.Join(err, s.close())
		}
		if s.db.shared.source != nil {
			to.Oracle, to.Lease = s.db.shared.source, sharedLease
		}
	} else {
		engine, err := openCopied(place, with)
		if err != nil {
			return nil, err
		}
		s.db.engine = engine
	}
	var err error
	if s.store, err = txn.Open(ctx, s.db.engine, to); err != nil {
		return nil, errors.Join(advisedOfClock(err), s.close())
	}
	return s, nil
}

func (s *copySource) close() (err error) {
	if s.store != nil {
		err = s.store.Close()
	}
	return errors.Join(err, s.db.shared.close(), s.db.engine.Close())
}

// line describes a difference by the names of the source.
func (s *copySource) line(ctx context.Context, d clone.Difference) string {
	first, last := fmt.Sprintf("%x", d.Span.Start), fmt.Sprintf("%x", d.Span.End)
	tx, err := s.store.Begin(ctx, txn.BeginOptions{ReadOnly: true})
	if err == nil {
		if describer, derr := catalog.NewDescriber(ctx, tx); derr == nil {
			first = describer.Key(d.Span.Start)
			last = describer.Key(d.Span.End[:len(d.Span.End)-1]) // End is right behind the last key
		}
		_ = tx.Rollback(ctx) // it has written nothing
	}
	if first == last {
		return fmt.Sprintf("%s: %s", first, d.What)
	}
	return fmt.Sprintf("%s to %s: %s", first, last, d.What)
}

// openTarget opens the engine of a target, and nothing above it.
func openTarget(ctx context.Context, place string, with options) (kv.Engine, error) {
	if kv.IsURL(place) {
		u, err := kv.ParseURL(place)
		if err != nil {
			return nil, err
		}
		return with.engines.Open(ctx, u)
	}
	with.mustExist = false
	return openCopied(place, with)
}

// openCopied opens a directory.
func openCopied(place string, with options) (*pebblekv.Engine, error) {
	eo := pebblekv.Options{MustExist: with.mustExist, CacheBytes: with.cacheBytes,
		Logger: with.logger}
	if with.engine != nil {
		with.engine(&eo)
	}
	engine, err := pebblekv.Open(strings.TrimPrefix(place, "pebble:"), eo)
	if errors.Is(err, kv.ErrInUse) {
		return nil, fmt.Errorf("a server, or another process, has the directory open: stop it "+
			"first: %w", err)
	}
	return engine, advised(err)
}
