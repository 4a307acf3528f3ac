package types

import (
	"math"
	"math/big"
	"sync"

	"github.com/cockroachdb/apd/v3"

	"github.com/minidb/minidb/internal/sqlerr"
)

// The transcendental functions work on binary fixed-point integers: a number x is held as x·2^w.
// w has 64 bits more than the digits asked for, so that the last digit is the rounded one.

// NumericSqrt returns the square root.
func NumericSqrt(d *apd.Decimal, tick Tick) (*apd.Decimal, error) {
	switch {
	case isNaN(d):
		return d, nil
	case NumericSign(d) < 0:
		return nil, sqlerr.New(sqlerr.InvalidArgumentForPower,
			"cannot take square root of a negative number")
	case isInf(d):
		return d, nil
	}
	w, _ := nbaseLead(d)
	return sqrtToScale(d, clampScale(numericMinSigDigits-((w+1)*4/2-1), int(-d.Exponent)), tick)
}

// sqrtToScale rounds the square root of a finite number that is not negative. Requires: the scale
// is not below that of d.
func sqrtToScale(d *apd.Decimal, scale int, tick Tick) (*apd.Decimal, error) {
	// round(sqrt(n)) = (isqrt(4n) + 1) / 2
	n := d.Coeff.MathBigInt()
	n.Mul(n, bigPow10(2*scale-int(-d.Exponent)))
	n.Lsh(n, 2)
	n, err := intSqrt(n, tick)
	if err != nil {
		return nil, err
	}
	n.Add(n, bigOne)
	n.Rsh(n, 1)
	return decimalFromBig(n, scale)
}

// sqrtBits is the size of a number from which on its square root is found in halves.
const sqrtBits = 4096

// intSqrt returns the square root of n, rounded down, by Newton's method: that of the upper half of
// n is half of it, from where a step or two lead to the end.
func intSqrt(n *big.Int, tick Tick) (*big.Int, error) {
	if n.BitLen() <= sqrtBits {
		return new(big.Int).Sqrt(n), nil
	}
	half := uint(n.BitLen() / 4)
	x, err := intSqrt(new(big.Int).Rsh(n, 2*half), tick)
	if err != nil {
		return nil, err
	}
	x.Add(x, bigOne)
	x.Lsh(x, half) // above the root, from where each step leads down to it
	for y := new(big.Int); ; x, y = y, x {
		if err := tick.product(n, x); err != nil {
			return nil, err
		}
		y.Quo(n, x)
		y.Add(y, x)
		y.Rsh(y, 1)
		if y.Cmp(x) >= 0 {
			return x, nil
		}
	}
}

var bigOne = big.NewInt(1)

func bigPow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

func decimalFromBig(n *big.Int, scale int) (*apd.Decimal, error) {
	r := &apd.Decimal{Exponent: int32(-scale)}
	r.Coeff.SetMathBigInt(n)
	if r.Coeff.Sign() < 0 {
		r.Coeff.Abs(&r.Coeff)
		r.Negative = true
	}
	return checkNumeric(r)
}

// toFixed returns d·2^w, truncated.
func toFixed(d *apd.Decimal, w uint) *big.Int {
	n := d.Coeff.MathBigInt()
	n.Lsh(n, w)
	n.Quo(n, bigPow10(int(-d.Exponent)))
	if d.Negative {
		n.Neg(n)
	}
	return n
}

// fromFixed rounds x/2^w to the scale, half away from zero.
func fromFixed(x *big.Int, w uint, scale int) (*apd.Decimal, error) {
	n := new(big.Int).Abs(x)
	n.Mul(n, bigPow10(scale))
	n.Add(n, new(big.Int).Lsh(bigOne, w-1))
	n.Rsh(n, w)
	if x.Sign() < 0 {
		n.Neg(n)
	}
	return decimalFromBig(n, scale)
}

func bitsForDigits(n int) uint { return uint(float64(max(n, 0))*3.3219281) + 64 }

// atanhSeries returns atanh(y) for small fixed-point y.
func atanhSeries(y *big.Int, w uint, tick Tick) (*big.Int, error) {
	sum := new(big.Int).Set(y)
	sq := new(big.Int).Mul(y, y)
	sq.Rsh(sq, w)
	term := new(big.Int).Set(y)
	t := new(big.Int)
	for k := int64(3); ; k += 2 {
		if err := tick.product(term, sq); err != nil {
			return nil, err
		}
		term.Mul(term, sq)
		term.Rsh(term, w)
		if term.BitLen() == 0 || term.Sign() < 0 && term.BitLen() <= 1 {
			return sum, nil
		}
		sum.Add(sum, t.Quo(term, big.NewInt(k)))
	}
}

