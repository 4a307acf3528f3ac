package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// ScanSpec describes what a Scanner reads.
type ScanSpec struct {
	Desc  *Desc
	Index *Index // nil: the rows
	// Out are ordinals of Desc.Columns: the columns of the batches.
	Out []int
	// Spans are from Spans, made with the same Reverse.
	Spans   []kv.Span
	Reverse bool
	// AnyOrder allows the rows that entries of the index name to be read in the order of their own
	// keys, batch by batch: neighbours are read together.
	AnyOrder bool
	// Parallel lets several goroutines read what is left after a few thousand rows. Requires: all
	// rows are wanted, but none that the transaction writes while the scan is open.
	Parallel bool
	// BatchRows hints how many rows are wanted at once; 0 is types.BatchSize.
	BatchRows int
}

// Scanner reads rows in key order (see ScanSpec.AnyOrder). It belongs to its transaction's
// goroutine. Writes that the transaction makes while it is open may or may not be seen; a row that
// it deletes is not seen.
type Scanner struct {
	tx       *txn.Txn
	spec     ScanSpec
	l        *layout
	dec      *decoder
	fetch    *fetcher // reads the rows of entries that do not cover; nil otherwise
	it       *txn.Iterator
	next     int // the first span not begun
	want     int // rows in the next batch
	keys     [][]byte
	rows     int // of the present span, as long as the rest may be read in parallel
	after    int // so many rows, that is
	rest     *parallelScan
	sections SectionCounts
}

// OpenScan begins a scan; nothing is read before Next.
func OpenScan(_ context.Context, tx *txn.Txn, spec ScanSpec) (*Scanner, error) {
	l, err := layoutOf(spec.Desc, spec.Index)
	if err != nil {
		return nil, err
	}
	s := &Scanner{tx: tx, spec: spec, l: l, want: spec.BatchRows}
	if s.want <= 0 || s.want > types.BatchSize {
		s.want = types.BatchSize
	}
	s.after = parallelAfter
	if n := tx.SectionRows(); n > 0 {
		s.after = min(s.after, n)
	}
	if l.index != nil && !Covering(spec.Desc, spec.Index, spec.Out) {
		rows, err := layoutOf(spec.Desc, nil)
		if err != nil {
			return nil, err
		}
		s.fetch = &fetcher{tx: tx, rows: rows, dec: rows.decoder(spec.Out),
			sort: spec.AnyOrder}
		return s, nil
	}
	s.dec = l.decoder(spec.Out)
	return s, nil
}

// Next empties b and fills it with the next rows; false at the end.
func (s *Scanner) Next(ctx context.Context, b *types.Batch) (bool, error) {
	b.Reset()
	for b.Len == 0 {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		more, err := s.fill(ctx, b)
		if err != nil {
			return false, err
		}
		if !more {
			return b.Len > 0, nil
		}
	}
	return true, nil
}

// fill reads up to a batch of entries; false when the spans are used up.
func (s *Scanner) fill(ctx context.Context, b *types.Batch) (more bool, err error) {
	if s.rest != nil {
		if more, err = s.fillRest(ctx, b); more || err != nil {
			return more, err
		}
	}
	defer trim(b)
	n := 0
	for n < s.want {
		if s.it == nil {
			if s.next == len(s.spec.Spans) {
				return false, s.flush(ctx, b)
			}
			if s.spec.Spans[s.next].IsPoint() {
				m, err := s.points(ctx, b, s.want-n)
				if err != nil {
					return false, err
				}
				n += m
				continue
			}
			if cut, err := s.begin(ctx, b); cut || err != nil {
				return cut, err
			}
		}
		if !s.it.Next() {
			if err := s.closeIterator(); err != nil {
				return false, err
			}
			continue
		}
		if err := s.take(s.it.Key(), s.it.Value(), b); err != nil {
			return false, err
		}
		n++
		if s.rows++; s.rows == s.after && s.inParallel() {
			return true, s.splitRest(ctx, b)
		}
	}
	return true, s.flush(ctx, b)
}

// begin begins the next span. cut reports that it was cut into sections, which s.rest reads once
// the batch that was begun is used.
func (s *Scanner) begin(ctx context.Context, b *types.Batch) (cut bool, err error) {
	span := s.spec.Spans[s.next]
	if s.inParallel() {
		if s.rest, err = s.restOfSections(ctx, span, b); err != nil {
			return false, err
		}
		if s.rest != nil {
			s.sections.All += int64(len(s.rest.pieces))
			s.sections.InMemory += int64(len(s.rest.pieces) - len(s.rest.read))
			s.sections.OnDisk += int64(s.rest.onDisk())
		}
	}
	s.next++
	s.rows = 0
	if s.rest != nil {
		return true, nil
	}
	s.it, err = s.tx.Scan(ctx, span,
		txn.ScanOptions{Reverse: s.spec.Reverse, KeysOnly: s.keysOnly()})
	return false, err
}

func (s *Scanner) inParallel() bool {
	return s.spec.Parallel && s.fetch == nil && !s.spec.Reverse
}

// splitRest has what is left of the present span read in parallel, if it can be.
func (s *Scanner) splitRest(ctx context.Context, b *types.Batch) (err error) {
	span := s.spec.Spans[s.next-1]
	all := PrefixSpan(s.l.prefix)
	whole := bytes.Equal(span.Start, all.Start) && bytes.Equal(span.End, all.End)
	span.Start = kv.Successor(s.it.Key())
	if s.rest, err = s.parallel(ctx, span, whole, b); err != nil || s.rest == nil {
		return err
	}
	return s.closeIterator()
}

