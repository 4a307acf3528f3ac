package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/stats"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// SalvageOptions are called with what Salvage finds on its way.
type SalvageOptions struct {
	Lost func(Problem) // is called for everything that could not be copied as it is
	// is called now and then: a table, and how many of its rows were copied
	Progress func(string, int64)
	// Programs compiles the expressions of indexes.
	Programs Programs
}

// Salvage copies the newest committed state of a damaged store into an empty one, as far as it can
// be read: the schema, the rows, the positions of sequences and the statistics. Index entries are
// not copied but made of the rows, so every index agrees with its table. What cannot be read is
// left out, and each such thing is reported:
//
//   - relations whose descriptors lie in a damaged block, with the rows of such tables, counted by
//     their storage ID, and what refers to them: foreign keys, views, defaults that draw from a
//     lost sequence;
//   - rows whose key or value lies in a damaged block, by their key or by the range that they lie
//     in;
//   - changes of transactions that were not settled, where it cannot be read whether they were
//     committed. Of such a row the version before is copied;
//   - a row that has the key of another in a unique index, which such an older version may have;
//   - pages of large objects, which are zeros then, and owners of some;
//   - positions of sequences: they go on behind the values in the column that owns them;
//   - observers, always: what they have seen of the rows is not copied, so they would miss changes.
//
// Requires: nothing else uses the two stores, and from was opened with LeaveFoundLocks.
func Salvage(ctx context.Context, from, to *txn.Store, o SalvageOptions) (err error) {
	snap, err := kv.Latest(from.Engine())
	if err != nil {
		return err
	}
	defer func() {
		// which was met before
		if closed := snap.Close(); err == nil && !errors.Is(closed, kv.ErrCorruption) {
			err = closed
		}
	}()
	s := &salvage{snap: snap, from: from, out: salvageWriter{store: to}, opts: o}
	s.catalog.programs = o.Programs
	defer func() { err = errors.Join(err, s.out.discard(ctx)) }()
	tables, err := s.schema(ctx)
	if err != nil {
		return err
	}
	if err := s.counters(ctx); err != nil {
		return err
	}
	for _, t := range tables {
		if !t.desc.HasRows() {
			continue
		}
		if err := s.table(ctx, t); err != nil {
			return fmt.Errorf("table %s: %w", t.name, err)
		}
	}
	if err := s.lostCounters(ctx, tables); err != nil {
		return err
	}
	if err := s.largeObjects(ctx); err != nil {
		return err
	}
	lost, err := s.copy(ctx, table.PrefixSpan([]byte{table.PrefixStats}),
		s.setOf(ctx, statisticsOf))
	if err != nil {
		return err
	}
	if lost.any() {
		o.Lost(Problem{What: "statistics of tables cannot be read; ANALYZE makes them anew"})
	}
	return s.out.flush(ctx)
}

type salvage struct {
	snap kv.Snapshot // the damaged store, as it was found
	from *txn.Store  // decides what left locks in it
	out  salvageWriter
	opts SalvageOptions
	// catalog prepares descriptors, and nothing else of it is used.
	catalog Catalog

	status struct { // of the transaction that was asked about last
		startTS, commitTS tso.Timestamp
		known             bool
	}

	databases   []table.ID              // that were saved
	relations   map[table.ID]bool       // that were saved
	counterLoss lostKeys                // of sequences and row IDs
	seen        map[table.ID]seenValues // of lost sequences and row IDs
}

// lostKeys is what copy could not read of a span of user keys.
type lostKeys struct {
	spans []kv.Span // where it is unknown which keys there are
	keys  [][]byte  // whose values cannot be read
	older [][]byte  // copied as they were before a change that may or may not be committed
	locks []kv.Span // of the engine's keys: locks that cannot be read
}

func (l *lostKeys) any() bool {
	return len(l.spans)+len(l.keys)+len(l.older)+len(l.locks) > 0
}

// missing reports whether a key may have had a value that was not copied.
func (l *lostKeys) missing(key []byte) bool {
	same := func(k []byte) bool { return bytes.Equal(k, key) }
	return slices.ContainsFunc(l.spans, func(s kv.Span) bool { return s.Contains(key) }) ||
		slices.ContainsFunc(l.keys, same)
}

// setOf returns a function that copies the pairs of saved relations as they are. of returns the
// relation that a key belongs to.
func (s *salvage) setOf(ctx context.Context, of func(key []byte) table.ID) func(key,
	value []byte) error {
	return func(key, value []byte) error {
		if !s.relations[of(key)] {
			return nil
		}
		return s.out.set(ctx, key, value)
	}
}

// statisticsOf returns the table that a key of statistics belongs to.
func statisticsOf(key []byte) table.ID {
	id, _, _, _ := stats.DecodeKey(key)
	return id
}

// counterOf returns the relation that the key of a position or of a row ID belongs to.
func counterOf(key []byte) table.ID {
	id, _, _ := table.ReadID(key[1:])
	return id
}

