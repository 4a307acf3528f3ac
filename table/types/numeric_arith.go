package types

import (
	"math/big"

	"github.com/cockroachdb/apd/v3"

	"github.com/minidb/minidb/internal/sqlerr"
)

type rounding uint8

const (
	roundHalfAway rounding = iota
	roundDown
	roundCeil
	roundFloor
)

// setScale sets r to d with the scale, rounded by how. A negative scale rounds before the point and
// leaves scale 0. r and d may be the same.
func setScale(r, d *apd.Decimal, scale int, how rounding) {
	have := int(-d.Exponent)
	neg := d.Negative
	if scale >= have {
		if scale == have {
			r.Coeff.Set(&d.Coeff)
		} else {
			r.Coeff.Mul(&d.Coeff, pow10(scale-have))
		}
	} else {
		cut := have - scale
		if n := d.NumDigits(); int64(cut) > n+1 {
			// All digits are cut off; keep pow10 small for huge scales.
			cut = int(n) + 1
		}
		p := pow10(cut)
		var rem apd.BigInt
		var q apd.BigInt
		q.QuoRem(&d.Coeff, p, &rem)
		up := false
		switch how {
		case roundHalfAway:
			rem.Add(&rem, new(apd.BigInt).Set(&rem))
			up = rem.CmpAbs(p) >= 0
		case roundCeil:
			up = !neg && rem.Sign() != 0
		case roundFloor:
			up = neg && rem.Sign() != 0
		}
		if up {
			q.Add(&q, &pow10Table[0])
		}
		r.Coeff.Set(&q)
	}
	r.Form = apd.Finite
	r.Exponent = int32(-max(scale, 0))
	if scale < 0 && r.Coeff.Sign() != 0 {
		r.Coeff.Mul(&r.Coeff, pow10(-scale))
	}
	r.Negative = neg && r.Coeff.Sign() != 0
}

// NumericNeg returns -d.
func NumericNeg(d *apd.Decimal) *apd.Decimal {
	if isNaN(d) || NumericSign(d) == 0 {
		return d
	}
	r := new(apd.Decimal)
	r.Set(d)
	r.Negative = !d.Negative
	return r
}

// NumericAbs returns the absolute value.
func NumericAbs(d *apd.Decimal) *apd.Decimal {
	if !d.Negative {
		return d
	}
	return NumericNeg(d)
}

// NumericAdd returns a + b with the larger of the scales.
func NumericAdd(a, b *apd.Decimal) (*apd.Decimal, error) { return addSigned(a, b, b.Negative) }

// NumericSub returns a - b with the larger of the scales.
func NumericSub(a, b *apd.Decimal) (*apd.Decimal, error) { return addSigned(a, b, !b.Negative) }

// addSigned adds to a the absolute value of b under the given sign.
func addSigned(a, b *apd.Decimal, bneg bool) (*apd.Decimal, error) {
	return checkNumeric(addWide(a, b, bneg))
}

// addWide is addSigned without a bound on the result.
func addWide(a, b *apd.Decimal, bneg bool) *apd.Decimal {
	if a.Form != apd.Finite || b.Form != apd.Finite {
		switch {
		case isNaN(a) || isNaN(b):
			return numericNaN
		case isInf(a) && isInf(b) && a.Negative != bneg:
			return numericNaN
		case isInf(a):
			return a
		}
		return NumericInf(bneg)
	}
	var t apd.BigInt
	x, y := &a.Coeff, &b.Coeff
	exp := a.Exponent
	switch {
	case a.Exponent > b.Exponent:
		x, exp = t.Mul(x, pow10(int(a.Exponent-b.Exponent))), b.Exponent
	case a.Exponent < b.Exponent:
		y = t.Mul(y, pow10(int(b.Exponent-a.Exponent)))
	}
	r := &apd.Decimal{Exponent: exp}
	if a.Negative == bneg {
		r.Coeff.Add(x, y)
		r.Negative = bneg
	} else {
		r.Coeff.Sub(x, y)
		r.Negative = a.Negative
		if r.Coeff.Sign() < 0 {
			r.Coeff.Abs(&r.Coeff)
			r.Negative = bneg
		}
	}
	return r
}

