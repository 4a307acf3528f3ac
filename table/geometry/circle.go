package geometry

import (
	"math"

	"github.com/minidb/minidb/internal/sqlerr"
)

// Circle is a circle by its center and radius.
type Circle struct {
	Center Point
	Radius float64
}

// Same reports whether two circles have the same center and radius.
func (k Circle) Same(o Circle) bool {
	return (math.IsNaN(k.Radius) && math.IsNaN(o.Radius) || equal(k.Radius, o.Radius)) &&
		k.Center.Same(o.Center)
}

// The outermost points of a circle.

func (c *Calc) left(k Circle) float64   { return c.sub(k.Center.X, k.Radius) }
func (c *Calc) right(k Circle) float64  { return c.add(k.Center.X, k.Radius) }
func (c *Calc) bottom(k Circle) float64 { return c.sub(k.Center.Y, k.Radius) }
func (c *Calc) top(k Circle) float64    { return c.add(k.Center.Y, k.Radius) }

// CircleLeftOf reports whether k is strictly left of o.
func (c *Calc) CircleLeftOf(k, o Circle) bool { return less(c.right(k), c.left(o)) }

// CircleNotRightOf reports whether k does not extend to the right of o.
func (c *Calc) CircleNotRightOf(k, o Circle) bool { return atMost(c.right(k), c.right(o)) }

// CircleRightOf reports whether k is strictly right of o.
func (c *Calc) CircleRightOf(k, o Circle) bool { return greater(c.left(k), c.right(o)) }

// CircleNotLeftOf reports whether k does not extend to the left of o.
func (c *Calc) CircleNotLeftOf(k, o Circle) bool { return atLeast(c.left(k), c.left(o)) }

// CircleBelow reports whether k is strictly below o.
func (c *Calc) CircleBelow(k, o Circle) bool { return less(c.top(k), c.bottom(o)) }

// CircleNotAbove reports whether k does not extend above o.
func (c *Calc) CircleNotAbove(k, o Circle) bool { return atMost(c.top(k), c.top(o)) }

// CircleAbove reports whether k is strictly above o.
func (c *Calc) CircleAbove(k, o Circle) bool { return greater(c.bottom(k), c.top(o)) }

// CircleNotBelow reports whether k does not extend below o.
func (c *Calc) CircleNotBelow(k, o Circle) bool { return atLeast(c.bottom(k), c.bottom(o)) }

// CirclesOverlap reports whether two circles have a point in common.
func (c *Calc) CirclesOverlap(k, o Circle) bool {
	return atMost(c.Distance(k.Center, o.Center), c.add(k.Radius, o.Radius))
}

// CircleContains reports whether k contains o.
func (c *Calc) CircleContains(k, o Circle) bool {
	return atMost(c.Distance(k.Center, o.Center), c.sub(k.Radius, o.Radius))
}

// CircleWithin is CircleContains with its circles exchanged.
func (c *Calc) CircleWithin(k, o Circle) bool { return c.CircleContains(o, k) }

// InCircle reports whether a point is in a circle or on its border, exactly.
func (c *Calc) InCircle(p Point, k Circle) bool { return c.Distance(k.Center, p) <= k.Radius }

// CircleArea returns the area of a circle.
func (c *Calc) CircleArea(k Circle) float64 { return c.mul(c.mul(k.Radius, k.Radius), math.Pi) }

// Diameter returns twice the radius.
func (c *Calc) Diameter(k Circle) float64 { return c.mul(k.Radius, 2) }

// CircleDistance returns how far two circles are apart.
func (c *Calc) CircleDistance(k, o Circle) float64 {
	return notNegative(c.sub(c.Distance(k.Center, o.Center), c.add(k.Radius, o.Radius)))
}

// DistanceToCircle returns the distance of a point from a circle.
func (c *Calc) DistanceToCircle(p Point, k Circle) float64 {
	return notNegative(c.sub(c.Distance(p, k.Center), k.Radius))
}

// CircleToPolygon returns the distance of a circle from a polygon.
func (c *Calc) CircleToPolygon(k Circle, p Polygon) float64 {
	return notNegative(c.sub(c.DistanceToPolygon(k.Center, p), k.Radius))
}

func notNegative(x float64) float64 {
	if x < 0 {
		return 0
	}
	return x
}

// MoveCircle adds or subtracts a point.
func (c *Calc) MoveCircle(k Circle, by Point, how Transform) Circle {
	return Circle{how(c, k.Center, by), k.Radius}
}

// Magnify multiplies a circle by a point.
func (c *Calc) Magnify(k Circle, by Point) Circle {
	return Circle{c.Multiply(k.Center, by), c.mul(k.Radius, c.hypot(by.X, by.Y))}
}

// Reduce divides a circle by a point.
func (c *Calc) Reduce(k Circle, by Point) Circle {
	return Circle{c.Divide(k.Center, by), c.div(k.Radius, c.hypot(by.X, by.Y))}
}

// CircleBox returns the square in a circle.
func (c *Calc) CircleBox(k Circle) Box {
	d := c.div(k.Radius, math.Sqrt2)
	return Box{High: Point{c.add(k.Center.X, d), c.add(k.Center.Y, d)},
		Low: Point{c.sub(k.Center.X, d), c.sub(k.Center.Y, d)}}
}

// BoxCircle returns the circle around a box.
func (c *Calc) BoxCircle(b Box) Circle {
	center := c.BoxCenter(b)
	return Circle{center, c.Distance(center, b.High)}
}

// CheckCorners returns the error for a circle that has no polygon of n points.
func (k Circle) CheckCorners(n int64) error {
	if isZero(k.Radius) {
		return sqlerr.New(sqlerr.FeatureNotSupported,
			"cannot convert circle with radius zero to polygon")
	}
	if n < 2 {
		return sqlerr.New(sqlerr.InvalidParameterValue, "must request at least 2 points")
	}
	return nil
}

// CirclePolygon returns the regular polygon of n points on a circle. Requires: CheckCorners.
func (c *Calc) CirclePolygon(k Circle, n int) Polygon {
	out := make(Polygon, n)
	step := c.div(2*math.Pi, float64(n))
	for i := range out {
		if !c.goOn() {
			break
		}
		sin, cos := sincos(c.mul(step, float64(i)))
		out[i] = Point{c.sub(k.Center.X, c.mul(k.Radius, cos)),
			c.add(k.Center.Y, c.mul(k.Radius, sin))}
	}
	return out
}
