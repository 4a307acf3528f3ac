package builtin

import (
	"math"
	"math/big"

	"github.com/cockroachdb/apd/v3"

	"github.com/minidb/minidb/table/types"
)

// decimal returns the number as a numeric.
func (w *wideInt) decimal() *apd.Decimal {
	if w.hi == int64(w.lo)>>63 { // it fits in 64 bits
		return types.NumericFromInt(int64(w.lo))
	}
	b := new(big.Int).Lsh(big.NewInt(w.hi), 64)
	b.Add(b, new(big.Int).SetUint64(w.lo))
	d := &apd.Decimal{}
	d.Negative = b.Sign() < 0
	d.Coeff.SetMathBigInt(b.Abs(b))
	return d
}

// decimalSum adds numerics. While values are small and of one scale, as prices are, it adds their
// coefficients in a machine word and makes no decimals.
type decimalSum struct {
	n        int64
	fast     int64 // sum of coefficients with exponent exp
	exp      int32
	fastUsed bool
	slow     *apd.Decimal // the sum of what did not fit into fast
}

func (s *decimalSum) add(d *apd.Decimal) error {
	s.n++
	if d.Form == apd.Finite && d.Coeff.IsInt64() && d.Exponent <= 0 {
		c := d.Coeff.Int64()
		if d.Negative {
			c = -c
		}
		if !s.fastUsed {
			s.fast, s.exp, s.fastUsed = c, d.Exponent, true
			return nil
		}
		if s.exp == d.Exponent {
			if r, ok := addInt(s.fast, c); ok {
				s.fast = r
				return nil
			}
		}
	}
	if s.slow == nil {
		s.slow = d
		return nil
	}
	r, err := types.NumericAdd(s.slow, d)
	s.slow = r
	return err
}

func (s *decimalSum) value() (*apd.Decimal, error) {
	if !s.fastUsed {
		return s.slow, nil
	}
	f := &apd.Decimal{Exponent: s.exp, Negative: s.fast < 0}
	if s.fast == math.MinInt64 {
		f.Coeff.SetUint64(1 << 63)
	} else {
		f.Coeff.SetInt64(max(s.fast, -s.fast))
	}
	if s.slow == nil {
		return f, nil
	}
	return types.NumericAdd(f, s.slow)
}

func (s *decimalSum) total() (types.Datum, error) {
	if s.n == 0 {
		return types.Null, nil
	}
	d, err := s.value()
	return types.Datum{Dec: d}, err
}

func (s *decimalSum) average() (types.Datum, error) {
	if s.n == 0 {
		return types.Null, nil
	}
	d, err := s.value()
	if err != nil {
		return types.Null, err
	}
	d, err = types.NumericDiv(d, types.NumericFromInt(s.n))
	return types.Datum{Dec: d}, err
}

// wideInt is a 128-bit integer, for sums of int8.
type wideInt struct {
	hi int64
	lo uint64
}

func (w *wideInt) add(x int64) {
	lo := w.lo + uint64(x)
	w.hi += x >> 63
	if lo < w.lo {
		w.hi++
	}
	w.lo = lo
}
