package geometry

import "math"

// double is the unevaluated sum of two floats, which together have about 106 bits.
type double struct{ hi, lo float64 }

func sum(x, y float64) double {
	hi := x + y
	part := hi - x
	return double{hi, (x - (hi - part)) + (y - part)}
}

func product(x, y float64) double {
	hi := x * y
	return double{hi, math.FMA(x, y, -hi)}
}

func (d double) plus(e double) double {
	s := sum(d.hi, e.hi)
	return sum(s.hi, s.lo+(d.lo+e.lo))
}

func (d double) times(e double) double {
	p := product(d.hi, e.hi)
	return sum(p.hi, p.lo+(d.hi*e.lo+d.lo*e.hi))
}

func (d double) over(n float64) double {
	q := d.hi / n
	p := product(q, n)
	return sum(q, ((d.hi-p.hi)-p.lo+d.lo)/n)
}

// halfPi is π/2 in three parts, the first two of which have trailing zeros, so that small multiples
// of them are exact.
var halfPi = [3]float64{0x1.921fb544p+00, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69}

// sincos returns the correctly rounded sine and cosine of an angle from 0 to 2π. Those of package
// math may differ in the last bit, which the output shows.
func sincos(x float64) (sin, cos float64) {
	quadrant := math.RoundToEven(x / (math.Pi / 2))
	r := double{hi: x}
	for _, part := range halfPi {
		p := product(-quadrant, part)
		r = r.plus(p)
	}
	s, c := r.series(r, 1).hi, r.series(double{hi: 1}, 0).hi
	switch int(quadrant) & 3 {
	case 0:
		return s, c
	case 1:
		return c, -s
	case 2:
		return -s, -c
	}
	return -c, s
}

// series sums the Taylor series of the sine or the cosine, whose first term has the power n.
func (d double) series(term double, n float64) double {
	total, square := term, d.times(d)
	for range 14 { // (π/4)^28/28! is below the precision
		term = term.times(square).over(-(n + 1) * (n + 2))
		total = total.plus(term)
		n += 2
	}
	return total
}
