package spill

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/scratch"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/types"
)

// counter is an Account.
type counter struct{ used, peak int64 }

func (c *counter) Grow(n int64) error {
	c.used += n
	c.peak = max(c.peak, c.used)
	return nil
}

func (c *counter) Shrink(n int64) { c.used -= n }

func newFile(t testing.TB, mem Account) *File {
	d, err := NewDir(t.TempDir(), Options{})
	require.NoError(t, err)
	f := d.NewFile(7, mem, 0, 1<<20)
	t.Cleanup(func() {
		require.NoError(t, f.Close())
		require.Zero(t, d.Open())
	})
	return f
}

// generated makes a value of a type; depth bounds nested ones.
func generated(dice *rand.Rand, t *types.Type, depth int) types.Datum {
	if dice.IntN(5) == 0 {
		return types.Null
	}
	switch t.Family.Storage() {
	case types.I64:
		return types.NewInt([]int64{0, 1, -1, math.MaxInt64, math.MinInt64, dice.Int64(),
			int64(dice.IntN(300))}[dice.IntN(7)])
	case types.F64:
		return types.NewFloat([]float64{0, math.Copysign(0, -1), math.Inf(1), dice.NormFloat64(),
			math.MaxFloat64}[dice.IntN(5)])
	case types.Str:
		b := make([]byte, []int{0, 1, 7, 300, 70_000}[dice.IntN(20)/4%5])
		for i := range b {
			b[i] = byte(dice.Uint32())
		}
		return types.NewString(string(b))
	case types.Dec:
		if depth > 0 {
			return types.NewDecimal(types.NumericFromInt(int64(dice.IntN(9))))
		}
		d, err := types.ParseText(types.TNumeric, []string{"0", "NaN", "-Infinity", "1.500",
			"-7e100", "123456789012345678901234567890.000000000000000000001"}[dice.IntN(6)], nil)
		if err != nil {
			panic(err)
		}
		return d
	case types.Iv:
		return types.NewInterval(types.IntervalValue{Months: int32(dice.Int32()) - 1<<30,
			Days: -int32(dice.IntN(100)), Micros: dice.Int64() - 1<<62})
	case types.Arr:
		return generatedArray(dice, t, depth)
	}
	return types.Datum{} // void
}

func generatedArray(dice *rand.Rand, t *types.Type, depth int) types.Datum {
	a := &types.ArrayValue{}
	elem := types.TText
	if t.Elem != nil {
		elem = t.Elem
	}
	n := dice.IntN(4)
	for range n {
		d := types.Null
		if depth < 3 {
			d = generated(dice, elem, depth+1)
		}
		a.Elems = append(a.Elems, d)
	}
	if n > 0 && t.Family == types.Array {
		a.Dims, a.Lower = []int{n}, []int{dice.IntN(5) - 2}
	}
	if t.Family == types.Record {
		a.Types = make([]*types.Type, n)
		a.Names = make([]string, n)
		for i := range n {
			a.Types[i], a.Names[i] = elem, fmt.Sprint("f", i)
		}
	}
	return types.Datum{Arr: a}
}

// equal compares bit by bit: what comes back is what was written, not just equal in SQL.
func equal(t *testing.T, typ *types.Type, want, got types.Datum) {
	if typ.Family.Storage() == types.F64 {
		require.Equal(t, math.Float64bits(want.F), math.Float64bits(got.F), typ.Name)
		return
	}
	if want.Dec != nil {
		require.Zero(t, types.Compare(typ, want, got))
		require.Equal(t, types.Text(typ, want, nil), types.Text(typ, got, nil))
		return
	}
	require.Equal(t, want, got, typ.Name)
}

