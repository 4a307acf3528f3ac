package geometry

import (
	"math"

	"github.com/minidb/minidb/internal/sqlerr"
)

// Work counts the steps of a computation. It returns the error with which to stop: that of the
// statement's context when it has ended.
type Work interface {
	Tick(bytes int) error
}

// stepCost is what one step of a loop counts as, in bytes of Work.
const stepCost = 256

// Calc is one computation. Its zero value is ready; a nil Work never stops it.
type Calc struct {
	Work Work
	err  error
}

// Err returns the first error of the computation.
func (c *Calc) Err() error { return c.err }

func (c *Calc) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

func (c *Calc) invalid(message string) {
	c.fail(sqlerr.New(sqlerr.InvalidParameterValue, "%s", message))
}

// goOn counts a step of a loop. It returns false when the computation has to stop.
func (c *Calc) goOn() bool {
	if c.err == nil && c.Work != nil {
		c.err = c.Work.Tick(stepCost)
	}
	return c.err == nil
}

func (c *Calc) outOfRange(what string) {
	c.fail(sqlerr.New(sqlerr.NumericValueOutOfRange, "value out of range: %s", what))
}

func infinite(x, y float64) bool { return math.IsInf(x, 0) || math.IsInf(y, 0) }

func (c *Calc) add(x, y float64) float64 {
	r := x + y
	if math.IsInf(r, 0) && !infinite(x, y) {
		c.outOfRange("overflow")
	}
	return r
}

func (c *Calc) sub(x, y float64) float64 {
	r := x - y
	if math.IsInf(r, 0) && !infinite(x, y) {
		c.outOfRange("overflow")
	}
	return r
}

func (c *Calc) mul(x, y float64) float64 {
	r := x * y
	if math.IsInf(r, 0) && !infinite(x, y) {
		c.outOfRange("overflow")
	}
	if r == 0 && x != 0 && y != 0 {
		c.outOfRange("underflow")
	}
	return r
}

func (c *Calc) div(x, y float64) float64 {
	if y == 0 && !math.IsNaN(x) {
		c.fail(sqlerr.New(sqlerr.DivisionByZero, "division by zero"))
	}
	r := x / y
	if math.IsInf(r, 0) && !math.IsInf(x, 0) {
		c.outOfRange("overflow")
	}
	if r == 0 && x != 0 && !math.IsInf(y, 0) {
		c.outOfRange("underflow")
	}
	return r
}

// half is the mean of two numbers.
func (c *Calc) half(x, y float64) float64 { return c.div(c.add(x, y), 2) }

// hypot is the length of (x, y). math.Hypot rounds in another way.
func (c *Calc) hypot(x, y float64) float64 {
	switch {
	case infinite(x, y):
		return math.Inf(1)
	case math.IsNaN(x) || math.IsNaN(y):
		return math.NaN()
	}
	x, y = math.Abs(x), math.Abs(y)
	if x < y {
		x, y = y, x
	}
	if y == 0 {
		return x
	}
	ratio := y / x
	square := ratio * ratio
	r := x * math.Sqrt(1+square)
	switch {
	case math.IsInf(r, 0):
		c.outOfRange("overflow")
	case r == 0:
		c.outOfRange("underflow")
	}
	return r
}

// epsilon is how far two numbers may be apart that count as equal.
const epsilon = 1e-6

// The fuzzy comparisons. All are false for NaN.

func isZero(x float64) bool     { return math.Abs(x) <= epsilon }
func equal(x, y float64) bool   { return x == y || math.Abs(x-y) <= epsilon }
func less(x, y float64) bool    { return x+epsilon < y }
func atMost(x, y float64) bool  { return x <= y+epsilon }
func greater(x, y float64) bool { return x > y+epsilon }
func atLeast(x, y float64) bool { return x+epsilon >= y }

// Comparison is one of the fuzzy comparisons of two numbers.
type Comparison func(x, y float64) bool

// The comparisons of areas and lengths.
var (
	Equal   Comparison = equal
	Unequal Comparison = func(x, y float64) bool { return x != y && math.Abs(x-y) > epsilon }
	Less    Comparison = less
	AtMost  Comparison = atMost
	Greater Comparison = greater
	AtLeast Comparison = atLeast
)

// below reports whether x is less than y in the order of float8, where NaN is above everything.
func below(x, y float64) bool {
	return !math.IsNaN(x) && (math.IsNaN(y) || x < y)
}

func lower(x, y float64) float64 {
	if below(x, y) {
		return x
	}
	return y
}

func higher(x, y float64) float64 {
	if below(y, x) {
		return x
	}
	return y
}

// positiveZero replaces -0.
func positiveZero(x float64) float64 {
	if x == 0 {
		return 0
	}
	return x
}