var ln2Cache struct {
	sync.Mutex
	w uint
	v *big.Int
}

// ln2Fixed returns ln(2)·2^w.
func ln2Fixed(w uint, tick Tick) (*big.Int, error) {
	c := &ln2Cache
	c.Lock()
	defer c.Unlock()
	if c.w < w || c.v == nil {
		more := w + 256
		third := new(big.Int).Lsh(bigOne, more)
		third.Quo(third, big.NewInt(3))
		v, err := atanhSeries(third, more, tick) // ln 2 = 2·atanh(1/3)
		if err != nil {
			return nil, err
		}
		c.w, c.v = more, v.Lsh(v, 1)
	}
	return new(big.Int).Rsh(c.v, c.w-w), nil
}

// lnFixed returns ln(d)·2^w for positive finite d.
func lnFixed(d *apd.Decimal, w uint, tick Tick) (*big.Int, error) {
	const roots = 8
	w += 64
	// d = m·2^k with m in [1,2), both exact enough: scale the ratio first.
	num := d.Coeff.MathBigInt()
	den := bigPow10(int(-d.Exponent))
	k := num.BitLen() - den.BitLen()
	if k >= 0 {
		den.Lsh(den, uint(k))
	} else {
		num.Lsh(num, uint(-k))
	}
	if num.Cmp(den) < 0 {
		num.Lsh(num, 1)
		k--
	}
	m := num.Lsh(num, w)
	m.Quo(m, den)
	if k == -1 { // keep values just below 1 near 1, where ln is small
		m.Rsh(m, 1)
		k = 0
	}
	for range roots {
		var err error
		if m, err = intSqrt(m.Lsh(m, w), tick); err != nil {
			return nil, err
		}
	}
	one := new(big.Int).Lsh(bigOne, w)
	a := new(big.Int).Sub(m, one)
	b := m.Add(m, one)
	a.Lsh(a, w)
	a.Quo(a, b)
	r, err := atanhSeries(a, w, tick)
	if err != nil {
		return nil, err
	}
	r.Lsh(r, 1+roots)
	if k != 0 {
		ln2, err := ln2Fixed(w, tick)
		if err != nil {
			return nil, err
		}
		r.Add(r, ln2.Mul(ln2, big.NewInt(int64(k))))
	}
	return r.Rsh(r, 64), nil
}

// expFixed returns exp(x/2^w)·2^w. Its relative error is that of x, plus 2^-w.
func expFixed(x *big.Int, w uint, tick Tick) (*big.Int, error) {
	const halvings = 8
	g := w + 64
	y := new(big.Int).Lsh(x, 64)
	ln2, err := ln2Fixed(g, tick)
	if err != nil {
		return nil, err
	}
	k := new(big.Int)
	r := new(big.Int)
	k.DivMod(y, ln2, r) // 0 <= r < ln 2
	r.Rsh(r, halvings)
	sum := new(big.Int).Lsh(bigOne, g)
	term := new(big.Int).Set(sum)
	for i := int64(1); ; i++ {
		if err := tick.product(term, r); err != nil {
			return nil, err
		}
		term.Mul(term, r)
		term.Rsh(term, g)
		term.Quo(term, big.NewInt(i))
		if term.Sign() == 0 {
			break
		}
		sum.Add(sum, term)
	}
	for range halvings {
		if err := tick.product(sum, sum); err != nil {
			return nil, err
		}
		sum.Mul(sum, sum)
		sum.Rsh(sum, g)
	}
	shift := k.Int64() - 64
	if shift >= 0 {
		return sum.Lsh(sum, uint(shift)), nil
	}
	return sum.Rsh(sum, uint(-shift)), nil
}

// approxFloat is d as a float; out of range becomes an infinity or zero.
func approxFloat(d *apd.Decimal) float64 {
	if d.Coeff.Sign() == 0 {
		return 0
	}
	n := int(d.NumDigits())
	cut := max(n-18, 0)
	var q apd.BigInt
	q.Quo(&d.Coeff, pow10(cut))
	f := float64(q.Uint64())
	for e := cut + int(d.Exponent); e != 0; {
		step := min(max(e, -300), 300)
		f *= math.Pow10(step)
		e -= step
	}
	if d.Negative {
		return -f
	}
	return f
}

