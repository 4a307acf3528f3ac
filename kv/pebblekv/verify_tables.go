package pebblekv

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/minidb/minidb/kv"
)

// Verify implements kv.Verifier: it compares every block of every live table file with its
// checksum. Logs and the manifest were verified when the store was opened (verify.go). A file that
// a compaction removes meanwhile is passed over: what was in it has just been read.
func (e *Engine) Verify(ctx context.Context, report kv.VerifyReport) error {
	tables, err := e.liveTables()
	if err != nil {
		return err
	}
	var done, total int64
	for _, t := range tables {
		total += t.size
	}
	for _, t := range tables {
		damage, err := e.verifyTable(ctx, t)
		if err != nil {
			return err
		}
		for _, d := range damage {
			report.Damaged(d)
		}
		done += t.size
		report.Progress(done, total)
	}
	return nil
}

// liveTable is a table file that the store uses, with where its keys lie.
type liveTable struct {
	name  string
	size  int64
	bound kv.Span
}

// liveTables lists the files in the order of their names. Several tables may lie in one file.
func (e *Engine) liveTables() ([]liveTable, error) {
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer e.gate.RUnlock()
	levels, err := e.db.SSTables()
	if err != nil {
		return nil, mark(err)
	}
	byName := map[string]liveTable{}
	for _, level := range levels {
		for _, info := range level {
			t := liveTable{name: info.BackingSSTNum.String() + ".sst", size: int64(info.Size)}
			t.bound.Start = bytes.Clone(info.Smallest.UserKey)
			t.bound.End = append(bytes.Clone(info.Largest.UserKey), 0)
			if other, ok := byName[t.name]; ok {
				t.size += other.size
				t.bound.Start = slices.MinFunc([][]byte{t.bound.Start, other.bound.Start},
					bytes.Compare)
				t.bound.End = slices.MaxFunc([][]byte{t.bound.End, other.bound.End}, bytes.Compare)
			}
			byName[t.name] = t
		}
	}
	var out []liveTable
	for _, t := range byName {
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b liveTable) int { return cmp.Compare(a.name, b.name) })
	return out, nil
}

// verifyTable reads a file. Where keys cannot be read each error has the span of some; other damage
// has the span of the whole file.
func (e *Engine) verifyTable(ctx context.Context, t liveTable) (damage []*kv.CorruptionError,
	err error) {
	if err := e.enter(); err != nil { // Close waits for it
		return nil, err
	}
	defer e.gate.RUnlock()
	f, err := e.tables.open(ctx, t.name)
	var broken *kv.CorruptionError
	switch {
	case errors.Is(err, os.ErrNotExist):
		// Open looked whether all were there, and a compaction removes what it has replaced
		return nil, nil
	case errors.As(err, &broken):
		broken.Bound = t.bound
		return []*kv.CorruptionError{broken}, nil
	case err != nil:
		return nil, err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	what, entries, err := f.verify(ctx)
	if err != nil || what == "" {
		return nil, err
	}
	lost := []kv.Span{t.bound}
	if entries {
		if lost, err = kv.ReadableBy(ctx, f.walk, t.bound,
			func(_, _ []byte) error { return nil }); err != nil {
			return nil, err
		}
	}
	if len(lost) == 0 {
		lost = []kv.Span{t.bound}
	}
	for _, span := range lost {
		damage = append(damage, damagedTable(t.name, what, span))
	}
	return damage, nil
}

// verify reads every block and notes those that are damaged. It returns what is wrong with the
// file, nothing for a sound one, and whether entries cannot be read.
func (t *tableReader) verify(ctx context.Context) (what string, entries bool, err error) {
	blocks, err := t.blocks()
	if err != nil {
		return fmt.Sprintf("its index cannot be read: %v", err), true, ctx.Err()
	}
	slices.SortFunc(blocks, func(a, b tableBlock) int { return cmp.Compare(a.Offset, b.Offset) })
	var buf []byte
	var kinds []string
	var first uint64
	for _, b := range blocks {
		if err := ctx.Err(); err != nil {
			return "", false, err
		}
		if t.sound(b, &buf) {
			continue
		}
		if len(t.bad) == 0 {
			first = b.Offset
		}
		t.bad[b.Offset] = true
		if !slices.Contains(kinds, b.kind) {
			kinds = append(kinds, b.kind)
		}
		entries = entries || b.entries
	}
	if len(t.bad) == 0 {
		return "", false, nil
	}
	return fmt.Sprintf("%d of %d blocks, the first at byte %d (%s)",
		len(t.bad), len(blocks), first, strings.Join(kinds, ", ")), entries, nil
}
