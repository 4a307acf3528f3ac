package types

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
)

func TestBinaryLikePostgres(t *testing.T) {
	script(t, "binary.txt", func(f *Format, fields []string) (string, string) {
		typ := typeNamed(t, fields[0])
		d, err := ParseText(typ, fields[1], f)
		require.NoError(t, err)
		want := fields[2]
		raw, err := hex.DecodeString(want)
		require.NoError(t, err)
		back, err := ParseBinary(typ, raw, nil)
		require.NoError(t, err, fields)
		require.Equal(t, Text(typ, d, f), Text(typ, back, f))
		// every proper prefix is refused, or a shorter value of a type without a length
		for n := range raw {
			_, _ = ParseBinary(typ, raw[:n], nil)
		}
		return hex.EncodeToString(AppendBinary(nil, typ, d)), want
	})
}

func TestBinaryRefusesBadInput(t *testing.T) {
	code := func(typ *Type, h string) string {
		b, err := hex.DecodeString(h)
		require.NoError(t, err)
		_, err = ParseBinary(typ, b, nil)
		var e *sqlerr.Error
		require.ErrorAs(t, err, &e, "%s %s", typ.Name, h)
		return e.Code
	}
	require.Equal(t, "08P01", code(TInt4, "000000"))
	require.Equal(t, "22P03", code(TInt4, "0000000000"))
	require.Equal(t, "08P01", code(TNumeric, "0001000000000000"))
	require.Equal(t, "22P03", code(TNumeric, "00010000000000002710"))
	require.Equal(t, "22P03", code(TNumeric, "0000000012340000"))
	require.Equal(t, "22021", code(TText, "ff"))
	require.Equal(t, "22021", code(TText, "6100"))
	require.Equal(t, "22021", code(TCIText, "ff"))
	require.Equal(t, "54000", code(THStore, "ffffffff"))
	require.Equal(t, "54000", code(THStore, "0199999a"))
	require.Equal(t, "22004", code(THStore, "00000001ffffffff00000000"))
	require.Equal(t, "08P01", code(THStore, "0000000100000001610000000562"))
	require.Equal(t, "22021", code(THStore, "000000010000000100ffffffff"))
	require.Equal(t, "22P03", code(THStore, "0000000000"))
	require.Equal(t, "08P01", code(ArrayOf(TInt4), "00000001"))
	require.Equal(t, "42804", code(ArrayOf(TInt4), "000000000000000000000014"))
	require.Equal(t, "54000", code(ArrayOf(TInt4), "000000070000000000000017"))
	require.Equal(t, "22P02", code(TJSONB, "017b"))
	zero := strings.Repeat("00", 8)
	require.Equal(t, "08P01", code(TPoint, zero))
	require.Equal(t, "22P03", code(TPoint, zero+zero+"00"))
	require.Equal(t, "22P03", code(TLine, zero+zero+zero))
	require.Equal(t, "22P03", code(TCircle, zero+zero+"bff0000000000000"))
	require.Equal(t, "08P01", code(TPath, "01000000"))
	require.Equal(t, "22P03", code(TPath, "0100000000"))
	require.Equal(t, "22P03", code(TPath, "01ffffffff"))
	require.Equal(t, "08P01", code(TPath, "0107ffff00"+zero))
	require.Equal(t, "08P01", code(TPolygon, "00000002"+zero+zero))
	require.Equal(t, "22P03", code(TPolygon, "00000001"+zero+zero+"00"))
	require.Equal(t, "22008", code(TTimestamp, "7ffffffffffffff0"))
}

func FuzzParseBinary(f *testing.F) {
	f.Add(0, []byte{0, 1, 0, 0, 0, 0, 0, 0, 0, 5})
	f.Add(3, []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 23, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0,
		0, 9})
	all := append(slices.Clone(All()), TCIText, THStore)
	for i, typ := range all {
		if typ.Family == Geometric {
			f.Add(i, []byte("\x01\x00\x00\x00\x01\x7f\xf8\x00\x00\x00\x00\x00\x0101234567"))
			f.Add(i, []byte("\x00\x00\x00\x010123456701234567"))
			f.Add(i, []byte("01234567012345670123456701234567"))
		}
	}
	f.Fuzz(func(t *testing.T, n int, b []byte) {
		typ := all[int(uint(n)%uint(len(all)))]
		d, err := ParseBinary(typ, b, nil)
		if err != nil || d.Null {
			return
		}
		again, err := ParseBinary(typ, AppendBinary(nil, typ, d), nil)
		require.NoError(t, err)
		require.Zero(t, Compare(typ, d, again))
		require.Equal(t, Hash(typ, d, 1), Hash(typ, again, 1))
	})
}