// NumericExp returns e^d.
func NumericExp(d *apd.Decimal, tick Tick) (*apd.Decimal, error) {
	switch {
	case isNaN(d):
		return d, nil
	case isInf(d) && d.Negative:
		return numericZero, nil
	case isInf(d):
		return d, nil
	}
	val := approxFloat(d)
	weight := math.Max(math.Min(val*0.434294481903252, numericMaxResultScale),
		-numericMaxResultScale)
	scale := clampScale(numericMinSigDigits-int(weight), int(-d.Exponent))
	if math.Abs(val) >= numericMaxResultScale*3 {
		if val > 0 {
			return nil, errNumericOverflow()
		}
		return &apd.Decimal{Exponent: int32(-scale)}, nil
	}
	w := bitsForDigits(scale + max(int(val*0.434294481903252), 0) + 4)
	x, err := expFixed(toFixed(d, w), w, tick)
	if err != nil {
		return nil, err
	}
	return fromFixed(x, w, scale)
}

// lnDigitWeight estimates the decimal weight of ln(d), as PostgreSQL's estimate_ln_dweight.
func lnDigitWeight(d *apd.Decimal) int {
	if NumericSign(d) <= 0 {
		return 0
	}
	if NumericCmp(d, apd.New(9, -1)) >= 0 && NumericCmp(d, apd.New(11, -1)) <= 0 {
		x, err := NumericSub(d, numericOne)
		if err != nil || NumericSign(x) == 0 {
			return 0
		}
		w, digit := nbaseLead(x)
		return w*4 + int(math.Log10(float64(digit)))
	}
	// The first two base-10000 digits.
	w, digit := nbaseLead(d)
	digits, dweight := float64(digit), w*4
	n := int(d.NumDigits())
	lead := n + int(d.Exponent) - 4*w // decimal digits in the first one
	if n > lead {
		second := new(apd.BigInt)
		if n >= lead+4 {
			second.Quo(&d.Coeff, pow10(n-lead-4))
		} else {
			second.Mul(&d.Coeff, pow10(lead+4-n))
		}
		if trimmed := NumericTrimScale(d); int(trimmed.NumDigits()) > lead {
			digits, dweight = float64(second.Int64()), dweight-4
		}
	}
	return int(math.Log10(math.Abs(math.Log(digits) + float64(dweight)*2.302585092994046)))
}

func checkLogArg(d *apd.Decimal) error {
	switch NumericSign(d) {
	case 0:
		return sqlerr.New(sqlerr.InvalidArgumentForLog, "cannot take logarithm of zero")
	case -1:
		return sqlerr.New(sqlerr.InvalidArgumentForLog,
			"cannot take logarithm of a negative number")
	}
	return nil
}

// NumericLn returns the natural logarithm.
func NumericLn(d *apd.Decimal, tick Tick) (*apd.Decimal, error) {
	if isNaN(d) {
		return d, nil
	}
	if err := checkLogArg(d); err != nil {
		return nil, err
	}
	if isInf(d) {
		return d, nil
	}
	scale := clampScale(numericMinSigDigits-lnDigitWeight(d), int(-d.Exponent))
	w := bitsForDigits(scale)
	x, err := lnFixed(d, w, tick)
	if err != nil {
		return nil, err
	}
	return fromFixed(x, w, scale)
}

// NumericLog returns the logarithm of d to the base.
func NumericLog(base, d *apd.Decimal, tick Tick) (*apd.Decimal, error) {
	if isNaN(base) || isNaN(d) {
		return numericNaN, nil
	}
	first := base
	if (isInf(base) || isInf(d)) && NumericSign(d) < 0 {
		first = d // with an infinity, negative arguments are refused before zeros
	}
	for _, arg := range []*apd.Decimal{first, base, d} {
		if err := checkLogArg(arg); err != nil {
			return nil, err
		}
	}
	switch {
	case isInf(base) && isInf(d):
		return numericNaN, nil
	case isInf(base):
		return numericZero, nil
	case isInf(d):
		return numericInf, nil
	}
	wb, wd := lnDigitWeight(base), lnDigitWeight(d)
	scale := clampScale(numericMinSigDigits-(wd-wb), int(-base.Exponent), int(-d.Exponent))
	w := bitsForDigits(scale + 2*max(-wb, 0) + max(wd, 0) + 8)
	den, err := lnFixed(base, w, tick)
	if err != nil {
		return nil, err
	}
	if den.Sign() == 0 {
		return nil, errDivZero()
	}
	num, err := lnFixed(d, w, tick)
	if err != nil {
		return nil, err
	}
	num.Lsh(num, w)
	num.Quo(num, den)
	return fromFixed(num, w, scale)
}

// NumericLog10 returns the decimal logarithm.
func NumericLog10(d *apd.Decimal, tick Tick) (*apd.Decimal, error) {
	return NumericLog(numericTen, d, tick)
}

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
