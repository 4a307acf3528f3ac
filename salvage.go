package minidb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
)

// SalvageReport receives what Salvage finds. Both functions may be nil.
type SalvageReport struct {
	// Lost is called with a line for everything that was not copied as it was.
	Lost func(line string)
	// Progress is called now and then with a table and how many of its rows have been copied.
	Progress func(table string, rows int64)
}

// Salvage copies what can be read of a damaged database directory into a new one, which must not exist.
// The damaged directory is not changed; nobody else may have it open. Of a damaged log, what comes before
// the damage is used: the new database is the old one as it was at that commit, but for rows whose blocks
// in table files are damaged. Old versions are not copied. After an error there is no new directory.
func Salvage(ctx context.Context, dir, newDir string, report SalvageReport) (err error) {
	if report.Lost == nil {
		report.Lost = func(string) {}
	}
	if _, err := os.Lstat(newDir); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("minidb: salvage into %s: %w", newDir, fs.ErrExist), err)
	}
	damaged := func(*kv.CorruptionError) {} // what it means is reported row by row
	quiet := slog.New(slog.DiscardHandler)
	from, err := pebblekv.OpenDamaged(dir, pebblekv.Options{Logger: quiet, OnCorruption: damaged})
	if errors.Is(err, kv.ErrInUse) {
		return fmt.Errorf("minidb: directory %s is in use by this or another process: %w", dir, err)
	}
	if err != nil {
		return fmt.Errorf("minidb: salvage %s: %w", dir, err)
	}
	defer func() {
		if closed := from.Close(); err == nil && !errors.Is(closed, kv.ErrCorruption) {
			err = closed
		}
	}()
	for _, l := range from.Lost {
		report.Lost(l.String())
	}
	store, err := txn.Open(ctx, from, txn.Options{LeaveFoundLocks: true, AcceptClock: true, Logger: quiet})
	if err != nil {
		return fmt.Errorf("minidb: salvage %s: what the store keeps about itself cannot be read: %w", dir, err)
	}
	defer func() {
		if closed := store.Close(); err == nil && !errors.Is(closed, kv.ErrCorruption) {
			err = closed
		}
	}()
	if err := salvageInto(ctx, newDir, from.Engine, store, report); err != nil {
		return errors.Join(fmt.Errorf("minidb: salvage %s: %w", dir, err), os.RemoveAll(newDir))
	}
	return nil
}

// salvageInto makes the new directory.
func salvageInto(ctx context.Context, dir string, old kv.Engine, from *txn.Store, report SalvageReport) (err error) {
	engine, err := pebblekv.Open(dir, pebblekv.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	if err := copyClock(ctx, old, engine); err != nil {
		return err
	}
	to, err := txn.Open(ctx, engine, txn.Options{AcceptClock: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	return catalog.Salvage(ctx, from, to, catalog.SalvageOptions{
		Lost: func(p catalog.Problem) { report.Lost(p.String()) }, Progress: report.Progress})
}

// copyClock lets the new store's timestamps go on above all of the old one's: versions of the schema are such
// timestamps.
func copyClock(ctx context.Context, from, to kv.Engine) error {
	key := mvcc.MetaKey("oracle")
	snap, err := from.Snapshot()
	if err != nil {
		return err
	}
	value, err := snap.Get(ctx, key)
	value = append([]byte(nil), value...)
	if err = errors.Join(err, snap.Close()); err != nil || len(value) == 0 {
		return err
	}
	return to.Update(ctx, [][]byte{kv.Row(key)}, func(_ kv.Reader, b *kv.Batch) error {
		b.Set(key, value)
		return nil
	})
}
