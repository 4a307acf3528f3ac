package codec

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table/types"
)

func TestReaderGivesWhatDecodeValueGives(t *testing.T) {
	var r Reader
	for typ, ds := range samples(t) {
		v := types.NewVec(typ, 0)
		ds = append(ds, types.Null)
		for range 300 { // several blocks of strings and numerics
			for _, d := range ds {
				field, err := EncodeValue(typ, d)
				require.NoError(t, err)
				v.Resize(v.Len + 1)
				require.NoError(t, r.Into(field, v, v.Len-1))
			}
		}
		for i := range v.Len {
			field, err := EncodeValue(typ, ds[i%len(ds)])
			require.NoError(t, err)
			want, err := DecodeValue(field, typ)
			require.NoError(t, err)
			require.True(t, types.Equal(typ, want, v.Get(i)), "%s %d", typ.Name, i)
		}
	}
}

func TestReaderCopiesWhatItReads(t *testing.T) {
	var r Reader
	v := types.NewVec(types.TText, 2)
	v.Resize(2)
	short, long := []byte("short"), []byte(strings.Repeat("x", stringBlock))
	require.NoError(t, r.Into(short, v, 0))
	require.NoError(t, r.Into(long, v, 1))
	short[0], long[0] = '!', '!'
	require.Equal(t, "short", v.S[0])
	require.Equal(t, byte('x'), v.S[1][0])
}

func TestReaderRefusesDamage(t *testing.T) {
	var r Reader
	for typ, field := range map[*types.Type][]byte{
		types.TInt8: {0x80}, types.TFloat8: {1, 2}, types.TUUID: {1}, types.TNumeric: {},
		types.TInterval: {2},
	} {
		v := types.NewVec(typ, 1)
		v.Resize(1)
		require.ErrorIs(t, r.Into(field, v, 0), kv.ErrCorruption, typ.Name)
	}
}

func BenchmarkReader(b *testing.B) {
	run := func(name string, typ *types.Type, d types.Datum) {
		b.Run(name, func(b *testing.B) {
			value, err := AppendColumn(nil, 3, typ, d)
			require.NoError(b, err)
			var r Reader
			v := types.NewVec(typ, 1)
			v.Resize(1)
			for b.Loop() {
				_, field, _, _ := NextColumn(value)
				_ = r.Into(field, v, 0)
			}
		})
	}
	run("int", types.TInt8, types.NewInt(123456))
	run("text", types.TText, types.NewString("forty-two and a half"))
	run("numeric", types.TNumeric, numeric(b, "12345.67"))
}
