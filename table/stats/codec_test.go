package stats

import (
	"bytes"
	"encoding/hex"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table/types"
)

func exampleColumn() *Column {
	return &Column{Type: types.TInt4, NullFraction: 0.25, Width: 4, Distinct: 12, Correlation: -0.5,
		Common: []types.Datum{types.NewInt(7), types.NewInt(-1)}, Frequencies: []float64{0.25,
			0.125},
		Bounds: []types.Datum{types.NewInt(1), types.NewInt(300), types.NewInt(70000)}}
}

// The bytes are those of docs/encoding.md.
func TestStoredBytes(t *testing.T) {
	b, err := encodeColumn(exampleColumn())
	require.NoError(t, err)
	require.Equal(t, "0117"+ // layout, OID 23
		"000000000000d03f"+"0000000000001040"+"0000000000002840"+"000000000000e0bf"+"00"+
		"02"+"000000000000d03f"+"010e"+"000000000000c03f"+"0101"+
		"03"+"0102"+"02d804"+"03e0c508", hex.EncodeToString(b))
	back, err := decodeColumn(b)
	require.NoError(t, err)
	require.Equal(t, exampleColumn(), back)

	at := time.UnixMicro(1_000_000)
	b = encodeTable(&Table{Rows: 3, RowBytes: 10, Counted: at})
	require.Equal(t, "01"+"0000000000000840"+"0000000000002440"+"80897a", hex.EncodeToString(b))
	table, err := decodeTable(b)
	require.NoError(t, err)
	require.Equal(t, &Table{Rows: 3, RowBytes: 10, Counted: at}, table)

	c := &Counters{Live: 5, Inserted: 6, Deleted: 1, Modified: 7, LastAnalyze: at, Analyzes: 1}
	b = encodeCounters(c)
	require.Equal(t, "01"+"0a"+"0c"+"00"+"02"+"0e"+"00"+"00"+"02"+"00"+"00"+"80897a"+"00",
		hex.EncodeToString(b))
	counters, err := decodeCounters(b)
	require.NoError(t, err)
	require.Equal(t, c, counters)

	c.AddScans(Scans{Index: 2, Scans: 3, Read: 1})
	before := c.Scans
	c.AddScans(Scans{Scans: 1, Read: 4})
	c.AddScans(Scans{Index: 2, Scans: 1, Read: 1, Fetched: 1})
	require.Equal(t, []Scans{{Index: 2, Scans: 3, Read: 1}}, before)
	require.Equal(t, Scans{Index: 2, Scans: 4, Read: 2, Fetched: 1}, c.ScansOf(2))
	require.Equal(t, Scans{Index: 1}, c.ScansOf(1))
	scanned := encodeCounters(c)
	require.Equal(t, hex.EncodeToString(b)+"02"+"00"+"02"+"08"+"00"+"02"+"08"+"04"+"02",
		hex.EncodeToString(scanned))
	counters, err = decodeCounters(scanned)
	require.NoError(t, err)
	require.Equal(t, c, counters)
	for n := len(b) + 1; n < len(scanned); n++ {
		_, err := decodeCounters(scanned[:n])
		require.ErrorIs(t, err, kv.ErrCorruption)
	}
	twice := bytes.Replace(scanned, []byte{2, 8, 4, 2}, []byte{0, 8, 4, 2}, 1)
	_, err = decodeCounters(twice)
	require.ErrorIs(t, err, kv.ErrCorruption, "an index has one entry")
}

func TestKeysAreReadBack(t *testing.T) {
	for _, c := range []struct {
		key  []byte
		what string
	}{{tableKey(16384), "table"}, {countersKey(16384), "counters"}, {columnKey(16384, 300),
		"column"}} {
		id, what, column, ok := DecodeKey(c.key)
		require.True(t, ok)
		require.EqualValues(t, 16384, id)
		require.Equal(t, c.what, what)
		require.Equal(t, what == "column", column == 300)
		for n := range c.key {
			_, _, _, ok := DecodeKey(c.key[:n])
			require.False(t, ok, "cut off at %d", n)
		}
	}
}

// FuzzDecode: no bytes make a decoder panic, and what it takes for a column is written as it was
// read.
func FuzzDecode(f *testing.F) {
	b, err := encodeColumn(exampleColumn())
	require.NoError(f, err)
	f.Add(b)
	text, err := encodeColumn(&Column{Type: types.TText, Complete: true, Distinct: 1, Width: 2,
		Common: []types.Datum{types.NewString("a")}, Frequencies: []float64{1}})
	require.NoError(f, err)
	f.Add(text)
	f.Add(encodeTable(&Table{Rows: 1}))
	f.Add(encodeCounters(&Counters{Live: 1}))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = decodeTable(b)
		_, _ = decodeCounters(b)
		c, err := decodeColumn(b)
		if err != nil {
			return
		}
		again, err := encodeColumn(c)
		require.NoError(t, err)
		back, err := decodeColumn(again)
		require.NoError(t, err)
		require.Equal(t, len(c.Common), len(back.Common))
		require.Equal(t, len(c.Bounds), len(back.Bounds))
		for _, v := range back.Common {
			back.Equal(v)
			back.Below(v, true)
		}
	})
}
