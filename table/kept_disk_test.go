package table_test

import (
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/scratch"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// failing is a file on a disk that fails: it cannot be written, cannot be read, or gives other
// bytes.
type failing struct {
	scratch.Handle
	writes, reads, bits *atomic.Bool
}

func (f failing) WriteAt(p []byte, offset int64) (int, error) {
	if f.writes.Load() {
		return 0, syscall.ENOSPC
	}
	return f.Handle.WriteAt(p, offset)
}

func (f failing) ReadAt(p []byte, offset int64) (int, error) {
	if f.reads.Load() {
		return 0, syscall.EIO
	}
	n, err := f.Handle.ReadAt(p, offset)
	if f.bits.Load() {
		p[n/2] ^= 4
	}
	return n, err
}

// onDisk scans a table in one goroutine and in several, and returns by how many sections, and of
// how many of these the columns were in the file.
func (d *db) onDisk(spec table.ScanSpec) (sections table.SectionCounts) {
	d.must(func(tx *txn.Txn) error {
		alone := spec
		alone.Parallel = false
		d.both(tx, alone)
		s, err := table.OpenScan(d.t.Context(), tx, spec)
		require.NoError(d.t, err)
		b := types.NewBatch([]*types.Type{types.TInt8, types.TText})
		for more := true; more; {
			more, err = s.Next(d.t.Context(), b)
			require.NoError(d.t, err)
		}
		sections = s.Sections()
		return s.Close()
	})
	return sections
}

// TestColumnsThatCannotBeReadComeFromTheRows: the file is a hint.
func TestColumnsThatCannotBeReadComeFromTheRows(t *testing.T) {
	several(t)
	var writes, reads, bits atomic.Bool
	file := scratch.New(scratch.Options{Create: func() (scratch.Handle, error) {
		h, err := scratch.CreateIn(t.TempDir())
		return failing{h, &writes, &reads, &bits}, err
	}})
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	d := openDB(t, memkv.New(memkv.Options{}), txn.Options{SectionRows: 1000, SectionSettled: -1,
		SectionCacheBytes: 128 << 10, SectionFile: file})
	desc := d.create(wide())
	fillMany(t, d, desc)
	all, err := table.Spans(desc, nil, nil, false)
	require.NoError(t, err)
	spec := table.ScanSpec{Desc: desc, Out: []int{1, 2}, Spans: all, Parallel: true}
	writes.Store(true)
	for range 3 {
		require.Zero(t, d.onDisk(spec).OnDisk)
	}
	require.Zero(t, file.Live())
	writes.Store(false)
	first := d.onDisk(spec)
	require.Greater(t, first.OnDisk, int64(10))
	require.Equal(t, first.All, first.InMemory+first.OnDisk)
	for _, fails := range []*atomic.Bool{&reads, &bits} {
		fails.Store(true)
		require.Equal(t, first, d.onDisk(spec), "what is kept, and cannot be read")
		fails.Store(false)
		require.Equal(t, first, d.onDisk(spec))
	}
	size := file.Size()
	spec.Out = []int{1, 3}
	require.Equal(t, first.All, d.onDisk(spec).OnDisk, "another column, beside the others")
	require.Less(t, file.Size(), size+size/2)
}

// TestColumnsOfRowsThatChangeAreNotWritten: what changed a moment ago will change again.
func TestColumnsOfRowsThatChangeAreNotWritten(t *testing.T) {
	several(t)
	for settled, wanted := range map[time.Duration]bool{time.Hour: false, -1: true} {
		d := openDB(t, memkv.New(memkv.Options{}), txn.Options{SectionRows: 1000,
			SectionSettled: settled, SectionCacheBytes: 64 << 10, SectionFile: newFile(t, 0)})
		desc := d.create(wide())
		fillMany(t, d, desc)
		all, err := table.Spans(desc, nil, nil, false)
		require.NoError(t, err)
		spec := table.ScanSpec{Desc: desc, Out: []int{1, 2}, Spans: all, Parallel: true}
		d.onDisk(spec) // cuts and keeps
		before := d.onDisk(spec)
		require.Greater(t, before.OnDisk, int64(10), "nothing changed since it was cut")
		d.must(func(tx *txn.Txn) error {
			var rows [][]types.Datum
			s := table.ScanSpec{Desc: desc, Out: []int{0, 1, 2, 3}, Spans: all}
			for i, row := range d.scan(tx, s) {
				if i%500 == 0 {
					rows = append(rows, row)
				}
			}
			w := table.NewWriter(desc, d.cat)
			for _, row := range rows {
				next := append([]types.Datum{}, row...)
				next[1] = types.NewInt(7)
				if err := w.Update(t.Context(), tx, row, next); err != nil {
					return err
				}
			}
			return nil
		})
		d.onDisk(spec)
		after := d.onDisk(spec)
		require.Equal(t, wanted, after.OnDisk > 10, "%v after, %v before", after, before)
	}
}
