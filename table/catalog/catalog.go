package catalog

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
)

// format is the number of the layout of all keys and values that table and catalog write. Since 2
// the rows of a table may lie under a storage ID that is not the table's number. Since 3 there may
// be materialized views and observers. Since 4 an index may have expressions and a predicate. Since
// 5 an index may be a GIN index. A store of a lower format has none of this. It is read as it is,
// and gets the number when it is opened, because a program that supports only the lower format
// would not find all rows in it, would note no changes for observers, or would write other entries
// than an index has.
const format = 5

// Format is the number of that layout, which an open store has.
const Format = format

// Object IDs that PostgreSQL gives away itself, and the first one of ours.
const (
	PostgresID table.ID = 5
	PublicID   table.ID = 2200 // the schema public of every database
	FirstID    table.ID = 16384
)

// Catalog is the process's hold on the schema. It may be used from many goroutines.
type Catalog struct {
	store *txn.Store
	cache struct {
		sync.RWMutex
		state *state // of the newest version seen
		// as last seen committed; used again while its version is current
		descs map[table.ID]*table.Desc
	}
	sequences sync.Map // sequenceID → *sequence
	rowIDs    sync.Map // table.ID → *idRange
	nextID    idRange
	// temporaryIDs are those of temporary objects.
	temporaryIDs temporaryIDs
	// lastVersion is the greatest descriptor version that this process gave.
	lastVersion atomic.Uint64
	seen        atomic.Pointer[seen] // the version that was seen last, where reads are requests
	walks       atomic.Int64         // see Walks
	// turn holds one token: the transaction that took it may commit a change of the schema
	// (Commit).
	turn chan struct{}
	// programs compiles the expressions of indexes.
	programs Programs
}

