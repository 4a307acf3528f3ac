package geometry

// Segment is the part of a line between two points.
type Segment struct{ P, Q Point }

// Vertical reports whether a segment is vertical.
func (s Segment) Vertical() bool { return s.P.Vertical(s.Q) }

// Horizontal reports whether a segment is horizontal.
func (s Segment) Horizontal() bool { return s.P.Horizontal(s.Q) }

// Same reports whether two segments have the same end points in the same order.
func (s Segment) Same(t Segment) bool { return s.P.Same(t.P) && s.Q.Same(t.Q) }

// Differs is the contrary of Same.
func (s Segment) Differs(t Segment) bool { return !s.Same(t) }

// SegmentLength returns the distance between the end points.
func (c *Calc) SegmentLength(s Segment) float64 { return c.Distance(s.P, s.Q) }

// SegmentCenter returns the point in the middle.
func (c *Calc) SegmentCenter(s Segment) Point {
	return Point{c.half(s.P.X, s.Q.X), c.half(s.P.Y, s.Q.Y)}
}

func (c *Calc) segmentSlope(s Segment) float64 { return c.Slope(s.P, s.Q) }

// ParallelSegments reports whether two segments have the same slope.
func (c *Calc) ParallelSegments(s, t Segment) bool {
	return equal(c.segmentSlope(s), c.segmentSlope(t))
}

// PerpendicularSegments reports whether the lines of two segments meet at a right angle.
func (c *Calc) PerpendicularSegments(s, t Segment) bool {
	return equal(c.segmentSlope(s), c.perpendicularSlope(t.P, t.Q))
}

// OnSegment reports whether a point is on a segment: whether it makes the way from end to end no
// longer.
func (c *Calc) OnSegment(p Point, s Segment) bool {
	return equal(c.Distance(p, s.P)+c.Distance(p, s.Q), c.Distance(s.P, s.Q))
}

// SegmentOnLine reports whether a segment is part of a line.
func (c *Calc) SegmentOnLine(s Segment, l Line) bool {
	return c.OnLine(s.P, l) && c.OnLine(s.Q, l)
}

// segmentMeetsLine returns where a segment meets a line, if it does.
func (c *Calc) segmentMeetsLine(s Segment, l Line) (Point, bool) {
	at, ok := c.Intersection(c.LineAt(s.P, c.segmentSlope(s)), l)
	switch {
	case !ok || !c.OnSegment(at, s):
		return Point{}, false
	case s.P.Same(at):
		return s.P, true
	case s.Q.Same(at):
		return s.Q, true
	}
	return at, true
}

// SegmentMeetsLine reports whether a segment meets a line.
func (c *Calc) SegmentMeetsLine(s Segment, l Line) bool {
	_, ok := c.segmentMeetsLine(s, l)
	return ok
}

// SegmentIntersection returns where two segments meet, if they do.
func (c *Calc) SegmentIntersection(s, t Segment) (Point, bool) {
	at, ok := c.segmentMeetsLine(s, c.LineAt(t.P, c.segmentSlope(t)))
	if !ok || !c.OnSegment(at, t) {
		return Point{}, false
	}
	return at, true
}

// SegmentsMeet reports whether two segments meet.
func (c *Calc) SegmentsMeet(s, t Segment) bool {
	_, ok := c.SegmentIntersection(s, t)
	return ok
}

// nearest keeps the nearest of the points that it is offered, the first of several.
type nearest struct {
	at       Point
	distance float64
	found    bool
}

func (n *nearest) offer(at Point, distance float64) {
	if !n.found || below(distance, n.distance) {
		n.at, n.distance, n.found = at, distance, true
	}
}

// NearestToLine returns the point of a segment that is nearest to a line, and their distance.
func (c *Calc) NearestToLine(s Segment, l Line) (Point, float64) {
	if at, ok := c.segmentMeetsLine(s, l); ok {
		return at, 0
	}
	_, p := c.NearestOnLine(l, s.P)
	_, q := c.NearestOnLine(l, s.Q)
	if p < q {
		return s.P, p
	}
	return s.Q, q
}

// NearestOnSegment returns the point of a segment that is nearest to p, and their distance.
func (c *Calc) NearestOnSegment(s Segment, p Point) (Point, float64) {
	at, _ := c.NearestToLine(s, c.LineAt(p, c.perpendicularSlope(s.P, s.Q)))
	return at, c.Distance(at, p)
}

// NearestOfSegments returns the point of s that is nearest to t, and their distance.
func (c *Calc) NearestOfSegments(s, t Segment) (Point, float64) {
	if at, ok := c.SegmentIntersection(s, t); ok {
		return at, 0
	}
	var n nearest
	n.offer(c.NearestOnSegment(s, t.P))
	n.offer(c.NearestOnSegment(s, t.Q))
	_, d := c.NearestOnSegment(t, s.P)
	n.offer(s.P, d)
	_, d = c.NearestOnSegment(t, s.Q)
	n.offer(s.Q, d)
	return n.at, n.distance
}

// HaveOneSlope reports whether two segments have exactly the same slope, so that no point of one
// is nearest to the other.
func (c *Calc) HaveOneSlope(s, t Segment) bool { return c.segmentSlope(s) == c.segmentSlope(t) }

// HasSlopeOf reports whether a segment has exactly the slope of a line.
func (c *Calc) HasSlopeOf(s Segment, l Line) bool { return c.segmentSlope(s) == c.lineSlope(l) }
