package geometry

import (
	"math"

	"github.com/minidb/minidb/internal/sqlerr"
)

// Line is the line Ax + By + C = 0.
type Line struct{ A, B, C float64 }

// NoLine reports whether A and B are both zero, so that there is no such line.
func (l Line) NoLine() bool { return isZero(l.A) && isZero(l.B) }

// ErrSamePoint is the error with the given code for a line that is to go through one point twice.
func ErrSamePoint(code string) error {
	return sqlerr.New(code, "invalid line specification: must be two distinct points")
}

// LineThrough returns the line through two points.
func (c *Calc) LineThrough(p, q Point) Line {
	if p.Same(q) {
		c.fail(ErrSamePoint(sqlerr.InvalidParameterValue))
		return Line{}
	}
	return c.LineAt(p, c.Slope(p, q))
}

// LineAt returns the line through a point with a slope, as Slope returns it.
func (c *Calc) LineAt(p Point, slope float64) Line {
	switch {
	case math.IsInf(slope, 0):
		return Line{A: -1, B: 0, C: p.X}
	case slope == 0:
		return Line{A: 0, B: -1, C: p.Y}
	}
	return Line{A: slope, B: -1, C: positiveZero(c.sub(p.Y, c.mul(slope, p.X)))}
}

// Vertical reports whether a line is vertical.
func (l Line) Vertical() bool { return isZero(l.B) }

// Horizontal reports whether a line is horizontal.
func (l Line) Horizontal() bool { return isZero(l.A) }

func (c *Calc) lineSlope(l Line) float64 {
	switch {
	case l.Horizontal():
		return 0
	case l.Vertical():
		return math.Inf(1)
	}
	return c.div(l.A, -l.B)
}

// Intersection returns where two lines meet; false if they are parallel or the same.
func (c *Calc) Intersection(l, m Line) (Point, bool) {
	switch {
	case !isZero(l.B):
	case !isZero(m.B):
		l, m = m, l
	default:
		return Point{}, false
	}
	if equal(m.A, c.mul(l.A, c.div(m.B, l.B))) {
		return Point{}, false
	}
	x := c.div(c.sub(c.mul(l.B, m.C), c.mul(m.B, l.C)), c.sub(c.mul(l.A, m.B), c.mul(m.A, l.B)))
	y := c.div(-c.add(c.mul(l.A, x), l.C), l.B)
	return Point{positiveZero(x), positiveZero(y)}, true
}

// Intersect reports whether two lines meet.
func (c *Calc) Intersect(l, m Line) bool {
	_, ok := c.Intersection(l, m)
	return ok
}

// Parallel reports whether two lines do not meet, or are the same.
func (c *Calc) Parallel(l, m Line) bool { return !c.Intersect(l, m) }

// Perpendicular reports whether two lines meet at a right angle.
func (c *Calc) Perpendicular(l, m Line) bool {
	switch {
	case isZero(l.A):
		return isZero(m.B)
	case isZero(m.A):
		return isZero(l.B)
	case isZero(l.B):
		return isZero(m.A)
	case isZero(m.B):
		return isZero(l.A)
	}
	return equal(c.div(c.mul(l.A, m.A), c.mul(l.B, m.B)), -1)
}

// SameLine reports whether two equations are of one line.
func (c *Calc) SameLine(l, m Line) bool {
	if l.hasNaN() || m.hasNaN() {
		return sameFloat(l.A, m.A) && sameFloat(l.B, m.B) && sameFloat(l.C, m.C)
	}
	ratio := 1.0
	switch {
	case !isZero(m.A):
		ratio = c.div(l.A, m.A)
	case !isZero(m.B):
		ratio = c.div(l.B, m.B)
	case !isZero(m.C):
		ratio = c.div(l.C, m.C)
	}
	return equal(l.A, c.mul(ratio, m.A)) && equal(l.B, c.mul(ratio, m.B)) &&
		equal(l.C, c.mul(ratio, m.C))
}

func (l Line) hasNaN() bool { return math.IsNaN(l.A) || math.IsNaN(l.B) || math.IsNaN(l.C) }

// LineDistance returns how far parallel lines are apart; 0 if they meet.
func (c *Calc) LineDistance(l, m Line) float64 {
	if c.Intersect(l, m) {
		return 0
	}
	some := func(x, y float64) bool {
		return !isZero(x) && !math.IsNaN(x) && !isZero(y) && !math.IsNaN(y)
	}
	ratio := 1.0
	switch {
	case some(l.A, m.A):
		ratio = c.div(l.A, m.A)
	case some(l.B, m.B):
		ratio = c.div(l.B, m.B)
	}
	return c.div(math.Abs(c.sub(l.C, c.mul(ratio, m.C))), c.hypot(l.A, l.B))
}

// OnLine reports whether a point is on a line.
func (c *Calc) OnLine(p Point, l Line) bool {
	return isZero(c.add(c.add(c.mul(l.A, p.X), c.mul(l.B, p.Y)), l.C))
}

// NearestOnLine returns the point of a line that is nearest to p, and their distance, which is NaN
// where there is no such point.
func (c *Calc) NearestOnLine(l Line, p Point) (Point, float64) {
	slope := 0.0
	switch {
	case l.Horizontal():
		slope = math.Inf(1)
	case !l.Vertical():
		slope = c.div(l.B, l.A)
	}
	at, ok := c.Intersection(c.LineAt(p, slope), l)
	if !ok {
		return p, math.NaN()
	}
	return at, c.Distance(at, p)
}
