package geometry

import (
	"iter"
	"math"
)

// Path is a sequence of points, each connected with the next; that of a closed path ends where it
// began. It has at least one point.
type Path struct {
	Closed bool
	Points []Point
}

// segments yields the segments of a path, that which closes it first.
func (p Path) segments() iter.Seq[Segment] {
	return func(yield func(Segment) bool) {
		last := p.Points[len(p.Points)-1]
		for i, point := range p.Points {
			if (i > 0 || p.Closed) && !yield(Segment{last, point}) {
				return
			}
			last = point
		}
	}
}

// bound returns the smallest box that contains the points.
func bound(points []Point) Box {
	b := Box{points[0], points[0]}
	for _, p := range points[1:] {
		if below(p.X, b.Low.X) {
			b.Low.X = p.X
		}
		if below(b.High.X, p.X) {
			b.High.X = p.X
		}
		if below(p.Y, b.Low.Y) {
			b.Low.Y = p.Y
		}
		if below(b.High.Y, p.Y) {
			b.High.Y = p.Y
		}
	}
	return b
}

// PathArea returns the area of a closed path; false for an open one.
func (c *Calc) PathArea(p Path) (float64, bool) {
	if !p.Closed {
		return 0, false
	}
	area := 0.0
	for i, a := range p.Points {
		if !c.goOn() {
			break
		}
		b := p.Points[(i+1)%len(p.Points)]
		area = c.add(area, c.mul(a.X, b.Y))
		area = c.sub(area, c.mul(a.Y, b.X))
	}
	return c.div(math.Abs(area), 2), true
}

// PathLength returns the length of a path.
func (c *Calc) PathLength(p Path) float64 {
	length := 0.0
	for s := range p.segments() {
		if !c.goOn() {
			break
		}
		length = c.add(length, c.SegmentLength(s))
	}
	return length
}

// PathsMeet reports whether two paths have a point in common.
func (c *Calc) PathsMeet(p, q Path) bool {
	if !bound(p.Points).Overlaps(bound(q.Points)) {
		return false
	}
	for s := range p.segments() {
		for t := range q.segments() {
			if !c.goOn() || c.SegmentsMeet(s, t) {
				return c.err == nil
			}
		}
	}
	return false
}

// PathDistance returns how far two paths are apart; false if one has no segment.
func (c *Calc) PathDistance(p, q Path) (float64, bool) {
	var n nearest
	for s := range p.segments() {
		for t := range q.segments() {
			if !c.goOn() {
				return 0, false
			}
			n.offer(c.NearestOfSegments(s, t))
		}
	}
	return n.distance, n.found
}

// DistanceToPath returns the distance of a point from a path.
func (c *Calc) DistanceToPath(at Point, p Path) float64 {
	var n nearest
	for s := range p.segments() {
		if !c.goOn() {
			break
		}
		n.offer(c.NearestOnSegment(s, at))
	}
	return n.distance
}

// OnPath reports whether a point is on an open path, or in or on a closed one.
func (c *Calc) OnPath(at Point, p Path) bool {
	if p.Closed {
		return c.inside(at, p.Points)
	}
	from := c.Distance(at, p.Points[0])
	for i, end := range p.Points[1:] {
		if !c.goOn() {
			break
		}
		to := c.Distance(at, end)
		if equal(c.add(from, to), c.Distance(p.Points[i], end)) {
			return true
		}
		from = to
	}
	return false
}

// Join appends an open path to an open one; false if one is closed.
func (p Path) Join(q Path) (Path, bool) {
	if p.Closed || q.Closed {
		return Path{}, false
	}
	points := make([]Point, 0, len(p.Points)+len(q.Points))
	return Path{Points: append(append(points, p.Points...), q.Points...)}, true
}

// TransformPath maps all points of a path by a point.
func (c *Calc) TransformPath(p Path, by Point, how Transform) Path {
	out := Path{Closed: p.Closed, Points: make([]Point, len(p.Points))}
	for i, point := range p.Points {
		if !c.goOn() {
			break
		}
		out.Points[i] = how(c, point, by)
	}
	return out
}

// PathPolygon returns the polygon that a closed path surrounds.
func (c *Calc) PathPolygon(p Path) Polygon {
	if !p.Closed {
		c.invalid("open path cannot be converted to polygon")
	}
	return p.Points
}
