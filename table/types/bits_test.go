package types

import (
	"cmp"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBitsOrderAsPostgreSQL: by their bytes, the last one filled with zeros, then by length.
func TestBitsOrderAsPostgreSQL(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func() string {
		b := make([]byte, r.IntN(24))
		for i := range b {
			b[i] = '0' + byte(r.IntN(2))
		}
		return string(b)
	}
	filled := func(s string, n int) string { return s + strings.Repeat("0", n-len(s)) }
	for range 5000 {
		a, b := random(), random()
		if r.IntN(2) == 0 {
			b = a + b
		}
		n := max(len(a), len(b))
		want := cmp.Or(strings.Compare(filled(a, n), filled(b, n)), cmp.Compare(len(a), len(b)))
		require.Equal(t, want, strings.Compare(PackBits(a), PackBits(b)), "%s %s", a, b)
		require.Equal(t, a, BitDigits(PackBits(a)))
		d, err := ParseBinary(TVarbit, AppendBinary(nil, TVarbit, Datum{S: PackBits(a)}), nil)
		require.NoError(t, err)
		require.Equal(t, PackBits(a), d.S)
	}
}