// NumericMul returns a * b with the sum of the scales.
func NumericMul(a, b *apd.Decimal) (*apd.Decimal, error) {
	if a.Form != apd.Finite || b.Form != apd.Finite {
		if isNaN(a) || isNaN(b) || NumericSign(a) == 0 || NumericSign(b) == 0 {
			return numericNaN, nil
		}
		return NumericInf(a.Negative != b.Negative), nil
	}
	r := mulWide(a, b)
	if r.Exponent < -numericMaxScale {
		setScale(r, r, numericMaxScale, roundHalfAway)
	}
	return checkNumeric(r)
}

// mulWide is the exact product of finite numbers, without a bound.
func mulWide(a, b *apd.Decimal) *apd.Decimal {
	r := &apd.Decimal{Exponent: a.Exponent + b.Exponent, Negative: a.Negative != b.Negative}
	r.Coeff.Mul(&a.Coeff, &b.Coeff)
	return r
}

func errDivZero() error { return sqlerr.New(sqlerr.DivisionByZero, "division by zero") }

// nbaseLead returns the weight of the first base-10000 digit of d's value, as PostgreSQL holds it,
// and that digit; zero has weight 0 and digit 0.
func nbaseLead(d *apd.Decimal) (weight, digit int) {
	if d.Coeff.Sign() == 0 {
		return 0, 0
	}
	n := int(d.NumDigits())
	p := n + int(d.Exponent) - 1 // decimal position of the first digit
	weight = floorDiv(p, 4)
	k := p - 4*weight + 1 // its decimal digits in the first base-10000 digit
	if n <= k {
		digit = int(d.Coeff.Int64())
		for ; n < k; n++ {
			digit *= 10
		}
		return weight, digit
	}
	var q apd.BigInt
	q.Quo(&d.Coeff, pow10(n-k))
	return weight, int(q.Int64())
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// divScale is PostgreSQL's select_div_scale: at least 16 significant digits, and not less than
// either input shows.
func divScale(a, b *apd.Decimal) int {
	w1, d1 := nbaseLead(a)
	w2, d2 := nbaseLead(b)
	qw := w1 - w2
	if d1 <= d2 {
		qw--
	}
	s := numericMinSigDigits - qw*4
	return clampScale(s, int(-a.Exponent), int(-b.Exponent))
}

// clampScale raises s to the given scales and holds it within 0 and 1000.
func clampScale(s int, scales ...int) int {
	for _, x := range scales {
		s = max(s, x)
	}
	return min(max(s, 0), numericMaxDisplayScale)
}

// NumericDiv returns a / b, rounded to PostgreSQL's choice of scale.
func NumericDiv(a, b *apd.Decimal) (*apd.Decimal, error) {
	if r, done, err := divSpecial(a, b); done {
		return r, err
	}
	return divToScale(a, b, divScale(a, b), roundHalfAway)
}

func divSpecial(a, b *apd.Decimal) (r *apd.Decimal, done bool, err error) {
	switch {
	case isNaN(a) || isNaN(b):
		return numericNaN, true, nil
	case NumericSign(b) == 0:
		return nil, true, errDivZero()
	case isInf(a) && isInf(b):
		return numericNaN, true, nil
	case isInf(a):
		return NumericInf(a.Negative != b.Negative), true, nil
	case isInf(b):
		return numericZero, true, nil
	}
	return nil, false, nil
}

// divToScale divides finite numbers, b not zero.
func divToScale(a, b *apd.Decimal, scale int, how rounding) (*apd.Decimal, error) {
	return checkNumeric(divWide(a, b, scale, how))
}

// divWide is divToScale without a bound on the result.
func divWide(a, b *apd.Decimal, scale int, how rounding) *apd.Decimal {
	var x, y, rem apd.BigInt
	num, den := &a.Coeff, &b.Coeff
	switch shift := scale + int(a.Exponent) - int(b.Exponent); {
	case shift > 0:
		num = x.Mul(num, pow10(shift))
	case shift < 0:
		den = y.Mul(den, pow10(-shift))
	}
	r := &apd.Decimal{Exponent: int32(-scale), Negative: a.Negative != b.Negative}
	r.Coeff.QuoRem(num, den, &rem)
	if how == roundHalfAway {
		rem.Add(&rem, new(apd.BigInt).Set(&rem))
		if rem.CmpAbs(den) >= 0 {
			r.Coeff.Add(&r.Coeff, &pow10Table[0])
		}
	}
	return r
}

// NumericDivTrunc returns the integer quotient of a / b, truncated toward zero: div(a, b).
func NumericDivTrunc(a, b *apd.Decimal) (*apd.Decimal, error) {
	if r, done, err := divSpecial(a, b); done {
		return r, err
	}
	return divToScale(a, b, 0, roundDown)
}

// NumericMod returns the remainder of a / b with the sign of a.
func NumericMod(a, b *apd.Decimal) (*apd.Decimal, error) {
	switch {
	case isNaN(a) || isNaN(b):
		return numericNaN, nil
	case NumericSign(b) == 0:
		return nil, errDivZero()
	case isInf(a):
		return numericNaN, nil
	case isInf(b):
		return a, nil
	}
	var t apd.BigInt
	x, y := &a.Coeff, &b.Coeff
	exp := min(a.Exponent, b.Exponent)
	switch {
	case a.Exponent > exp:
		x = t.Mul(x, pow10(int(a.Exponent-exp)))
	case b.Exponent > exp:
		y = t.Mul(y, pow10(int(b.Exponent-exp)))
	}
	r := &apd.Decimal{Exponent: exp, Negative: a.Negative}
	r.Coeff.Rem(x, y)
	return checkNumeric(r)
}

// NumericRound rounds half away from zero to the scale, which may be negative.
func NumericRound(d *apd.Decimal, scale int) (*apd.Decimal, error) {
	return toScale(d, scale, roundHalfAway)
}

// NumericTrunc truncates toward zero to the scale, which may be negative.
func NumericTrunc(d *apd.Decimal, scale int) (*apd.Decimal, error) {
	return toScale(d, scale, roundDown)
}

// NumericCeil returns the least integer not below d.
func NumericCeil(d *apd.Decimal) (*apd.Decimal, error) { return toScale(d, 0, roundCeil) }

// NumericFloor returns the greatest integer not above d.
func NumericFloor(d *apd.Decimal) (*apd.Decimal, error) { return toScale(d, 0, roundFloor) }

func toScale(d *apd.Decimal, scale int, how rounding) (*apd.Decimal, error) {
	if d.Form != apd.Finite {
		return d, nil
	}
	r := new(apd.Decimal)
	setScale(r, d, min(max(scale, -numericMaxIntDigits-1), numericMaxScale), how)
	return checkNumeric(r)
}

// NumericMinScale returns the fewest fractional digits that hold d exactly.
func NumericMinScale(d *apd.Decimal) int { return NumericScale(NumericTrimScale(d)) }

// NumericTrimScale drops trailing fractional zeros.
func NumericTrimScale(d *apd.Decimal) *apd.Decimal {
	if d.Form != apd.Finite || d.Exponent == 0 {
		return d
	}
	if d.Coeff.Sign() == 0 {
		return numericZero
	}
	n := min(trailingZeros(&d.Coeff), int(-d.Exponent))
	if n == 0 {
		return d
	}
	r := &apd.Decimal{Negative: d.Negative, Exponent: d.Exponent + int32(n)}
	r.Coeff.Quo(&d.Coeff, pow10(n))
	return r
}

// Tick counts n bytes of work on large numbers; its error ends the work. nil counts nothing.
type Tick func(n int) error

// step counts a pass over a number.
func (t Tick) step(x *apd.BigInt) error {
	if t == nil {
		return nil
	}
	return t(x.BitLen() / 8)
}

// product counts a multiplication of two numbers, or a division.
func (t Tick) product(x, y *big.Int) error {
	if t == nil {
		return nil
	}
	a, b := x.BitLen()/8, y.BitLen()/8
	return t(a + b + a*b/wordsPerTick)
}

// square counts a multiplication of two numbers of so many bits.
func (t Tick) square(bits int) error {
	if t == nil {
		return nil
	}
	return t(bits/4 + bits/8*(bits/8)/wordsPerTick)
}

// wordsPerTick is how many pairs of bytes are multiplied in the time that copying and checking one
// byte takes.
const wordsPerTick = 1024

// NumericGcd returns the greatest common divisor, never negative.
func NumericGcd(a, b *apd.Decimal, tick Tick) (*apd.Decimal, error) {
	if a.Form != apd.Finite || b.Form != apd.Finite {
		return numericNaN, nil
	}
	exp := min(a.Exponent, b.Exponent)
	var x, y apd.Decimal
	setScale(&x, a, int(-exp), roundDown)
	setScale(&y, b, int(-exp), roundDown)
	r := &apd.Decimal{Exponent: exp}
	for y.Coeff.Sign() != 0 {
		r.Coeff.Rem(&x.Coeff, &y.Coeff)
		x.Coeff.Set(&y.Coeff)
		y.Coeff.Set(&r.Coeff)
		if err := tick.step(&x.Coeff); err != nil {
			return nil, err
		}
	}
	r.Coeff.Set(&x.Coeff)
	return checkNumeric(r)
}

// NumericLcm returns the least common multiple, never negative.
func NumericLcm(a, b *apd.Decimal, tick Tick) (*apd.Decimal, error) {
	if a.Form != apd.Finite || b.Form != apd.Finite {
		return numericNaN, nil
	}
	exp := min(a.Exponent, b.Exponent)
	if a.Coeff.Sign() == 0 || b.Coeff.Sign() == 0 {
		return &apd.Decimal{Exponent: exp}, nil
	}
	g, err := NumericGcd(a, b, tick)
	if err != nil {
		return nil, err
	}
	q, err := divToScale(a, g, 0, roundDown)
	if err != nil {
		return nil, err
	}
	r, err := NumericMul(q, b)
	if err != nil {
		return nil, err
	}
	r.Negative = false
	setScale(r, r, int(-exp), roundDown)
	return checkNumeric(r)
}

// NumericFactorial returns n!.
func NumericFactorial(n int64, tick Tick) (*apd.Decimal, error) {
	if n < 0 {
		return nil, sqlerr.New(sqlerr.NumericValueOutOfRange,
			"factorial of a negative number is undefined")
	}
	if n > 32177 {
		return nil, errNumericOverflow()
	}
	r := apd.New(1, 0)
	for i := int64(2); i <= n; i++ {
		r.Coeff.Mul(&r.Coeff, apd.NewBigInt(i))
		if err := tick.step(&r.Coeff); err != nil {
			return nil, err
		}
	}
	return checkNumeric(r)
}

// numericFieldOverflow is the error of a value too large for its declared precision.
func numericFieldOverflow(precision, scale int) *sqlerr.Error {
	e := sqlerr.New(sqlerr.NumericValueOutOfRange, "numeric field overflow")
	digits := precision - scale
	if digits == 0 {
		return e.WithDetail("A field with precision %d, scale %d must round to an absolute value "+
			"less than 1.", precision, scale)
	}
	return e.WithDetail("A field with precision %d, scale %d must round to an absolute value "+
		"less than 10^%d.", precision, scale, digits)
}

// NumericWithMod rounds d to the scale of a numeric type modifier and checks its precision.
func NumericWithMod(d *apd.Decimal, mod int32) (*apd.Decimal, error) {
	if mod < 4 || isNaN(d) {
		return d, nil
	}
	precision, scale := NumericModParts(mod)
	if isInf(d) {
		return nil, numericFieldOverflow(precision, scale).WithDetail(
			"A field with precision %d, scale %d cannot hold an infinite value.", precision, scale)
	}
	r := d
	if scale < 0 || int(-d.Exponent) != scale {
		r = new(apd.Decimal)
		setScale(r, d, scale, roundHalfAway)
	}
	if r.Coeff.Sign() != 0 {
		if n := r.NumDigits() + int64(r.Exponent); n > int64(precision-scale) {
			return nil, numericFieldOverflow(precision, scale)
		}
	}
	return r, nil
}

// NumericModParts splits a numeric type modifier; the scale may be negative.
func NumericModParts(mod int32) (precision, scale int) {
	m := mod - 4
	return int(m>>16) & 0xffff, int((m&0x7ff)^1024) - 1024
}
