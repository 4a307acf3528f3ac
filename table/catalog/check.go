package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"

	"github.com/minidb/minidb/kv"
)

// Problem is something that Check found.
type Problem struct {
	Relation string // schema-qualified, with its database; "" when none is to blame
	Index    string
	Key      []byte
	What     string
}

func (p Problem) String() string {
	s := p.What
	if p.Index != "" {
		s = "index " + p.Index + ": " + s
	}
	if p.Relation != "" {
		s = p.Relation + ": " + s
	}
	if p.Key != nil {
		s += fmt.Sprintf(" [key %x]", p.Key)
	}
	return s
}

// Check verifies the whole store at one timestamp: names and descriptors agree, every row has its
// entry in every index with the right value, every entry has its row, unique keys are unique, no
// key of a table or an observer is without an owner, and no lock is left of a transaction that is
// gone. report gets each problem; Check itself fails only when it cannot go on.
func Check(ctx context.Context, store *txn.Store, report func(Problem), with ...Option) error {
	return CheckAt(ctx, store, 0, report, with...)
}

// Report receives what CheckWithProgress finds.
type Report struct {
	Problem func(Problem)
	// Progress is called whenever Every more keys of tables have been read, with the table that is
	// being read and the number of all so far.
	Progress func(relation string, keys int64)
	Every    int64
	// With has the options with which the catalog is opened.
	With []Option
}

// CheckWithProgress is Check, and reports its progress.
func CheckWithProgress(ctx context.Context, store *txn.Store, r Report) error {
	return checkAt(ctx, store, 0, r)
}

// CheckAt is Check as of a timestamp at or above the safepoint. It does not look at locks, which
// have no past. Zero is now.
func CheckAt(ctx context.Context, store *txn.Store, ts tso.Timestamp, report func(Problem),
	with ...Option) error {
	return checkAt(ctx, store, ts, Report{Problem: report, With: with})
}

func checkAt(ctx context.Context, store *txn.Store, ts tso.Timestamp, r Report) error {
	tx, err := store.Begin(ctx, txn.BeginOptions{ReadOnly: true, StartTS: ts})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	c := &Catalog{store: store}
	c.cache.descs = map[table.ID]*table.Desc{}
	c.apply(r.With)
	ch := &checker{tx: tx, v: c.View(tx), report: r.Problem, progress: r,
		names: map[table.ID]string{}, descs: map[table.ID]*table.Desc{}}
	if err := ch.catalog(ctx); err != nil {
		return err
	}
	for _, d := range ch.order {
		if !d.HasRows() {
			continue
		}
		if err := ch.table(ctx, d); err != nil {
			return fmt.Errorf("table %s: %w", ch.names[d.ID], err)
		}
	}
	if err := ch.foreignKeys(ctx); err != nil {
		return err
	}
	present := store
	if ts != 0 {
		present = nil
	}
	if err := ch.observers(ctx, present); err != nil {
		return err
	}
	if err := ch.incrementalViews(ctx); err != nil {
		return err
	}
	if err := ch.largeObjects(ctx); err != nil {
		return err
	}
	if err := ch.strays(ctx); err != nil || ts != 0 {
		return err
	}
	return ch.locks(ctx, store)
}

type checker struct {
	tx       *txn.Txn
	v        *View
	report   func(Problem)
	progress Report
	keys     int64 // of tables, that have been read
	names    map[table.ID]string
	descs    map[table.ID]*table.Desc
	order    []*table.Desc
}

// passed counts a key of a table that has been read.
func (ch *checker) passed(d *table.Desc) {
	if ch.keys++; ch.progress.Progress != nil && ch.keys%ch.progress.Every == 0 {
		ch.progress.Progress(ch.names[d.ID], ch.keys)
	}
}

// catalog reads all names, and verifies that they and the descriptors agree.
func (ch *checker) catalog(ctx context.Context) error {
	dbs, err := ch.v.Databases(ctx)
	if err != nil {
		return err
	}
	for _, db := range dbs {
		rels, err := ch.v.Relations(ctx, db.ID)
		if err != nil {
			return err
		}
		for _, d := range rels {
			name := db.Name + "." + d.Schema + "." + d.Name
			ch.names[d.ID], ch.descs[d.ID] = name, d
			ch.order = append(ch.order, d)
			for i, s := range d.States() {
				ch.names[s.ID] = fmt.Sprintf("%s, state %d", name, i+1)
			}
			if err := ch.relation(ctx, name, d); err != nil {
				return err
			}
		}
	}
	prefix := []byte{table.PrefixCatalog, tagDesc}
	return scan(ctx, ch.tx, prefix, func(key, _ []byte) error {
		if id, _, ok := table.ReadID(key[len(prefix):]); !ok || ch.descs[id] == nil {
			ch.report(Problem{Key: bytes.Clone(key), What: "descriptor without a name"})
		}
		return nil
	})
}

