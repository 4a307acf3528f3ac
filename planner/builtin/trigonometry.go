package builtin

import "math"

var trigonometry = []def{
	f("sin(float8) float8", finiteInput(math.Sin)), f("cos(float8) float8", finiteInput(math.Cos)),
	f("tan(float8) float8", finiteInput(math.Tan)),
	f("cot(float8) float8", finiteInput(func(x float64) float64 { return 1 / math.Tan(x) })),
	f("asin(float8) float8", within(-1, 1, math.Asin)), f("acos(float8) float8",
		within(-1, 1, math.Acos)),
	f("atan(float8) float8", sure1(math.Atan)), f("atan2(float8,float8) float8", sure2(math.Atan2)),
	f("sinh(float8) float8", sure1(math.Sinh)), f("cosh(float8) float8", sure1(math.Cosh)),
	f("tanh(float8) float8", sure1(math.Tanh)), f("asinh(float8) float8", sure1(math.Asinh)),
	f("acosh(float8) float8", within(1, math.Inf(1), math.Acosh)),
	f("atanh(float8) float8", within(-1, 1, math.Atanh)),
	f("sind(float8) float8", finiteInput(sinDegrees)), f("cosd(float8) float8",
		finiteInput(cosDegrees)),
	f("tand(float8) float8", finiteInput(tanDegrees)), f("cotd(float8) float8",
		finiteInput(cotDegrees)),
	f("asind(float8) float8", within(-1, 1, asinDegrees)), f("acosd(float8) float8",
		within(-1, 1, acosDegrees)),
	f("atand(float8) float8", sure1(
		func(x float64) float64 { return math.Atan(x) / atanOne * 45 })),
	f("atan2d(float8,float8) float8",
		sure2(func(y, x float64) float64 { return math.Atan2(y, x) / atanOne * 45 })),
}

// radiansPerDegree is a variable, so that products with it are rounded at run time, as for any
// angle. The compiler would compute products of constants exactly.
var radiansPerDegree float64 = math.Pi / 180

// Values of the functions at the angles where the functions of degrees must be exact. Like
// PostgreSQL, these scale their results by them.
var (
	sin30, oneMinusCos60 = math.Sin(30 * radiansPerDegree), 1 - math.Cos(60*radiansPerDegree)
	asinHalf, acosHalf   = math.Asin(0.5), math.Acos(0.5)
	atanOne              = math.Atan(1)
	tan45, cot45         = sinQuadrant(45) / cosQuadrant(45), cosQuadrant(45) / sinQuadrant(45)
)

func sinTo30(x float64) float64 { return math.Sin(x*radiansPerDegree) / sin30 / 2 }

func cosTo60(x float64) float64 { return 1 - (1-math.Cos(x*radiansPerDegree))/oneMinusCos60/2 }

// sinQuadrant is the sine of 0 to 90 degrees.
func sinQuadrant(x float64) float64 {
	if x <= 30 {
		return sinTo30(x)
	}
	return cosTo60(90 - x)
}

// cosQuadrant is the cosine of 0 to 90 degrees.
func cosQuadrant(x float64) float64 {
	if x <= 60 {
		return cosTo60(x)
	}
	return sinTo30(90 - x)
}

// quadrant maps an angle to 0 … 90 degrees. below reports whether it is below the horizontal axis,
// where the sine is negative, and behind whether it is left of the vertical axis, where the cosine
// is.
func quadrant(x float64) (at float64, below, behind bool) {
	x = math.Mod(x, 360)
	if x < 0 {
		x, below = -x, true
	}
	if x > 180 {
		x, below = 360-x, !below
	}
	if x > 90 {
		x, behind = 180-x, true
	}
	return x, below, behind
}

func negatedIf(negative bool, x float64) float64 {
	if negative {
		return -x
	}
	return x
}

func sinDegrees(x float64) float64 {
	at, below, _ := quadrant(x)
	return negatedIf(below, sinQuadrant(at))
}

func cosDegrees(x float64) float64 {
	at, _, behind := quadrant(x)
	return negatedIf(behind, cosQuadrant(at))
}

func tanDegrees(x float64) float64 {
	at, below, behind := quadrant(x)
	return positiveZero(negatedIf(below != behind, sinQuadrant(at)/cosQuadrant(at)/tan45))
}

func cotDegrees(x float64) float64 {
	at, below, behind := quadrant(x)
	return positiveZero(negatedIf(below != behind, cosQuadrant(at)/sinQuadrant(at)/cot45))
}

// positiveZero replaces -0, which tand and cotd never give.
func positiveZero(x float64) float64 {
	if x == 0 {
		return 0
	}
	return x
}

// asinQuadrant is the arc sine of 0 to 1 in degrees.
func asinQuadrant(x float64) float64 {
	if x <= 0.5 {
		return math.Asin(x) / asinHalf * 30
	}
	return 90 - math.Acos(x)/acosHalf*60
}

func asinDegrees(x float64) float64 {
	if x >= 0 {
		return asinQuadrant(x)
	}
	return -asinQuadrant(-x)
}

func acosDegrees(x float64) float64 {
	switch {
	case x > 0.5:
		return math.Acos(x) / acosHalf * 60
	case x >= 0:
		return 90 - asinQuadrant(x)
	}
	return 90 + asinQuadrant(-x)
}