// Open reads the catalog of a store, and on the first opening of a store writes it: database
// postgres with schema public.
func Open(ctx context.Context, store *txn.Store, with ...Option) (*Catalog, error) {
	c := &Catalog{store: store, turn: make(chan struct{}, 1)}
	c.apply(with)
	c.cache.descs = map[table.ID]*table.Desc{}
	c.nextID = idRange{key: nextIDKey, first: int64(FirstID), max: int64(table.FirstTemporaryID),
		grow: 32, limit: 32}
	_, err := c.own(ctx, func(tx *txn.Txn) error {
		b, err := tx.Get(ctx, formatKey)
		if err != nil {
			return err
		}
		if b != nil {
			v, n := binary.Uvarint(b)
			switch {
			case n <= 0 || v == 0 || v > format:
				return fmt.Errorf("catalog: the store has format %d,"+
					" this program supports %d", v, format)
			case v < format:
				return tx.Set(formatKey, binary.AppendUvarint(nil, format))
			}
			return nil
		}
		return c.bootstrap(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Catalog) bootstrap(ctx context.Context, tx *txn.Txn) error {
	if err := tx.Set(formatKey, binary.AppendUvarint(nil, format)); err != nil {
		return err
	}
	return c.View(tx).createDatabase(ctx,
		Database{ID: PostgresID, Name: "postgres",
			Comment: "default administrative connection database"},
		Schema{ID: PublicID, Name: "public"})
}

// ownRetries bounds the attempts of the catalog's own short transactions. Each conflict means that
// another one of them succeeded, so only a crowd of processes could come near it.
const ownRetries = 1000

// own runs f in a transaction of its own, again while it meets conflicts. It returns the timestamp
// of the commit.
func (c *Catalog) own(ctx context.Context, f func(tx *txn.Txn) error) (at tso.Timestamp,
	err error) {
	return own(ctx, c.store, f)
}

// ownFor is own for what belongs to an object: where that is temporary, the transaction is one of
// the companion alone.
func (c *Catalog) ownFor(ctx context.Context, id table.ID,
	f func(tx *txn.Txn) error) (at tso.Timestamp, err error) {
	store := c.store
	if id.Temporary() {
		if store, err = store.Companion(); err != nil {
			return 0, err
		}
	}
	return own(ctx, store, f)
}

func own(ctx context.Context, store *txn.Store, f func(tx *txn.Txn) error) (at tso.Timestamp,
	err error) {
	for range ownRetries {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		var done bool
		if at, done, err = attempt(ctx, store, f); done {
			return at, err
		}
	}
	return 0, err
}

// attempt is one try of own; done is false when it met a conflict.
func attempt(ctx context.Context, store *txn.Store, f func(tx *txn.Txn) error) (at tso.Timestamp,
	done bool, err error) {
	tx, err := store.Begin(ctx, txn.BeginOptions{})
	if err != nil {
		return 0, true, err
	}
	if err := f(tx); err != nil {
		return 0, true, errors.Join(err, tx.Rollback(ctx))
	}
	if !tx.Dirty() {
		return 0, true, tx.Rollback(ctx)
	}
	// These transactions only ever move something forward, so one whose result is unknown may run
	// again: at worst a number is skipped.
	err = tx.Commit(ctx)
	return tx.CommitTS(), !isConflict(err) && !errors.Is(err, txn.ErrAmbiguous), err
}

// idRange hands out increasing numbers from ranges that it reserves with transactions of its own.
// Requires: the fields are set before first use.
type idRange struct {
	key         []byte
	of          table.ID // what the numbers belong to; 0: the whole catalog
	first       int64    // the first number of all
	max         int64
	grow, limit int64 // size of the next range, which doubles up to limit

	mu   sync.Mutex
	next int64
	left int64
	at   tso.Timestamp // when the range was reserved
}

func (r *idRange) draw(ctx context.Context, c *Catalog) (int64, error) {
	return r.drawSeveral(ctx, c, 1)
}

// drawSeveral returns the first of n numbers in a row. What is left of a range that has not so many
// is not used.
func (r *idRange) drawSeveral(ctx context.Context, c *Catalog, n int64) (int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left < n {
		if err := r.refill(ctx, c); err != nil {
			return 0, err
		}
	}
	if r.left < n {
		return 0, sqlerr.New(sqlerr.ProgramLimitExceeded, "out of identifiers")
	}
	id := r.next
	r.next += n
	r.left -= n
	return id, nil
}

func (r *idRange) refill(ctx context.Context, c *Catalog) error {
	var next, n int64
	at, err := c.ownFor(ctx, r.of, func(tx *txn.Txn) error {
		b, err := tx.Get(ctx, r.key)
		if err != nil {
			return err
		}
		next = r.first
		if b != nil {
			if len(b) != 8 {
				return fmt.Errorf("catalog: counter %x: %w", r.key, kv.ErrCorruption)
			}
			next = int64(binary.BigEndian.Uint64(b))
		}
		if n = min(r.grow, r.max-next); n <= 0 {
			return sqlerr.New(sqlerr.ProgramLimitExceeded, "out of identifiers")
		}
		return tx.Set(r.key, binary.BigEndian.AppendUint64(nil, uint64(next+n)))
	})
	if err != nil {
		return err
	}
	r.next, r.left, r.at = next, n, at
	r.grow = min(2*r.grow, r.limit)
	return nil
}

// NewID returns an object ID that was never used before.
func (c *Catalog) NewID(ctx context.Context) (table.ID, error) {
	id, err := c.nextID.draw(ctx, c)
	return table.ID(id), err
}

// NewRelationID returns the ID of a relation. The two behind it are those of its row type and of
// the type of arrays of that (table.RowTypeOf).
func (c *Catalog) NewRelationID(ctx context.Context) (table.ID, error) {
	id, err := c.nextID.drawSeveral(ctx, c, 3)
	return table.ID(id), err
}

// NextRowID returns a row ID for a table without a primary key: greater than all before.
func (c *Catalog) NextRowID(ctx context.Context, id table.ID) (int64, error) {
	r, ok := c.rowIDs.Load(id)
	if !ok {
		r, _ = c.rowIDs.LoadOrStore(id, &idRange{
			key: rowIDKey(id), of: id, first: 1, max: math.MaxInt64, grow: 64, limit: 1 << 16,
		})
	}
	return r.(*idRange).draw(ctx, c)
}

// isConflict reports whether a transaction failed because of another one, and may be tried again.
func isConflict(err error) bool {
	var conflict *txn.WriteConflictError
	var exists *txn.AlreadyExistsError
	var locked *txn.LockedError
	return errors.As(err, &conflict) || errors.As(err, &exists) || errors.As(err, &locked)
}
