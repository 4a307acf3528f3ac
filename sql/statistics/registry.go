package statistics

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/stats"
	"github.com/minidb/minidb/txn"
)

// Registry holds a process's statistics and counters of its tables. It is safe for concurrent use.
type Registry struct {
	store   *txn.Store
	catalog *catalog.Catalog
	log     *slog.Logger

	counters sync.Map // table.ID → *counter
	resets   sync.Map // table.ID of a database → time.Time
	epoch    atomic.Uint64

	mu struct {
		sync.Mutex
		loaded bool                      // stored is complete
		stored map[table.ID]bool         // tables of which there are statistics
		tables map[table.ID]*stats.Table // as read; at most tablesKept
		since  map[table.ID]uint64       // the epoch of a table's last change
	}

	tick  sync.Mutex // held by the background's work
	ticks int        // guarded by tick
	swept uint64     // version of the catalog when remains were last looked for
	end   context.CancelFunc
	done  chan struct{}
}

// tablesKept bounds the statistics in memory.
const tablesKept = 2000

// New returns the registry of a store. It owns neither the store nor the catalog.
func New(store *txn.Store, cat *catalog.Catalog, log *slog.Logger) *Registry {
	r := &Registry{store: store, catalog: cat, log: log}
	r.mu.stored, r.mu.tables, r.mu.since = map[table.ID]bool{}, map[table.ID]*stats.Table{},
		map[table.ID]uint64{}
	r.epoch.Store(1)
	return r
}

// Get returns what is known of a table, with the rows that it has by now; nil when there are no
// statistics. They are hints: when they cannot be read, that is logged, and nothing is known.
func (r *Registry) Get(ctx context.Context, id table.ID) *stats.Table {
	t, err := r.get(ctx, id)
	if err != nil {
		if ctx.Err() == nil {
			r.log.Warn("statistics", "table", id, "err", err)
		}
		return nil
	}
	if t == nil {
		return nil
	}
	c, ok := r.counters.Load(id)
	if !ok {
		return t
	}
	now := *t
	now.Rows = max(0, t.Rows+float64(c.(*counter).grown()))
	return &now
}

func (r *Registry) get(ctx context.Context, id table.ID) (*stats.Table, error) {
	r.mu.Lock()
	t, known := r.mu.tables[id]
	loaded := r.mu.loaded
	none := loaded && !r.mu.stored[id]
	r.mu.Unlock()
	if known || none {
		return t, nil
	}
	var stored map[table.ID]bool
	epoch := r.epoch.Load()
	err := r.read(ctx, func(tx *txn.Txn) (err error) {
		if !loaded {
			if stored, err = list(ctx, tx); err != nil || !stored[id] {
				return err
			}
		}
		t, err = stats.Read(ctx, tx, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.epoch.Load() != epoch {
		return t, nil // something changed meanwhile: the next call reads again
	}
	if stored != nil {
		r.mu.stored, r.mu.loaded = stored, true
	}
	if len(r.mu.tables) >= tablesKept {
		clear(r.mu.tables)
	}
	r.mu.tables[id] = t // nil too: a table may have counters and no statistics yet
	return t, nil
}

// list returns the tables of which anything is stored.
func list(ctx context.Context, tx *txn.Txn) (map[table.ID]bool, error) {
	out := map[table.ID]bool{}
	err := stats.Tables(ctx, tx, func(id table.ID) error {
		out[id] = true
		return nil
	})
	return out, err
}

// Replaced resets the counters of a table after its statistics were stored anew: rows as counted,
// nothing modified. by is what counted them: ANALYZE, VACUUM or the background.
func (r *Registry) Replaced(ctx context.Context, id table.ID, rows int64, by Cause) {
	c := r.counter(id)
	if err := r.base(ctx, id, c); err != nil {
		r.log.Warn("statistics", "table", id, "err", err)
	}
	c.replace(rows, by, time.Now())
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.mu.tables, id)
	r.mu.stored[id] = true
	r.mu.since[id] = r.epoch.Add(1)
}

// Epoch names the state of all statistics.
func (r *Registry) Epoch() uint64 { return r.epoch.Load() }

// Changed reports whether the statistics of one of the tables have changed since an epoch.
func (r *Registry) Changed(tables []opt.TableVersion, since uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range tables {
		if r.mu.since[t.ID] > since {
			return true
		}
	}
	return false
}

// read runs f in a read-only transaction.
func (r *Registry) read(ctx context.Context, f func(tx *txn.Txn) error) error {
	tx, err := r.store.Begin(ctx, txn.BeginOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	return errors.Join(f(tx), tx.Rollback(context.WithoutCancel(ctx)))
}

// write runs f in a transaction of its own.
func (r *Registry) write(ctx context.Context, f func(tx *txn.Txn) error) error {
	tx, err := r.store.Begin(ctx, txn.BeginOptions{})
	if err != nil {
		return err
	}
	tx.FreesSpace() // it is small, and VACUUM ends with it, which a full disk needs
	err = f(tx)
	if err == nil && tx.Dirty() {
		err = tx.Commit(ctx)
	}
	if rerr := tx.Rollback(context.WithoutCancel(ctx)); err == nil &&
		!errors.Is(rerr, txn.ErrTxnDone) {
		err = rerr
	}
	return err
}
