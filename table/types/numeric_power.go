package types

import (
	"math"
	"math/big"

	"github.com/cockroachdb/apd/v3"

	"github.com/minidb/minidb/internal/sqlerr"
)

func isIntegral(d *apd.Decimal) bool {
	return d.Form == apd.Finite && NumericTrimScale(d).Exponent == 0
}

func isOddInteger(d *apd.Decimal) bool {
	if !isIntegral(d) {
		return false
	}
	t := NumericTrimScale(d)
	return t.Coeff.Bit(0) == 1
}

// NumericPower returns a to the power of b.
func NumericPower(a, b *apd.Decimal, tick Tick) (*apd.Decimal, error) {
	if isNaN(a) || isNaN(b) {
		return powerNaN(a, b), nil
	}
	sa, sb := NumericSign(a), NumericSign(b)
	if sa == 0 && sb < 0 {
		return nil, sqlerr.New(sqlerr.InvalidArgumentForPower,
			"zero raised to a negative power is undefined")
	}
	if sa < 0 && !isInf(b) && !isIntegral(b) {
		return nil, sqlerr.New(sqlerr.InvalidArgumentForPower,
			"a negative number raised to a non-integer power yields a complex result")
	}
	if isInf(a) || isInf(b) {
		return powerInf(a, b, sa, sb), nil
	}
	if isIntegral(b) {
		if e, ok := NumericToInt64(b); ok && e >= math.MinInt32 && e <= math.MaxInt32 {
			scale := clampScale(numericMinSigDigits, int(-a.Exponent))
			return powerInt(a, int(e), scale, tick)
		}
	}
	if sa == 0 {
		return &apd.Decimal{Exponent: -numericMinSigDigits}, nil
	}
	return powerGeneral(a, b, tick)
}

// powerNaN is a to the power of b where one is NaN. One to any power and any to the power of zero
// stay 1.
func powerNaN(a, b *apd.Decimal) *apd.Decimal {
	if !isNaN(a) && NumericCmp(a, numericOne) == 0 || !isNaN(b) && NumericSign(b) == 0 {
		return numericOne
	}
	return numericNaN
}

func powerInf(a, b *apd.Decimal, sa, sb int) *apd.Decimal {
	switch {
	case !isInf(a) && NumericCmp(a, numericOne) == 0, sb == 0:
		return numericOne
	case sa == 0:
		return numericZero
	case isInf(b):
		aboveOne := true
		if !isInf(a) {
			abs := NumericAbs(a)
			c := NumericCmp(abs, numericOne)
			if c == 0 {
				return numericOne
			}
			aboveOne = c > 0
		}
		if aboveOne == (sb > 0) {
			return numericInf
		}
		return numericZero
	case sb < 0:
		return numericZero
	case a.Negative && isOddInteger(b):
		return numericNegInf
	}
	return numericInf
}

// powerInt raises to an integer power, rounded to the scale.
func powerInt(a *apd.Decimal, e, scale int, tick Tick) (*apd.Decimal, error) {
	switch e {
	case 0:
		return NumericRound(numericOne, scale)
	case 1:
		return NumericRound(a, scale)
	case -1:
		return divToScale(numericOne, a, scale, roundHalfAway)
	}
	if a.Coeff.Sign() == 0 {
		return &apd.Decimal{Exponent: int32(-scale)}, nil
	}
	// log10 of the result: to stop early if it is out of range or rounds to zero.
	abs := NumericAbs(a)
	f := float64(e) * log10Decimal(abs)
	if f > 3*math.MaxInt16*4 {
		return nil, errNumericOverflow()
	}
	if f+1 < float64(-scale) || f+1 < -numericMaxDisplayScale {
		return &apd.Decimal{Exponent: int32(-scale)}, nil
	}
	n := e
	if n < 0 {
		n = -n
	}
	var r *apd.Decimal
	var err error
	if t := NumericTrimScale(abs); int64(n)*t.NumDigits() <= 20000 {
		p := &apd.Decimal{Exponent: t.Exponent * int32(n)}
		p.Coeff.Exp(&t.Coeff, apd.NewBigInt(int64(n)), nil)
		if e < 0 {
			r, err = divToScale(numericOne, p, scale, roundHalfAway)
		} else {
			setScale(p, p, scale, roundHalfAway)
			r, err = checkNumeric(p)
		}
	} else {
		r, err = powerFloat(abs, e, scale, f, tick)
	}
	if err != nil {
		return nil, err
	}
	if a.Negative && e%2 != 0 && r.Coeff.Sign() != 0 {
		r = NumericNeg(r)
	}
	return r, nil
}