// TestEveryTypeComesBack: generated values of all types, in frames and pages of many sizes.
func TestEveryTypeComesBack(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine at a time: the race detector, which runs short tests, sees nothing")
	}
	dice := rand.New(rand.NewPCG(1, 2))
	mem := &counter{}
	f := newFile(t, mem)
	for _, typ := range types.All() {
		s := f.NewStream([]*types.Type{typ, types.TInt8})
		var rows []types.Datum
		for range 1 + dice.IntN(6) {
			b := types.NewBatch([]*types.Type{typ, types.TInt8})
			n := 1 + dice.IntN(300)
			var sel []int32
			for i := range n {
				d := generated(dice, typ, 0)
				b.AppendRow([]types.Datum{d, types.NewInt(int64(len(rows)))})
				if dice.IntN(3) > 0 {
					sel = append(sel, int32(i))
					rows = append(rows, d)
				}
			}
			// The second column holds the row number of those that are kept.
			k := int64(len(rows) - len(sel))
			for _, i := range sel {
				b.Cols[1].I[i] = k
				k++
			}
			require.NoError(t, s.Add(b.Cols, sel))
		}
		require.NoError(t, s.Flush())
		require.EqualValues(t, len(rows), s.Rows())
		compareStream(t, dice, s, typ, rows)
		s.Free()
	}
	require.Zero(t, mem.used)
	require.Zero(t, f.disk.Live())
}

// compareStream reads all rows in order, from some rows on, and as pages.
func compareStream(t *testing.T, dice *rand.Rand, s *Stream, typ *types.Type, rows []types.Datum) {
	r := s.Reader()
	defer r.Close()
	for range 4 {
		at := dice.IntN(len(rows) + 1)
		require.NoError(t, r.MoveTo(int64(at)))
		for {
			b, err := r.Next()
			require.NoError(t, err)
			if b == nil {
				break
			}
			for i := range b.Rows() {
				require.EqualValues(t, at, b.Cols[1].I[b.Row(i)])
				equal(t, typ, rows[at], b.Cols[0].Get(b.Row(i)))
				at++
			}
		}
		require.Equal(t, len(rows), at)
	}
	p := s.Reader()
	defer p.Close()
	for n := range 20 {
		row := int64(dice.IntN(max(len(rows), 1)))
		if n < len(rows) && n > 10 {
			row = int64(n)
		}
		if len(rows) == 0 {
			continue
		}
		b, first, err := p.Page(row)
		require.NoError(t, err)
		equal(t, typ, rows[row], b.Cols[0].Get(int(row-first)))
	}
}

// ints makes a batch of n integers from on.
func ints(from, n int) *types.Batch {
	b := types.NewBatch([]*types.Type{types.TInt8})
	for i := range n {
		b.AppendRow([]types.Datum{types.NewInt(int64(from+i) * 1_000_003)})
	}
	return b
}

func fill(t *testing.T, s *Stream, batches int) {
	for i := range batches {
		b := ints(i*1000, 1000)
		sel := make([]int32, b.Len)
		for k := range sel {
			sel[k] = int32(k)
		}
		require.NoError(t, s.Add(b.Cols, sel))
	}
	require.NoError(t, s.Flush())
}

func TestDamageIsFound(t *testing.T) {
	for _, at := range []int64{0, 3, 4, 5, 100, 3000} {
		f := newFile(t, &counter{})
		var h scratch.Handle
		f.dir.opts.Create = func() (made scratch.Handle, err error) {
			h, err = scratch.CreateIn("")
			return h, err
		}
		s := f.NewStream([]*types.Type{types.TInt8})
		fill(t, s, 3)
		var b [1]byte
		_, err := h.ReadAt(b[:], at)
		require.NoError(t, err)
		b[0] ^= 0x10
		_, err = h.WriteAt(b[:], at)
		require.NoError(t, err)
		r := s.Reader()
		_, err = r.Next()
		require.Equal(t, sqlerr.DataCorrupted, code(t, err))
		r.Close()
	}
}

// TestRoomIsUsedAgain: streams that are freed leave their room to others.
func TestRoomIsUsedAgain(t *testing.T) {
	mem := &counter{}
	f := newFile(t, mem)
	size := int64(0)
	for range 10 {
		s := f.NewStream([]*types.Type{types.TInt8})
		fill(t, s, 50)
		if size == 0 {
			size = f.disk.Size()
		}
		require.Equal(t, size, f.disk.Size())
		s.Free()
		require.Zero(t, mem.used)
	}
	require.Less(t, mem.peak, int64(6*f.block))
}

