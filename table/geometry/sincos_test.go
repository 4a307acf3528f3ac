package geometry

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSincosIsCorrectlyRounded computes the same with 300 bits.
func TestSincosIsCorrectlyRounded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		x := r.Float64() * 2 * math.Pi
		sin, cos := sincos(x)
		require.Equal(t, exactSeries(x, 1), sin, "sin %v", x)
		require.Equal(t, exactSeries(x, 0), cos, "cos %v", x)
	}
	for n := range 12 {
		x := 2 * math.Pi / 12 * float64(n)
		sin, cos := sincos(x)
		require.Equal(t, exactSeries(x, 1), sin, "sin %v", x)
		require.Equal(t, exactSeries(x, 0), cos, "cos %v", x)
	}
}

// exactSeries sums the Taylor series whose first term has the power n.
func exactSeries(x float64, n int) float64 {
	const precision = 300
	number := func(v float64) *big.Float { return big.NewFloat(v).SetPrec(precision) }
	term, square := number(1), number(x)
	if n == 1 {
		term = number(x)
	}
	square.Mul(square, square)
	total := new(big.Float).SetPrec(precision).Set(term)
	for range 60 {
		term.Mul(term, square)
		term.Quo(term, number(-float64((n+1)*(n+2))))
		total.Add(total, term)
		n += 2
	}
	out, _ := total.Float64()
	return out
}