func (ch *checker) relation(ctx context.Context, name string, d *table.Desc) error {
	if d.HasRows() {
		if found, err := ch.v.RelationByStorage(ctx, d.Storage()); err != nil || found == nil ||
			found.ID != d.ID {
			ch.report(Problem{Relation: name, What: fmt.Sprintf("storage ID %d does not lead to "+
				"it", d.Storage())})
		}
	}
	check := func(n string, want nameEntry) error {
		e, err := ch.v.nameIn(ctx, d.DatabaseID, d.SchemaID, n)
		if err != nil {
			return err
		}
		if e != want {
			ch.report(Problem{Relation: name,
				What: fmt.Sprintf("the name %q does not lead to it", n)})
		}
		return nil
	}
	if err := check(d.Name, nameEntry{relation: d.ID}); err != nil {
		return err
	}
	for i := range d.Indexes {
		if err := check(d.Indexes[i].Name,
			nameEntry{relation: d.ID, index: d.Indexes[i].OID}); err != nil {
			return err
		}
	}
	return nil
}

// table verifies rows against entries. It reads each side once, in order, and compares sums: only
// an index whose sum differs is looked through row by row and entry by entry, to name what is
// wrong.
func (ch *checker) table(ctx context.Context, d *table.Desc) error {
	builders := make([]*table.EntryBuilder, len(d.Indexes))
	sums := make([]entrySum, len(d.Indexes)) // of what the rows ask for
	failed := make([]bool, len(d.Indexes))   // the entries of a row could not be made
	for i := range d.Indexes {
		b, err := table.NewEntryBuilder(d, &d.Indexes[i])
		if err != nil {
			return err
		}
		builders[i] = b
	}
	err := Rows(ctx, ch.tx, d, func(row []types.Datum) error {
		ch.passed(d)
		for i, b := range builders {
			if d.Indexes[i].ID == table.RowIndexID {
				continue
			}
			entries, err := b.Entries(ctx, row)
			if err != nil {
				failed[i] = true // compare names the rows
				continue
			}
			for _, e := range entries {
				sums[i].add(e.Key, e.Value)
			}
		}
		for i := range d.Columns {
			if d.Columns[i].NotNull && row[i].Null {
				ch.report(Problem{Relation: ch.names[d.ID],
					What: fmt.Sprintf("NULL in column %q, which is NOT NULL, of row %s",
						d.Columns[i].Name, table.FormatRow(d, row))})
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range d.Indexes {
		ix := &d.Indexes[i]
		if ix.ID == table.RowIndexID {
			continue
		}
		have, err := ch.sumOf(ctx, d, ix.ID)
		if err != nil {
			return err
		}
		if have != sums[i] || failed[i] {
			if err := ch.compare(ctx, d, ix, builders[i]); err != nil {
				return err
			}
			continue
		}
		if err := ch.exclusion(ctx, d, ix); err != nil {
			return err
		}
	}
	return nil
}

// exclusion reports rows that exclude each other by an EXCLUDE constraint.
func (ch *checker) exclusion(ctx context.Context, d *table.Desc, ix *table.Index) error {
	if !ix.Exclusion() {
		return nil
	}
	return table.Excluding(ctx, ch.tx, d, ix, func(row, other []types.Datum) error {
		ch.report(Problem{Relation: ch.names[d.ID], Index: ix.Name,
			What: "rows " + table.FormatRow(d, other) + " and " + table.FormatRow(d, row) +
				" exclude each other"})
		return ctx.Err()
	})
}

// compare names every row and every entry that has not its counterpart.
func (ch *checker) compare(ctx context.Context, d *table.Desc, ix *table.Index,
	b *table.EntryBuilder) error {
	err := Rows(ctx, ch.tx, d,
		func(row []types.Datum) error { return ch.rowEntry(ctx, d, ix, b, row) })
	if err != nil {
		return err
	}
	return ch.entries(ctx, d, ix, b)
}

func (ch *checker) rowEntry(ctx context.Context, d *table.Desc, ix *table.Index,
	b *table.EntryBuilder, row []types.Datum) error {
	p := Problem{Relation: ch.names[d.ID], Index: ix.Name}
	entries, err := b.Entries(ctx, row)
	if err != nil {
		p.What = "entry of row " + table.FormatRow(d, row) + " cannot be made: " + err.Error()
		ch.report(p)
		return ctx.Err()
	}
	for _, e := range entries {
		have, err := ch.tx.Get(ctx, e.Key)
		if err != nil {
			return err
		}
		p.Key = bytes.Clone(e.Key)
		switch {
		case have == nil:
			p.What = "row " + table.FormatRow(d, row) + " has no entry"
		case !bytes.Equal(have, e.Value):
			p.What = "entry of row " + table.FormatRow(d, row) + " has another value"
		default:
			continue
		}
		ch.report(p)
	}
	return nil
}

// entries verifies that every entry has a row, and is that row's entry.
func (ch *checker) entries(ctx context.Context, d *table.Desc, ix *table.Index,
	b *table.EntryBuilder) error {
	span := d.IndexSpan(ix.ID)
	it, err := ch.tx.Scan(ctx, span, txn.ScanOptions{})
	if err != nil {
		return err
	}
	defer func() { _ = it.Close() }()
	for it.Next() {
		p := Problem{Relation: ch.names[d.ID], Index: ix.Name, Key: bytes.Clone(it.Key())}
		rowKey, err := table.RowKeyOf(d, ix, it.Key(), it.Value())
		if err != nil {
			p.What = "entry cannot be read: " + err.Error()
			ch.report(p)
			continue
		}
		value, err := ch.tx.Get(ctx, rowKey)
		if err != nil {
			return err
		}
		if value == nil {
			p.What = "entry without row"
			ch.report(p)
			continue
		}
		row, err := table.DecodeRow(d, rowKey, value)
		if err != nil {
			return err
		}
		entries, err := b.Entries(ctx, row)
		if err != nil {
			continue // rowEntry has reported the row
		}
		if !slices.ContainsFunc(entries,
			func(e table.Entry) bool { return bytes.Equal(e.Key, p.Key) }) {
			p.What = "entry does not belong to its row " + table.FormatRow(d, row)
			ch.report(p)
		}
	}
	return it.Err()
}

// strays finds keys of tables and indexes that do not exist, skipping from index to index. What
// lies in a dropped span waits for the collector.
func (ch *checker) strays(ctx context.Context) error {
	dropped, err := ch.tx.Dropped(ctx)
	if err != nil {
		return err
	}
	byStorage := ch.byStorage()
	span := table.PrefixSpan([]byte{table.PrefixTable})
	for !span.Empty() {
		keys, err := someKeys(ctx, ch.tx, span, 1)
		if err != nil || len(keys) == 0 {
			return err
		}
		key := keys[0]
		if i := slices.IndexFunc(dropped, func(s kv.Span) bool { return s.Contains(key) }); i >= 0 {
			span.Start = dropped[i].End
			continue
		}
		k, ok := table.DecodeKey(key)
		d := byStorage[k.Storage]
		switch {
		case !ok:
			ch.report(Problem{Key: key, What: "key of no table"})
			span.Start = append(key, 0)
			continue
		case d == nil:
			span.Start = table.StorageSpan(k.Storage).End
		default:
			span.Start = k.IndexSpan().End
		}
		if d != nil && (k.Index == table.RowIndexID || d.Index(k.Index) != nil) {
			continue
		}
		if load, err := ch.isLoad(ctx, key); err != nil || load {
			if err != nil {
				return err
			}
			continue
		}
		p := Problem{Key: key, What: fmt.Sprintf("rows under storage ID %d, which belongs to no "+
			"table", k.Storage)}
		if d != nil {
			p.Relation = ch.names[d.ID]
			p.What = fmt.Sprintf("entries of index %d, which does not exist", k.Index)
		}
		ch.report(p)
	}
	return nil
}

// locks finds what transactions that are gone left behind. Their locks may stay until a transaction
// meets them, and the reads above have not met all: those of statistics, of sequences, and those
// that no reader needs to resolve. So they are resolved here; a lock that is left then is an error.
func (ch *checker) locks(ctx context.Context, store *txn.Store) error {
	now, err := store.Now(ctx)
	if err != nil {
		return err
	}
	if err := store.SettleExpired(ctx, now); err != nil {
		return err
	}
	return expiredLocks(ctx, store, now, func(key []byte, l mvcc.Lock) error {
		ch.report(Problem{Key: bytes.Clone(key), What: fmt.Sprintf(
			"lock of the transaction started at %s, which is gone (primary %x)", l.StartTS,
			l.Primary)})
		return nil
	})
}

// expiredLocks visits the locks that are in the store now and whose time to live was over at a
// time.
func expiredLocks(ctx context.Context, store *txn.Store, now tso.Timestamp,
	visit func(key []byte, l mvcc.Lock) error) error {
	snap, err := kv.Latest(store.Engine())
	if err != nil {
		return err
	}
	err = mvcc.Locks(ctx, snap, kv.Span{}, func(key []byte, l mvcc.Lock) error {
		if !l.Expired(now) {
			return nil
		}
		return visit(key, l)
	})
	return errors.Join(err, snap.Close())
}
