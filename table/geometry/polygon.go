package geometry

import "github.com/minidb/minidb/internal/sqlerr"

// Polygon is the area that a closed path surrounds, by its points, of which there is at least one.
type Polygon []Point

// Path returns the outline of a polygon.
func (p Polygon) Path() Path { return Path{Closed: true, Points: p} }

// Box returns the smallest box that contains a polygon.
func (p Polygon) Box() Box { return bound(p) }

// The positions of polygons are those of their boxes, but compared exactly.

// LeftOf reports whether p is strictly left of o.
func (p Polygon) LeftOf(o Polygon) bool { return p.Box().High.X < o.Box().Low.X }

// NotRightOf reports whether p does not extend to the right of o.
func (p Polygon) NotRightOf(o Polygon) bool { return p.Box().High.X <= o.Box().High.X }

// RightOf reports whether p is strictly right of o.
func (p Polygon) RightOf(o Polygon) bool { return p.Box().Low.X > o.Box().High.X }

// NotLeftOf reports whether p does not extend to the left of o.
func (p Polygon) NotLeftOf(o Polygon) bool { return p.Box().Low.X >= o.Box().Low.X }

// Below reports whether p is strictly below o.
func (p Polygon) Below(o Polygon) bool { return p.Box().High.Y < o.Box().Low.Y }

// NotAbove reports whether p does not extend above o.
func (p Polygon) NotAbove(o Polygon) bool { return p.Box().High.Y <= o.Box().High.Y }

// Above reports whether p is strictly above o.
func (p Polygon) Above(o Polygon) bool { return p.Box().Low.Y > o.Box().High.Y }

// NotBelow reports whether p does not extend below o.
func (p Polygon) NotBelow(o Polygon) bool { return p.Box().Low.Y >= o.Box().Low.Y }

// SamePolygon reports whether two polygons have the same points in the same order, wherever they
// begin and whichever way around.
func (c *Calc) SamePolygon(p, o Polygon) bool {
	if len(p) != len(o) {
		return false
	}
	for i := range o {
		if p[0].Same(o[i]) && (c.sameFrom(p, o, i, 1) || c.sameFrom(p, o, i, len(o)-1)) {
			return true
		}
	}
	return false
}

// sameFrom reports whether the points of p are those of o from i on, going on by step.
func (c *Calc) sameFrom(p, o Polygon, i, step int) bool {
	for _, point := range p {
		if !c.goOn() || !point.Same(o[i]) {
			return false
		}
		i = (i + step) % len(o)
	}
	return true
}

// PolygonsOverlap reports whether two polygons have a point in common.
func (c *Calc) PolygonsOverlap(p, o Polygon) bool {
	if !p.Box().Overlaps(o.Box()) {
		return false
	}
	return c.PathsMeet(p.Path(), o.Path()) || c.inside(p[0], o) || c.inside(o[0], p)
}

// PolygonDistance returns how far two polygons are apart.
func (c *Calc) PolygonDistance(p, o Polygon) (float64, bool) {
	if c.PolygonsOverlap(p, o) {
		return 0, true
	}
	return c.PathDistance(p.Path(), o.Path())
}

// InPolygon reports whether a point is in a polygon or on its outline.
func (c *Calc) InPolygon(at Point, p Polygon) bool { return c.inside(at, p) }

// DistanceToPolygon returns the distance of a point from a polygon.
func (c *Calc) DistanceToPolygon(at Point, p Polygon) float64 {
	if c.inside(at, p) {
		return 0
	}
	var n nearest
	n.offer(c.NearestOnSegment(Segment{p[0], p[len(p)-1]}, at))
	for i := range len(p) - 1 {
		if !c.goOn() {
			break
		}
		n.offer(c.NearestOnSegment(Segment{p[i], p[i+1]}, at))
	}
	return n.distance
}

// PolygonContains reports whether p contains o.
func (c *Calc) PolygonContains(p, o Polygon) bool {
	if !p.Box().Contains(o.Box()) {
		return false
	}
	for s := range o.Path().segments() {
		if !c.segmentInside(s.P, s.Q, p, 0, 0) {
			return false
		}
	}
	return true
}

// depthMax bounds the pieces of pieces into which a segment is cut.
const depthMax = 5000

