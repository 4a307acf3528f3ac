package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/clone"
	"github.com/minidb/minidb/txn/gc"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/pages"
	"github.com/minidb/minidb/txn/tso"
)

// RestoreOptions say what is restored where.
type RestoreOptions struct {
	From Place
	// Name is that of the backup whose timestamp is restored. Those that it continues are read too.
	Name string
	// Target is empty. No process has a store open on it.
	Target kv.Engine
	// Anew empties a target that has an unfinished copy or restore, and begins.
	Anew bool
	// PageBytes is about how much is written at a time, and held in memory; 0 means what the target
	// takes best.
	PageBytes int
	// Keys read what is encrypted.
	Keys []Key
	// Progress, if not nil, is called behind each page.
	Progress func(backup string, cells, bytes int64)
}

// Restored is what was restored.
type Restored struct {
	At           tso.Timestamp
	Backups      int
	Cells, Bytes int64
}

// Restore makes of an empty engine the store that a backup has, and opens it to use.
func Restore(ctx context.Context, o RestoreOptions) (Restored, error) {
	all, err := List(ctx, o.From)
	if err != nil {
		return Restored{}, err
	}
	chain, err := Chain(all, o.Name)
	if err != nil {
		return Restored{}, err
	}
	if len(chain) == 0 {
		return Restored{}, errors.New("no backup is named")
	}
	if err := ready(ctx, o.From, o.Keys, chain); err != nil {
		return Restored{}, err
	}
	last := chain[len(chain)-1]
	r := &restoring{o: o, to: pages.NewWriter(o.Target), last: last}
	r.o.PageBytes = cmp.Or(o.PageBytes, r.to.PageBytes())
	if err := r.begin(ctx); err != nil {
		return r.done, err
	}
	for _, m := range chain {
		if err := r.one(ctx, m); err != nil {
			return r.done, err
		}
	}
	err = o.Target.Update(ctx, [][]byte{gc.SafepointRow()},
		func(kr kv.Reader, b *kv.Batch) error { return gc.SetPoint(ctx, kr, b, last.Safepoint) })
	if err != nil {
		return r.done, err
	}
	if err := tso.Filled(ctx, o.Target, txn.OracleKey()); err != nil {
		return r.done, fmt.Errorf("open the target to use: %w", err)
	}
	r.done.At, r.done.Backups = last.At, len(chain)
	return r.done, nil
}

// ready finds what would fail for certain, before the target is touched: a file that is missing, or
// that no key reads.
func ready(ctx context.Context, from Place, by []Key, chain []*Manifest) error {
	names, err := from.Names(ctx)
	if err != nil {
		return err
	}
	for _, m := range chain {
		for i, f := range m.Files {
			name := m.Name + "/" + f.Name
			if _, found := slices.BinarySearch(names, name); !found {
				return fmt.Errorf("%w: %s is missing", ErrDamaged, name)
			}
			if f.Encrypted && i == 0 { // its files have the same recipients, as a rule
				if err := mayRead(ctx, from, name, f, by); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func mayRead(ctx context.Context, from Place, name string, f File, by []Key) error {
	in, err := from.Get(ctx, name)
	if err != nil {
		return err
	}
	_, err = decrypting(in, f, by)
	return errors.Join(err, in.Close())
}

// restoring is a run.
type restoring struct {
	o    RestoreOptions
	to   *pages.Writer
	last *Manifest
	page pages.Page
	done Restored
}

// begin marks the target as one that is being filled (backup I4).
func (r *restoring) begin(ctx context.Context) error {
	by := append([]byte{clone.RestoreOrigin}, r.last.Name...)
	err := clone.Claim(ctx, r.o.Target, r.last.At, by)
	if !r.o.Anew {
		return err
	}
	if errors.As(err, new(*tso.FillingError)) {
		if err := r.to.Empty(ctx); err != nil {
			return fmt.Errorf("empty the target: %w", err)
		}
		return clone.Claim(ctx, r.o.Target, r.last.At, by)
	}
	return err
}

// one restores what one backup of the chain has. Notifications are those of the last one.
func (r *restoring) one(ctx context.Context, m *Manifest) error {
	for _, span := range m.Replaced {
		for _, raw := range mvcc.LoadedSpans(span) {
			if _, err := kv.DeleteSpan(ctx, r.o.Target, raw, 0); err != nil {
				return err
			}
		}
	}
	replaced := func(key []byte) bool {
		for _, span := range m.Replaced {
			if span.Contains(key) {
				return true
			}
		}
		return false
	}
	for _, f := range m.Files {
		if f.Phase == Notifications && m != r.last {
			continue
		}
		err := readFile(ctx, r.o.From, r.o.Keys, m.Name, f, func(key, value []byte) error {
			if f.Phase == Versions && len(m.Replaced) > 0 {
				if user, _, ok := mvcc.KeyOf(key); ok && replaced(user) {
					return nil // it comes again
				}
			}
			if err := r.takes(key, value); err != nil {
				return err
			}
			if r.page.Add(key, value); r.page.Bytes >= r.o.PageBytes && key[0] != dataFamily {
				return r.flush(ctx, m)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := r.flush(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// dataFamily begins the raw keys of values, which come before the records of their versions.
const dataFamily = byte(mvcc.ColumnData)

// takes refuses what is no cell that travels, and what the target cannot take.
func (r *restoring) takes(key, value []byte) error {
	if len(key) == 0 {
		return fmt.Errorf("%w: a cell without a key", ErrDamaged)
	}
	switch mvcc.Column(key[0]) {
	case mvcc.ColumnData, mvcc.ColumnWrite, mvcc.ColumnNotify:
		return r.to.Takes(mvcc.RawCells{Key: key, Value: value})
	}
	return fmt.Errorf("%w: a cell of the column %s", ErrDamaged, mvcc.Column(key[0]))
}

// flush writes the page.
func (r *restoring) flush(ctx context.Context, m *Manifest) error {
	if err := r.to.Add(ctx, &r.page); err != nil {
		return err
	}
	r.done.Cells += int64(len(r.page.Cells))
	r.done.Bytes += int64(r.page.Bytes)
	r.page = pages.Page{}
	if r.o.Progress != nil {
		r.o.Progress(m.Name, r.done.Cells, r.done.Bytes)
	}
	return nil
}

// Verify reads all files of a backup, and of those that it continues, and compares them with their
// manifests.
func Verify(ctx context.Context, from Place, name string, by []Key) (cells, bytes int64,
	err error) {
	all, err := List(ctx, from)
	if err != nil {
		return 0, 0, err
	}
	chain, err := Chain(all, name)
	if err != nil {
		return 0, 0, err
	}
	for _, m := range chain {
		for _, f := range m.Files {
			err := readFile(ctx, from, by, m.Name, f, func(key, value []byte) error {
				cells, bytes = cells+1, bytes+int64(len(key)+len(value))
				return nil
			})
			if err != nil {
				return cells, bytes, err
			}
		}
	}
	return cells, bytes, nil
}
