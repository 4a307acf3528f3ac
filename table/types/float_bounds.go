package types

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// digitsWithinBounds returns how many digits the shortest decimal needs that lies strictly between
// the bounds of f, which are the midpoints between f and its neighbours. It returns 0 unless
// strconv's shortest form is such a bound itself. strconv accepts a bound if rounding to even reads
// it as f; PostgreSQL does not rely on how a reader rounds, so it writes 1e23 as
// 9.999999999999999e+22.
func digitsWithinBounds(f float64, bits int) int {
	// A midpoint has one bit more than a float. If it has so few decimal digits, it is an integer
	// beyond the floats' mantissa, and its factors of five are no more than the mantissa can hold.
	lo, hi, most := float64(1<<53), 1e41, 17
	if bits == 32 {
		lo, hi, most = 1<<24, 1e20, 9
	}
	if a := math.Abs(f); a < lo || a > hi {
		return 0
	}
	var buf [32]byte
	text := string(strconv.AppendFloat(buf[:0], f, 'e', -1, bits))
	if !isBound(text, f, bits) {
		return 0
	}
	n := strings.IndexByte(text, 'e') - strings.Count(text, ".") - strings.Count(text, "-")
	for ; n < most; n++ {
		if !isBound(strconv.FormatFloat(f, 'e', n-1, bits), f, bits) && parsesTo(f, n, bits) {
			return n
		}
	}
	return most
}

func parsesTo(f float64, n, bits int) bool {
	g, err := strconv.ParseFloat(strconv.FormatFloat(f, 'e', n-1, bits), bits)
	return err == nil && g == f
}

// isBound reports whether a decimal is the midpoint between f, an integer, and a neighbour.
func isBound(text string, f float64, bits int) bool {
	d, _, err := big.ParseFloat(text, 10, 256, big.ToNearestEven)
	if err != nil {
		return false
	}
	d.Add(d, d)
	for _, to := range []float64{math.Inf(-1), math.Inf(1)} {
		next := math.Nextafter(f, to)
		if bits == 32 {
			next = float64(math.Nextafter32(float32(f), float32(to)))
		}
		sum := new(big.Float).SetPrec(256).SetFloat64(f)
		if d.Cmp(sum.Add(sum, big.NewFloat(next))) == 0 {
			return true
		}
	}
	return false
}