// copy calls put with every pair of a span that can be read, in no particular order.
func (s *salvage) copy(ctx context.Context, span kv.Span,
	put func(key, value []byte) error) (lost lostKeys, err error) {
	locks, err := s.locked(ctx, span, put, &lost)
	if err != nil {
		return lost, err
	}
	visit := func(key, value []byte) error {
		if _, done := locks[string(key)]; done {
			return nil
		}
		return put(key, value)
	}
	spans, err := kv.ReadableBy(ctx, mvcc.Committed(s.snap, false), span, visit)
	if err != nil {
		return lost, err
	}
	for _, part := range spans { // where the keys can be read, most values may be whole
		more, err := kv.ReadableBy(ctx, mvcc.Committed(s.snap, true), part,
			func(key, _ []byte) error {
				value, err := mvcc.CommittedValue(ctx, s.snap, key)
				if errors.Is(err, kv.ErrCorruption) {
					lost.keys = append(lost.keys, bytes.Clone(key))
					return nil
				}
				if err != nil {
					return err
				}
				return visit(key, value)
			})
		if err != nil {
			return lost, err
		}
		lost.spans = append(lost.spans, more...)
	}
	return lost, nil
}

// locked copies the pairs of a span that are locked: of those whose transaction was committed what
// it wrote, of others what was there before. It returns their keys. They are kept, and not looked
// up again: beside a damaged block a lock may be found by one way of reading and not by another.
func (s *salvage) locked(ctx context.Context, span kv.Span, put func(key, value []byte) error,
	lost *lostKeys) (done map[string]struct{}, err error) {
	done = map[string]struct{}{}
	lost.locks, err = kv.Readable(ctx, s.snap, mvcc.LocksSpan(span),
		func(rawKey, rawValue []byte) error {
			c, err := mvcc.Decode(rawKey, rawValue)
			if err != nil {
				return err
			}
			done[string(c.Key)] = struct{}{}
			commitTS, known, err := s.statusOf(ctx, &c.Lock)
			if err != nil {
				return err
			}
			var value []byte
			if known && commitTS != 0 {
				value, err = mvcc.LockedValue(ctx, s.snap, c.Key, &c.Lock, commitTS)
			} else {
				value, err = mvcc.CommittedValue(ctx, s.snap, c.Key)
			}
			switch {
			case errors.Is(err, kv.ErrCorruption):
				lost.keys = append(lost.keys, c.Key)
				return nil
			case err == nil && !known:
				lost.older = append(lost.older, c.Key)
			}
			if err != nil || value == nil {
				return err
			}
			return put(c.Key, value)
		})
	return done, err
}

// statusOf returns the commit_ts of the transaction that left a lock, zero when it was rolled back.
// known is false when that cannot be read.
func (s *salvage) statusOf(ctx context.Context, l *mvcc.Lock) (commitTS tso.Timestamp, known bool,
	err error) {
	if s.status.startTS != l.StartTS {
		s.status.startTS = l.StartTS
		s.status.commitTS, err = s.from.CommitTSOf(ctx, l)
		s.status.known = err == nil
		if err != nil && !errors.Is(err, kv.ErrCorruption) {
			return 0, false, err
		}
	}
	return s.status.commitTS, s.status.known, nil
}

// salvageWriter writes pairs in transactions of a bounded size.
type salvageWriter struct {
	store    *txn.Store
	tx       *txn.Txn
	n, bytes int
}

const (
	salvageKeys  = 4096
	salvageBytes = 1 << 20
)

func (w *salvageWriter) begin(ctx context.Context) (err error) {
	if w.tx == nil {
		w.tx, err = w.store.Begin(ctx, txn.BeginOptions{})
	}
	return err
}

func (w *salvageWriter) set(ctx context.Context, key, value []byte) error {
	if err := w.begin(ctx); err != nil {
		return err
	}
	w.n, w.bytes = w.n+1, w.bytes+len(key)+len(value)
	return w.tx.Set(key, value)
}

// has reports whether a key was written.
func (w *salvageWriter) has(ctx context.Context, key []byte) (bool, error) {
	if err := w.begin(ctx); err != nil {
		return false, err
	}
	value, err := w.tx.Get(ctx, key)
	return value != nil, err
}

// excluded reports whether a row that was written excludes the row of an entry.
func (w *salvageWriter) excluded(ctx context.Context, b *table.EntryBuilder,
	e table.Entry) (bool, error) {
	if err := w.begin(ctx); err != nil {
		return false, err
	}
	return b.Excluded(ctx, w.tx, e)
}

// step commits what was written if that is enough for one transaction.
func (w *salvageWriter) step(ctx context.Context) error {
	if w.n < salvageKeys && w.bytes < salvageBytes {
		return nil
	}
	return w.flush(ctx)
}

func (w *salvageWriter) flush(ctx context.Context) error {
	if w.tx == nil {
		return nil
	}
	tx := w.tx
	w.tx, w.n, w.bytes = nil, 0, 0
	return tx.Commit(ctx)
}

// discard ends a transaction that a failure has left open.
func (w *salvageWriter) discard(ctx context.Context) error {
	if w.tx == nil {
		return nil
	}
	tx := w.tx
	w.tx = nil
	return tx.Rollback(ctx)
}
