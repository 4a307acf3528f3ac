package pebblekv

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/atomicfs"
	"github.com/minidb/minidb/kv"
)

// Unlisted is what is not known of a store whose list of files cannot be used.
type Unlisted struct {
	Cause  error                 // why it cannot
	Tables int                   // how many table files were used
	Damage []*kv.CorruptionError // parts of table files that cannot be read
	Unsure [][]byte              // keys of which an older value may have been taken; the first ones
}

// unsureMost bounds Unlisted.Unsure.
const unsureMost = 10_000

// listed returns nil when the store's list of files, the manifest, is where it should be, and when
// there is no store yet. Pebble would take a directory without it for a new one and remove the
// tables.
func listed(fs vfs.FS, dir string) error {
	marker, manifest, err := atomicfs.LocateMarker(fs, dir, "manifest")
	if err != nil {
		return err
	}
	if err := marker.Close(); err != nil {
		return err
	}
	names, err := fs.List(dir)
	if err != nil || manifest != "" && slices.Contains(names, manifest) {
		return err
	}
	i := slices.IndexFunc(names,
		func(n string) bool { return strings.HasSuffix(n, ".sst") || strings.HasSuffix(n, ".log") })
	switch {
	case manifest != "":
		return &kv.CorruptionError{File: manifest, What: "the list of the store's files is missing"}
	case i >= 0:
		return &kv.CorruptionError{File: "marker.manifest",
			What: "the name of the list of the store's files is missing"}
	}
	return nil // a new store
}

// openUnlisted makes a store in the directory scratch of everything that can be read in the table
// files and logs of another, because the list of those that are live cannot be used. Files that the
// store had replaced and not yet removed count too. Their entries are older than what replaced
// them, so they change nothing about a key that is there; a key that was deleted comes back when
// the file with its deletion is gone.
func openUnlisted(ctx context.Context, fs *soundLogs, dir, scratch string, cause error,
	opts Options) (_ *Salvaged, err error) {
	tables := newTableFiles(fs.base, dir)
	lost := &Unlisted{Cause: cause}
	m := &tableMerge{unsure: func(key []byte) {
		if len(lost.Unsure) < unsureMost {
			lost.Unsure = append(lost.Unsure, bytes.Clone(key))
		}
	}}
	names, err := fs.base.List(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".sst") {
			if err := m.add(ctx, tables, name, 0, lost); err != nil {
				return nil, err
			}
		}
	}
	logs, err := openLogs(fs, dir, opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, logs.Close()) }()
	live, err := logs.liveTables()
	if err != nil {
		return nil, err
	}
	for _, t := range live { // younger than all that was there
		if err := m.add(ctx, logs.tables, t.name, 1<<62, &Unlisted{}); err != nil {
			return nil, err
		}
	}
	opts.FS, opts.MustExist, opts.readOnce = fs.base, false, false
	e, err := Open(scratch, opts)
	if err != nil {
		return nil, err
	}
	if err := e.fill(ctx, m); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return &Salvaged{Engine: e, Lost: fs.lost, Unlisted: lost}, nil
}

// openLogs opens the logs alone: Pebble makes tables of them, in memory, with the sequence numbers
// that the logs carry.
func openLogs(fs *soundLogs, dir string, opts Options) (*Engine, error) {
	names, err := fs.base.List(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if !strings.HasSuffix(name, ".log") &&
			!strings.HasPrefix(name, "marker."+formatMarker+".") {
			fs.hide(fs.PathJoin(dir, name))
		}
	}
	marker, _, err := atomicfs.LocateMarker(fs, dir, "format-version")
	if err == nil {
		err = errors.Join(marker.Move(pebble.FormatNewest.String()), marker.Close())
	}
	if err != nil {
		return nil, err
	}
	opts.FS, opts.MustExist, opts.readOnce, opts.unlisted = fs, true, true, true
	e, err := Open(dir, opts)
	if err != nil {
		return nil, err
	}
	if err := e.Flush(); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// add adds what can be read of a table file. Its age is its number plus younger.
func (m *tableMerge) add(ctx context.Context, files *tableFiles, name string, younger uint64,
	lost *Unlisted) (err error) {
	number, err := strconv.ParseUint(strings.TrimSuffix(name, ".sst"), 10, 62)
	if err != nil {
		return nil // not one of Pebble's
	}
	r, err := files.open(ctx, name)
	var broken *kv.CorruptionError
	if errors.As(err, &broken) {
		lost.Damage = append(lost.Damage, broken)
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	lost.Tables++
	what, entries, err := r.verify(ctx)
	if err != nil {
		return err
	}
	deletes, err := r.deletedSpans(ctx)
	if errors.Is(err, kv.ErrCorruption) {
		what, err = "its deleted spans cannot be read", nil
	}
	if err != nil {
		return err
	}
	m.deletes = append(m.deletes, deletes...)
	part := tablePart{files: files, name: name, number: number + younger,
		span: kv.Span{Start: []byte{}}}
	var spans []kv.Span
	if entries {
		if spans, err = kv.ReadableBy(ctx, r.walk, part.span,
			func(_, _ []byte) error { return nil }); err != nil {
			return err
		}
	}
	for _, span := range spans {
		lost.Damage = append(lost.Damage, damagedTable(name, what, span))
	}
	if what != "" && len(spans) == 0 {
		lost.Damage = append(lost.Damage, damagedTable(name, what, kv.Span{}))
	}
	return m.addParts(ctx, part, spans, r)
}

// addParts adds what lies between the spans of a file that cannot be read.
func (m *tableMerge) addParts(ctx context.Context, part tablePart, lost []kv.Span,
	r *tableReader) error {
	it, err := r.iter(ctx)
	if err != nil {
		return err
	}
	for _, gap := range append(lost, kv.Span{}) {
		part.span.End = gap.Start
		if it.seekGE(part.span.Start) && part.span.Contains(it.entry().UserKey) {
			p := part
			p.span.Start = bytes.Clone(it.entry().UserKey)
			m.waiting = append(m.waiting, &p)
		}
		if part.span.Start = gap.End; gap.End == nil {
			break
		}
	}
	if err := it.close(); !errors.Is(err, kv.ErrCorruption) {
		return err
	}
	return nil // what was met before
}

// deletedSpans reads the range tombstones of the file.
func (t *tableReader) deletedSpans(ctx context.Context) (out []deletedSpan, err error) {
	it, err := t.r.NewRawRangeDelIter(ctx, sstable.NoFragmentTransforms, sstable.NoReadEnv)
	if err != nil || it == nil {
		return nil, mark(err)
	}
	defer it.Close()
	for s, err := it.First(); ; s, err = it.Next() {
		if err != nil || s == nil {
			return out, mark(err)
		}
		for _, k := range s.Keys {
			span := kv.Span{Start: bytes.Clone(s.Start), End: bytes.Clone(s.End)}
			out = append(out, deletedSpan{span: span, seq: k.SeqNum()})
		}
	}
}

// fill writes what a merge shows into an empty store.
func (e *Engine) fill(ctx context.Context, m *tableMerge) error {
	b := e.db.NewBatch()
	apply := func() error {
		err := errors.Join(e.db.Apply(b, pebble.NoSync), b.Close())
		b = e.db.NewBatch()
		return mark(err)
	}
	err := m.run(ctx, func(key, value []byte) error {
		if err := b.Set(key, value, nil); err != nil || b.Len() < 1<<20 {
			return err
		}
		return apply()
	})
	if err == nil {
		err = apply()
	}
	return errors.Join(err, b.Close())
}
