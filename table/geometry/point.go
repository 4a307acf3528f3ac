package geometry

import "math"

// Point is a point of the plane.
type Point struct{ X, Y float64 }

func (p Point) hasNaN() bool { return math.IsNaN(p.X) || math.IsNaN(p.Y) }

// Same reports whether two points are the same. NaN is the same as NaN only.
func (p Point) Same(q Point) bool {
	if p.hasNaN() || q.hasNaN() {
		return sameFloat(p.X, q.X) && sameFloat(p.Y, q.Y)
	}
	return equal(p.X, q.X) && equal(p.Y, q.Y)
}

func sameFloat(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }

// LeftOf, RightOf, Above and Below compare coordinates.
func (p Point) LeftOf(q Point) bool { return less(p.X, q.X) }

// RightOf reports whether p is strictly right of q.
func (p Point) RightOf(q Point) bool { return greater(p.X, q.X) }

// Above reports whether p is strictly above q.
func (p Point) Above(q Point) bool { return greater(p.Y, q.Y) }

// Below reports whether p is strictly below q.
func (p Point) Below(q Point) bool { return less(p.Y, q.Y) }

// Vertical reports whether one of the points is above the other.
func (p Point) Vertical(q Point) bool { return equal(p.X, q.X) }

// Horizontal reports whether the points are at the same height.
func (p Point) Horizontal(q Point) bool { return equal(p.Y, q.Y) }

// Distance returns how far two points are apart.
func (c *Calc) Distance(p, q Point) float64 { return c.hypot(c.sub(p.X, q.X), c.sub(p.Y, q.Y)) }

// Slope returns the slope of the line through two points, which is infinite for a vertical one.
func (c *Calc) Slope(p, q Point) float64 {
	switch {
	case equal(p.X, q.X):
		return math.Inf(1)
	case equal(p.Y, q.Y):
		return 0
	}
	return c.div(c.sub(p.Y, q.Y), c.sub(p.X, q.X))
}

// perpendicularSlope returns the slope of a perpendicular to the line through two points.
func (c *Calc) perpendicularSlope(p, q Point) float64 {
	switch {
	case equal(p.X, q.X):
		return 0
	case equal(p.Y, q.Y):
		return math.Inf(1)
	}
	return c.div(c.sub(p.X, q.X), c.sub(q.Y, p.Y))
}

// Add, Subtract, Multiply and Divide are those of complex numbers.
func (c *Calc) Add(p, q Point) Point { return Point{c.add(p.X, q.X), c.add(p.Y, q.Y)} }

// Subtract returns p - q.
func (c *Calc) Subtract(p, q Point) Point { return Point{c.sub(p.X, q.X), c.sub(p.Y, q.Y)} }

// Multiply returns p × q, which rotates and scales p.
func (c *Calc) Multiply(p, q Point) Point {
	return Point{c.sub(c.mul(p.X, q.X), c.mul(p.Y, q.Y)), c.add(c.mul(p.X, q.Y), c.mul(p.Y, q.X))}
}

// Divide returns p / q.
func (c *Calc) Divide(p, q Point) Point {
	d := c.add(c.mul(q.X, q.X), c.mul(q.Y, q.Y))
	return Point{c.div(c.add(c.mul(p.X, q.X), c.mul(p.Y, q.Y)), d),
		c.div(c.sub(c.mul(p.Y, q.X), c.mul(p.X, q.Y)), d)}
}

// Transform maps a point by another one: Add, Subtract, Multiply or Divide.
type Transform func(c *Calc, p, by Point) Point