func log10Decimal(d *apd.Decimal) float64 {
	n := int(d.NumDigits())
	cut := max(n-17, 0)
	var q apd.BigInt
	q.Quo(&d.Coeff, pow10(cut))
	return math.Log10(float64(q.Uint64())) + float64(cut) + float64(d.Exponent)
}

// powerFloat raises by squaring in binary floating point with enough bits for the scale; weight is
// the result's log10.
func powerFloat(a *apd.Decimal, e, scale int, weight float64, tick Tick) (*apd.Decimal, error) {
	prec := bitsForDigits(scale+max(int(weight), 0)+20) + 64
	x := new(big.Float).SetPrec(prec).SetInt(a.Coeff.MathBigInt())
	x.Quo(x, new(big.Float).SetPrec(prec).SetInt(bigPow10(int(-a.Exponent))))
	r := new(big.Float).SetPrec(prec).SetInt64(1)
	n := e
	if n < 0 {
		n = -n
	}
	for ; n > 0; n >>= 1 {
		if err := tick.square(int(prec)); err != nil {
			return nil, err
		}
		if n&1 != 0 {
			r.Mul(r, x)
		}
		if n > 1 {
			x.Mul(x, x)
		}
	}
	if e < 0 {
		r.Quo(new(big.Float).SetPrec(prec).SetInt64(1), r)
	}
	return ParseNumeric(r.Text('f', scale))
}

// powerGeneral is exp(b·ln(a)) for a non-integer, or very large, b.
func powerGeneral(a, b *apd.Decimal, tick Tick) (*apd.Decimal, error) {
	neg := a.Negative && isOddInteger(b)
	a = NumericAbs(a)
	val := approxFloat(b) * log10Decimal(a) * math.Ln10
	if math.IsNaN(val) {
		val = 0
	}
	if math.Abs(val) > numericMaxResultScale*3.01 {
		if val > 0 {
			return nil, errNumericOverflow()
		}
		return &apd.Decimal{Exponent: -numericMaxDisplayScale}, nil
	}
	// Near 1 the logarithm as a float has no precise digits: use the fixed-point one.
	bd := int(b.NumDigits()) + int(b.Exponent)
	w := bitsForDigits(max(bd, 0) + 40)
	ln, err := lnFixed(a, w, tick)
	if err != nil {
		return nil, err
	}
	lf, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(ln), -int(w)).Float64()
	val = approxFloat(b) * lf
	if math.Abs(val) > numericMaxResultScale*3.01 {
		if val > 0 {
			return nil, errNumericOverflow()
		}
		return &apd.Decimal{Exponent: -numericMaxDisplayScale}, nil
	}
	weight := val * 0.434294481903252
	scale := clampScale(numericMinSigDigits-int(weight), int(-a.Exponent), int(-b.Exponent))
	w = bitsForDigits(scale + max(int(weight), 0) + max(bd, 0) + 12)
	x, err := lnFixed(a, w, tick)
	if err != nil {
		return nil, err
	}
	x.Mul(x, toFixed(b, w))
	x.Rsh(x, w)
	if math.Abs(val) >= numericMaxResultScale*3 {
		if val > 0 {
			return nil, errNumericOverflow()
		}
		return &apd.Decimal{Exponent: int32(-scale)}, nil
	}
	if x, err = expFixed(x, w, tick); err != nil {
		return nil, err
	}
	r, err := fromFixed(x, w, scale)
	if err != nil || !neg {
		return r, err
	}
	return NumericNeg(r), nil
}
