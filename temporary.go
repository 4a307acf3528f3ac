package minidb

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/txn"
)

// temporaryDir is the directory, in that of the database, of the store of temporary tables. It is
// removed when the database is opened and closed.
const temporaryDir = "temporary"

// Sizes of the store of temporary tables, where there is memory for them: most of what it holds is
// written and read once, or small.
const (
	temporaryCache    = 16 << 20
	temporaryMemTable = 4 << 20
)

// temporaries is the store of the sessions' temporary tables, the companion of the database's own
// (docs/adr/0016). It is opened for the first of them: a process without any has none.
type temporaries struct {
	dir    string // "": one in the system's temporary directory, made when the store is opened
	engine pebblekv.Options
	txn    txn.Options

	mu struct {
		sync.Mutex
		closed   bool
		engine   *pebblekv.Engine
		store    *txn.Store
		releases []func()
	}
}

// init chooses how the store will be opened, and removes what an earlier process left of it.
func (t *temporaries) init(dir string, engine pebblekv.Options, to txn.Options) error {
	if dir != "" || !inFiles(engine) {
		t.dir = filepath.Join(dir, temporaryDir)
	}
	t.engine = pebblekv.Options{Volatile: true, InMemory: engine.InMemory, FS: engine.FS,
		Logger: engine.Logger, MemTableMost: engine.MemTableMost,
		CacheBytes: temporaryCache, MemTableBytes: temporaryMemTable}
	if most := engine.MemTableMost; most > 0 && most < 4*temporaryMemTable {
		// there is little memory: a quarter of what the store beside it has
		t.engine.MemTableBytes, t.engine.CacheBytes = most/4, engine.CacheBytes/4
	}
	t.txn = txn.Options{GCInterval: to.GCInterval, Logger: to.Logger, RowCacheBytes: -1}
	switch {
	case engine.InMemory, t.dir == "":
		return nil
	case engine.FS != nil:
		return engine.FS.RemoveAll(t.dir)
	}
	return os.RemoveAll(t.dir)
}

// open returns the store, which it opens at the first call.
func (t *temporaries) open() (*txn.Store, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.mu.closed:
		return nil, txn.ErrClosed
	case t.mu.store != nil:
		return t.mu.store, nil
	}
	if t.dir == "" {
		made, err := os.MkdirTemp("", "minidb-temporary-")
		if err != nil {
			return nil, err
		}
		t.dir = made
	}
	engine, err := pebblekv.Open(t.dir, t.engine)
	if err != nil {
		return nil, err
	}
	store, err := txn.Open(context.Background(), engine, t.txn)
	if err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	pool := memory.Process()
	cache, memTables := engine.MemoryBytes()
	t.mu.engine, t.mu.store = engine, store
	t.mu.releases = []func(){pool.Fix("block cache of temporary tables", cache),
		pool.Fix("memtables of temporary tables", memTables)}
	return store, nil
}

// close closes the store and removes its files.
func (t *temporaries) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mu.closed = true
	if t.mu.store == nil {
		return nil
	}
	for _, release := range t.mu.releases {
		release()
	}
	err := errors.Join(t.mu.store.Close(), t.mu.engine.Close())
	switch {
	case t.engine.InMemory:
	case t.engine.FS != nil:
		err = errors.Join(err, t.engine.FS.RemoveAll(t.dir))
	default:
		err = errors.Join(err, os.RemoveAll(t.dir))
	}
	t.mu.store, t.mu.engine = nil, nil
	return err
}
