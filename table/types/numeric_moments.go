package types

import "github.com/cockroachdb/apd/v3"

// NumericMoments are the number, the sum and the sum of the squares of numerics. The sums are exact
// and may be wider than a numeric can be: only their difference must fit.
type NumericMoments struct {
	n            int64
	sum, squares apd.Decimal
	special      bool // a NaN or an infinity was added
}

// Add adds x.
func (m *NumericMoments) Add(x *apd.Decimal) {
	m.n++
	if x.Form != apd.Finite {
		m.special = true
		return
	}
	square := mulWide(x, x)
	if m.n > 1 {
		x, square = addWide(&m.sum, x, x.Negative), addWide(&m.squares, square, false)
	}
	m.sum.Set(x)
	m.squares.Set(square)
}

// Variance returns the variance, of a sample or of the population, or with root its square root. It
// is NULL (nil) for too few values.
func (m *NumericMoments) Variance(sample, root bool) (*apd.Decimal, error) {
	divisor := m.n
	if sample {
		divisor--
	}
	switch {
	case divisor <= 0:
		return nil, nil
	case m.special:
		return numericNaN, nil
	}
	// (N Σx² - (Σx)²) / (N divisor)
	n := NumericFromInt(m.n)
	num := addWide(mulWide(n, &m.squares), mulWide(&m.sum, &m.sum), true)
	if NumericSign(num) <= 0 {
		return NumericFromInt(0), nil
	}
	den := mulWide(n, NumericFromInt(divisor))
	scale := divScale(num, den)
	v := divWide(num, den, scale, roundHalfAway)
	if root {
		return sqrtToScale(v, scale, nil)
	}
	return checkNumeric(v)
}