// fillRest is fill from s.rest, which it closes at its end.
func (s *Scanner) fillRest(ctx context.Context, b *types.Batch) (more bool, err error) {
	if more, err = s.rest.fill(ctx, b); more || err != nil {
		return more, err
	}
	s.rest.cut.apply(s.tx, PrefixSpan(s.l.prefix))
	return false, s.closeRest()
}

func (s *Scanner) closeRest() error {
	if s.rest == nil {
		return nil
	}
	err := s.rest.close()
	s.rest = nil
	return err
}

// keysOnly reports whether no value is decoded: all columns are in the key.
func (s *Scanner) keysOnly() bool {
	return s.fetch == nil && s.l.index == nil && len(s.dec.values) == 0
}

// points reads a run of point spans with one call, at most limit of them.
func (s *Scanner) points(ctx context.Context, b *types.Batch, limit int) (int, error) {
	spans := s.spec.Spans[s.next:]
	if len(spans) == 1 || limit == 1 || !spans[1].IsPoint() {
		s.next++
		key := spans[0].Start
		value, err := s.tx.Get(ctx, key)
		if err != nil || value == nil {
			return 1, err
		}
		return 1, s.take(key, value, b)
	}
	s.keys = s.keys[:0]
	for len(s.keys) < min(limit, len(spans)) && spans[len(s.keys)].IsPoint() {
		s.keys = append(s.keys, spans[len(s.keys)].Start)
	}
	s.next += len(s.keys)
	values, err := s.tx.GetMany(ctx, s.keys)
	if err != nil {
		return 0, err
	}
	for i, v := range values {
		if v != nil {
			if err := s.take(s.keys[i], v, b); err != nil {
				return 0, err
			}
		}
	}
	return len(s.keys), nil
}

// take decodes an entry into b, or keeps its row key for flush.
func (s *Scanner) take(key, value []byte, b *types.Batch) error {
	rest := key[len(s.l.prefix):]
	if s.fetch == nil {
		return s.dec.append(b, rest, value)
	}
	rowKey, _, err := s.l.splitEntry(rest, value)
	if err != nil {
		return err
	}
	s.fetch.add(rowKey)
	return nil
}

func (s *Scanner) flush(ctx context.Context, b *types.Batch) error {
	if s.fetch == nil {
		return nil
	}
	return s.fetch.flush(ctx, s.l, b, nil)
}

func (s *Scanner) closeIterator() error {
	if s.it == nil {
		return nil
	}
	err := s.it.Err()
	if cerr := s.it.Close(); err == nil {
		err = cerr
	}
	s.it = nil
	return err
}

// SectionCounts are numbers of sections (txn.Section): of those by which spans are read, those
// whose columns were kept in memory, and those whose columns were kept on disk.
type SectionCounts struct{ All, InMemory, OnDisk int64 }

// Add adds the sections of another scan.
func (c *SectionCounts) Add(o SectionCounts) {
	c.All, c.InMemory, c.OnDisk = c.All+o.All, c.InMemory+o.InMemory, c.OnDisk+o.OnDisk
}

// Sections returns the sections of the spans that were begun.
func (s *Scanner) Sections() SectionCounts { return s.sections }

// Close ends the scan.
func (s *Scanner) Close() error {
	return errors.Join(s.closeRest(), s.closeIterator())
}

// fetcher reads rows by their keys, many at a time, in the order in which they were added, or with
// sort in the order of the keys.
type fetcher struct {
	tx    *txn.Txn
	rows  *layout
	dec   *decoder
	sort  bool // not with tags
	arena []byte
	ends  []int
	keys  [][]byte
	tags  []int32
}

func (f *fetcher) add(rowKey []byte) {
	f.arena = append(append(f.arena, f.rows.prefix...), rowKey...)
	f.ends = append(f.ends, len(f.arena))
}

// addTagged remembers a number that flush reports with the row.
func (f *fetcher) addTagged(rowKey []byte, tag int32) {
	f.add(rowKey)
	f.tags = append(f.tags, tag)
}

// flush appends the rows to b, and their tags to which unless that is nil. from is the index whose
// entries named the rows, or nil when it is no error that one is absent.
func (f *fetcher) flush(ctx context.Context, from *layout, b *types.Batch, which *[]int32) error {
	if len(f.ends) == 0 {
		return nil
	}
	f.keys = f.keys[:0]
	begin := 0
	for _, end := range f.ends {
		f.keys = append(f.keys, f.arena[begin:end])
		begin = end
	}
	if f.sort {
		slices.SortFunc(f.keys, bytes.Compare)
	}
	values, err := f.tx.GetMany(ctx, f.keys)
	if err != nil {
		return err
	}
	for i, v := range values {
		if v == nil {
			// The transaction may have deleted the row itself after the entry was read.
			if from != nil && !f.tx.Dirty() {
				return fmt.Errorf("index %q of table %q: entry without row: %w",
					from.index.Name, from.desc.Name, kv.ErrCorruption)
			}
			continue
		}
		if err := f.dec.append(b, f.keys[i][len(f.rows.prefix):], v); err != nil {
			return err
		}
		if which != nil {
			*which = append(*which, f.tags[i])
		}
	}
	f.arena, f.ends, f.tags = f.arena[:0], f.ends[:0], f.tags[:0]
	return nil
}