// TestAFileHasNoName: nothing is left in the directory, even while a statement runs, and what an
// older process left is removed.
func TestAFileHasNoName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spill")
	require.NoError(t, os.MkdirAll(path, 0o700))
	left := filepath.Join(path, "minidb-spill-1")
	require.NoError(t, os.WriteFile(left, []byte("x"), 0o600))
	d, err := NewDir(path, Options{})
	require.NoError(t, err)
	require.NoFileExists(t, left)
	f := d.NewFile(7, &counter{}, 0, 1<<20)
	fill(t, f.NewStream([]*types.Type{types.TInt8}), 10)
	require.EqualValues(t, 1, d.Open())
	files, bytes := d.Stats(7)
	require.EqualValues(t, 1, files)
	require.EqualValues(t, f.disk.Live(), (bytes+scratch.Page-1)/scratch.Page*scratch.Page)
	files, _ = d.Stats(8)
	require.Zero(t, files)
	names, err := os.ReadDir(path)
	require.NoError(t, err)
	require.Empty(t, names)
	require.NoError(t, f.Close())
	require.NoError(t, f.Close())
	require.Zero(t, d.Open())
}

// full is a file on a disk that is full after so many bytes.
type full struct {
	scratch.Handle
	room int
}

func (f *full) WriteAt(p []byte, offset int64) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, &os.PathError{Op: "write", Path: "spill", Err: syscall.ENOSPC}
	}
	return f.Handle.WriteAt(p, offset)
}

func TestNoRoom(t *testing.T) {
	plain, err := NewDir("", Options{})
	require.NoError(t, err)
	write := func(d *Dir, limit int64) error {
		f := d.NewFile(7, &counter{}, limit, 1<<20)
		defer func() { require.NoError(t, f.Close()) }()
		s := f.NewStream([]*types.Type{types.TInt8})
		for i := range 400 {
			b := ints(i*1000, 1)
			sel := make([]int32, 1000)
			if err := s.Add(b.Cols, sel); err != nil {
				return err
			}
		}
		return s.Flush()
	}
	d, err := NewDir("", Options{Create: func() (scratch.Handle, error) {
		h, err := plain.create()
		return &full{h, 20_000}, err
	}})
	require.NoError(t, err)
	require.NoError(t, write(d, 0), "it fits")
	d.opts.Create = func() (scratch.Handle, error) {
		h, err := plain.create()
		return &full{h, 100}, err
	}
	require.Equal(t, sqlerr.DiskFull, code(t, write(d, 0)))
	d.opts.Create = func() (scratch.Handle, error) { return nil, syscall.EIO }
	require.Equal(t, sqlerr.IOError, code(t, write(d, 0)))
	require.Equal(t, sqlerr.ConfigurationLimitExceeded, code(t, write(plain, 1)))
	plain.opts.Room = func() error { return syscall.ENOSPC }
	require.ErrorIs(t, write(plain, 0), syscall.ENOSPC)
	require.Zero(t, d.Open())
	require.Zero(t, plain.Open())
}

// FuzzFrame: whatever bytes are taken for a frame, decoding ends, within memory that they bound.
func FuzzFrame(f *testing.F) {
	ts := []*types.Type{types.TInt8, types.TText, types.TFloat8, types.TNumeric, types.TInterval,
		types.ArrayOf(types.TText), types.TRecord}
	dice := rand.New(rand.NewPCG(3, 4))
	file := &File{disk: scratch.New(scratch.Options{})}
	for range 20 {
		b := types.NewBatch(ts)
		row := make([]types.Datum, len(ts))
		var sel []int32
		for i := range 1 + dice.IntN(4) {
			for c, t := range ts {
				row[c] = generated(dice, t, 2)
			}
			b.AppendRow(row)
			sel = append(sel, int32(i))
		}
		f.Add(file.appendFrame(nil, b.Cols, sel))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		r := Reader{s: &Stream{file: file, types: ts}, left: frame}
		b := r.emptied()
		for len(r.left) > 0 && b.Len < 4*types.BatchSize {
			if _, err := r.frame(b); err != nil {
				require.Equal(t, sqlerr.DataCorrupted, code(t, err))
				return
			}
		}
	})
}

func code(t *testing.T, err error) string {
	var e *sqlerr.Error
	require.ErrorAs(t, err, &e)
	return e.Code
}
