package minidb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// whatToDo is the advice that goes with damaged files.
const whatToDo = "restore a backup or a copy of the directory, or copy what can be read with " +
	"minidb check --salvage"

// replayed watches the log being read.
type replayed struct{ newest tso.Timestamp }

func (r *replayed) key(raw []byte) {
	if _, commitTS, ok := mvcc.KeyOf(raw); ok {
		r.newest = max(r.newest, commitTS)
	}
}

// log logs how far the log was read, so that an operator can compare it with what was acknowledged
// to clients.
func (r *replayed) log(db *DB, p pebblekv.Replay) {
	if p.Updates == 0 {
		return
	}
	args := []any{"log", p.Log, "end", p.End, "updates", p.Updates, "closed", p.Closed}
	if r.newest != 0 {
		args = append(args, "commit_ts", uint64(r.newest), "time",
			r.newest.Time().UTC().Format("2006-01-02 15:04:05.000"))
	}
	if p.Dropped > 0 {
		args = append(args, "dropped", p.Dropped)
	}
	db.opts.logger.Info("recovered from the log up to the newest commit", args...)
}

// damageReports are the goroutines that name what damaged files hold. Close waits for them.
type damageReports struct {
	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
}

func (d *damageReports) wait() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.wg.Wait()
}

// damaged logs that a file cannot be read, with the tables that lie in it. It is called from within
// the engine, so it leaves the reading to a goroutine.
func (db *DB) damaged(err *kv.CorruptionError) {
	d := &db.damages
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	d.wg.Go(func() {
		select {
		case <-db.opened:
		case <-db.gone: // it could not be opened, and the error of Open says why
			return
		}
		db.opts.logger.Error(err.Error(), "affects", db.affected(err), "do", whatToDo)
	})
}

// affected names what cannot be read in a damaged file.
func (db *DB) affected(damage *kv.CorruptionError) string {
	lost, names, err := db.within(context.Background(), damage.Bound)
	switch {
	case errors.Is(err, ErrClosed), errors.Is(err, kv.ErrClosed):
		return "unknown, for the database was closed"
	case err != nil:
		return "unknown, for the schema cannot be read"
	case len(lost) == 0:
		return "nothing any more"
	case len(names) == 0:
		return "no table"
	}
	return strings.Join(names, ", ")
}

func (db *DB) within(ctx context.Context, bound kv.Span) (lost []kv.Span, names []string,
	err error) {
	snap, err := db.engine.Snapshot()
	if err != nil {
		return nil, nil, err
	}
	lost, err = kv.Readable(ctx, snap, bound, func(_, _ []byte) error {
		select {
		case <-db.gone:
			return ErrClosed
		default:
			return nil
		}
	})
	if err = errors.Join(err, snap.Close()); err != nil {
		return nil, nil, err
	}
	names, err = db.namesIn(ctx, lost)
	return lost, names, err
}

// namesIn names what has cells in the spans of the engine's keys.
func (db *DB) namesIn(ctx context.Context, raw []kv.Span) ([]string, error) {
	tx, err := db.store.Begin(ctx, txn.BeginOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	d, err := catalog.NewDescriber(ctx, tx)
	if err != nil {
		return nil, err
	}
	return d.Within(raw), nil
}

// advised adds what to do to the error of a directory that is damaged.
func advised(err error) error {
	if errors.Is(err, kv.ErrCorruption) {
		return fmt.Errorf("%w; %s", err, whatToDo)
	}
	return err
}