// segmentInside reports whether the segment from a to b is in a polygon, as far as its sides from
// the given one on decide it. Side i ends at point i. Where a side cuts the segment, the pieces are
// examined on their own.
func (c *Calc) segmentInside(a, b Point, p Polygon, from, depth int) bool {
	if depth > depthMax {
		c.fail(sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded"))
	}
	cut := false
	for i := from; i < len(p); i++ {
		if !c.goOn() {
			return false
		}
		side := Segment{p[(i+len(p)-1)%len(p)], p[i]}
		whole := Segment{a, b}
		inside := true
		if c.OnSegment(a, side) {
			if c.OnSegment(b, side) {
				return true
			}
			inside = c.touchingInside(a, b, side, p, i+1, depth+1)
		} else if c.OnSegment(b, side) {
			inside = c.touchingInside(b, a, side, p, i+1, depth+1)
		} else if at, ok := c.SegmentIntersection(whole, side); ok {
			cut = true
			inside = c.segmentInside(a, at, p, i+1, depth+1) &&
				c.segmentInside(b, at, p, i+1, depth+1)
		}
		if !inside {
			return false
		}
	}
	return cut || c.inside(Point{c.half(a.X, b.X), c.half(a.Y, b.Y)}, p)
}

// touchingInside is segmentInside for a segment that begins on a side and ends elsewhere. If it
// runs along the side, it is examined from the end of the side on; else it may be inside.
func (c *Calc) touchingInside(a, b Point, side Segment, p Polygon, from, depth int) bool {
	whole := Segment{a, b}
	switch {
	case a.Same(side.P):
		if c.OnSegment(side.Q, whole) {
			return c.segmentInside(b, side.Q, p, from, depth)
		}
	case a.Same(side.Q):
		if c.OnSegment(side.P, whole) {
			return c.segmentInside(b, side.P, p, from, depth)
		}
	case c.OnSegment(side.P, whole):
		return c.segmentInside(b, side.P, p, from, depth)
	case c.OnSegment(side.Q, whole):
		return c.segmentInside(b, side.Q, p, from, depth)
	}
	return true
}

// inside reports whether a point is within the outline or on it. It counts how often the outline
// crosses the ray from the point to the right, with the direction as sign.
func (c *Calc) inside(at Point, outline []Point) bool {
	relative := func(p Point) Point { return Point{c.sub(p.X, at.X), c.sub(p.Y, at.Y)} }
	first := relative(outline[0])
	last, total := first, 0
	for _, p := range outline[1:] {
		if !c.goOn() {
			return false
		}
		next := relative(p)
		n, on := c.crossing(next, last)
		if on {
			return true
		}
		total, last = total+n, next
	}
	n, on := c.crossing(first, last)
	return on || total+n != 0
}

// crossing returns ±2 if the segment from last to p crosses the positive x axis upwards or
// downwards, ±1 if it begins or ends there, 0 if it does neither or is part of the axis. on is set
// if the segment goes through the origin.
func (c *Calc) crossing(p, last Point) (n int, on bool) {
	if isZero(p.Y) {
		return crossingToAxis(p, last)
	}
	direction := -1
	if greater(p.Y, 0) {
		direction = 1
	}
	switch {
	case isZero(last.Y):
		if less(last.X, 0) {
			return 0, false
		}
		return direction, false
	case direction < 0 && less(last.Y, 0), direction > 0 && greater(last.Y, 0):
		return 0, false
	case atLeast(p.X, 0) && greater(last.X, 0):
		return 2 * direction, false
	case less(p.X, 0) && atMost(last.X, 0):
		return 0, false
	}
	z := c.sub(c.mul(c.sub(p.X, last.X), p.Y), c.mul(c.sub(p.Y, last.Y), p.X))
	switch {
	case isZero(z):
		return 0, true
	case direction < 0 && less(z, 0), direction > 0 && greater(z, 0):
		return 0, false
	}
	return 2 * direction, false
}

// crossingToAxis is crossing for a segment that ends on the x axis.
func crossingToAxis(p, last Point) (n int, on bool) {
	switch {
	case isZero(p.X):
		return 0, true
	case greater(p.X, 0):
		if isZero(last.Y) {
			return 0, !greater(last.X, 0)
		}
		if less(last.Y, 0) {
			return 1, false
		}
		return -1, false
	case isZero(last.Y):
		return 0, !less(last.X, 0)
	}
	return 0, false
}

// PolygonCircle returns the circle around the mean of the points, with their mean distance from it
// as radius.
func (c *Calc) PolygonCircle(p Polygon) Circle {
	var out Circle
	for _, point := range p {
		if !c.goOn() {
			break
		}
		out.Center = c.Add(out.Center, point)
	}
	n := float64(len(p))
	out.Center = Point{c.div(out.Center.X, n), c.div(out.Center.Y, n)}
	for _, point := range p {
		if !c.goOn() {
			break
		}
		out.Radius = c.add(out.Radius, c.Distance(point, out.Center))
	}
	out.Radius = c.div(out.Radius, n)
	return out
}

// PolygonCenter returns the mean of the points.
func (c *Calc) PolygonCenter(p Polygon) Point { return c.PolygonCircle(p).Center }
