package minidb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// SalvageReport receives what Salvage finds. Both functions may be nil.
type SalvageReport struct {
	// Lost is called with a line for everything that was not copied as it was.
	Lost func(line string)
	// Progress is called now and then with a table and how many of its rows have been copied.
	Progress func(table string, rows int64)
}

// Salvage copies what can be read of a damaged database directory into a new one, which must not
// exist. The damaged directory is not changed; no other handle may have it open. Of a damaged log,
// what comes before the damage is used: the new database is the old one as it was at that commit,
// but for rows whose blocks in table files are damaged. Old versions are not copied. After an error
// there is no new directory.
//
// When the list of the store's files cannot be used, every file in the directory is, also such as
// the store had replaced and not yet removed. Then rows that were deleted lately may be back, which
// the report says. It takes as much space again, in a directory beside the new one that is removed
// in the end.
func Salvage(ctx context.Context, dir, newDir string, report SalvageReport) (err error) {
	if report.Lost == nil {
		report.Lost = func(string) {}
	}
	scratch := newDir + ".scratch"
	for _, d := range []string{newDir, scratch} {
		if _, err := os.Lstat(d); !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(fmt.Errorf("minidb: salvage into %s: %w", d, fs.ErrExist), err)
		}
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	damaged := func(*kv.CorruptionError) {} // what it means is reported row by row
	from, err := pebblekv.OpenDamaged(ctx, dir, scratch,
		pebblekv.Options{Logger: slog.New(slog.DiscardHandler), OnCorruption: damaged})
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
	if err := salvageStore(ctx, from, newDir, report); err != nil {
		return fmt.Errorf("minidb: salvage %s: %w", dir, err)
	}
	return nil
}

// salvageStore copies what an engine shows of a damaged store into a new directory.
func salvageStore(ctx context.Context, from *pebblekv.Salvaged, newDir string,
	report SalvageReport) (err error) {
	if from.Unlisted != nil {
		report.Lost(fmt.Sprintf("the list of the store's files cannot be used (%v): all %d table "+
			"files and all logs in the "+
			"directory were read, also such as were replaced before; rows and tables that were "+
			"deleted lately may be back",
			from.Unlisted.Cause, from.Unlisted.Tables))
		if err := dropReturnedLocks(ctx, from.Engine); err != nil {
			return err
		}
	}
	newest, err := newestOf(ctx, from, report)
	if err != nil {
		return err
	}
	clock := &salvageClock{}
	clock.last.Store(uint64(newest))
	store, err := txn.Open(ctx, from, txn.Options{
		Oracle: clock, Damaged: true, LeaveFoundLocks: true, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return fmt.Errorf("what the store keeps about itself cannot be read: %w", err)
	}
	defer func() {
		if closed := store.Close(); err == nil && !errors.Is(closed, kv.ErrCorruption) {
			err = closed
		}
	}()
	if err := salvageInto(ctx, newDir, from.Unlisted, store, newest, report); err != nil {
		return errors.Join(err, os.RemoveAll(newDir))
	}
	return nil
}

// salvageInto makes the new directory.
func salvageInto(
	ctx context.Context, dir string, unlisted *pebblekv.Unlisted, from *txn.Store,
	newest tso.Timestamp, report SalvageReport,
) (err error) {
	engine, err := pebblekv.Open(dir, pebblekv.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	if err := setClock(ctx, engine, newest); err != nil {
		return err
	}
	to, err := txn.Open(ctx, engine, txn.Options{AcceptClock: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	err = catalog.Salvage(ctx, from, to, catalog.SalvageOptions{
		Lost: func(p catalog.Problem) { report.Lost(p.String()) }, Progress: report.Progress,
		Programs: sql.Programs()})
	if err != nil || unlisted == nil {
		return err
	}
	return reportUnlisted(ctx, to, unlisted, report)
}

// reportUnlisted names by the salvaged schema what could not be read of the files, and what is not
// certain.
func reportUnlisted(ctx context.Context, to *txn.Store, u *pebblekv.Unlisted,
	report SalvageReport) error {
	tx, err := to.Begin(ctx, txn.BeginOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	d, err := catalog.NewDescriber(ctx, tx)
	if err != nil {
		return err
	}
	for _, damage := range u.Damage {
		names := strings.Join(d.Within([]kv.Span{damage.Bound}), ", ")
		report.Lost(fmt.Sprintf("%s: %s; rows of %s may be missing, or be as they were before",
			damage.File, damage.What, names))
	}
	for _, raw := range u.Unsure {
		if key, _, ok := mvcc.KeyOf(raw); ok {
			report.Lost(fmt.Sprintf("%s may be as it was before its newest change", d.Key(key)))
		}
	}
	return nil
}

// dropReturnedLocks removes the locks that were settled and have come back.
func dropReturnedLocks(ctx context.Context, e kv.Engine) error {
	snap, err := e.Snapshot()
	if err != nil {
		return err
	}
	err = mvcc.Locks(ctx, snap, kv.Span{}, func(key []byte, _ mvcc.Lock) error {
		return kv.UpdateLazy(ctx, e, [][]byte{mvcc.Row(key)}, func(r kv.Reader, b *kv.Batch) error {
			return mvcc.DropReturnedLock(ctx, r, b, key)
		})
	})
	return errors.Join(err, snap.Close())
}

var oracleCell = txn.OracleKey()

// beyondNewest is how far the timestamps of the new store begin above the newest one that can be
// read, when the oracle's own cell cannot.
const beyondNewest = time.Minute

// newestOf returns a timestamp that is above all of a damaged store.
func newestOf(ctx context.Context, from *pebblekv.Salvaged,
	report SalvageReport) (newest tso.Timestamp, err error) {
	snap, err := from.Snapshot()
	if err != nil {
		return 0, err
	}
	defer func() {
		if closed := snap.Close(); err == nil && !errors.Is(closed, kv.ErrCorruption) {
			err = closed
		}
	}()
	cell, err := snap.Get(ctx, oracleCell)
	if err == nil && len(cell) == 8 {
		newest = tso.Timestamp(binary.BigEndian.Uint64(cell))
		if from.Unlisted == nil {
			return newest, nil
		}
	}
	if err != nil && !errors.Is(err, kv.ErrCorruption) {
		return 0, err
	}
	read, err := mvcc.NewestTimestamp(ctx, snap)
	if err != nil {
		return 0, err
	}
	if newest == 0 {
		report.Lost("the position of the store's clock cannot be read: it goes on behind the " +
			"newest timestamp that is there")
	}
	now := tso.New(time.Now().UnixMilli(), 0)
	return max(newest, read, now) + tso.New(beyondNewest.Milliseconds(), 0), nil
}

// salvageClock gives the damaged store timestamps above all that are in it.
type salvageClock struct{ last atomic.Uint64 }

func (c *salvageClock) Next(context.Context) (tso.Timestamp, error) {
	return tso.Timestamp(c.last.Add(1)), nil
}

// setClock lets the new store's timestamps go on above all of the old one's: versions of the schema
// are such timestamps.
func setClock(ctx context.Context, to kv.Engine, newest tso.Timestamp) error {
	value := binary.BigEndian.AppendUint64(nil, uint64(newest))
	return to.Update(ctx, [][]byte{kv.Row(oracleCell)}, func(_ kv.Reader, b *kv.Batch) error {
		b.Set(oracleCell, value)
		return nil
	})
}
