package geometry

// Box is a rectangle whose sides are horizontal and vertical, by its upper right and its lower left
// corner.
type Box struct{ High, Low Point }

// BoxOf returns the box of two opposite corners.
func BoxOf(p, q Point) Box {
	b := Box{High: q, Low: p}
	if below(q.X, p.X) {
		b.High.X, b.Low.X = p.X, q.X
	}
	if below(q.Y, p.Y) {
		b.High.Y, b.Low.Y = p.Y, q.Y
	}
	return b
}

// Ordered returns a box whose corners were given in any order. It differs from BoxOf in what it
// does with equal ones.
func (b Box) Ordered() Box {
	if below(b.High.X, b.Low.X) {
		b.High.X, b.Low.X = b.Low.X, b.High.X
	}
	if below(b.High.Y, b.Low.Y) {
		b.High.Y, b.Low.Y = b.Low.Y, b.High.Y
	}
	return b
}

// Same reports whether two boxes have the same corners.
func (b Box) Same(o Box) bool { return b.High.Same(o.High) && b.Low.Same(o.Low) }

// Overlaps reports whether two boxes have a point in common.
func (b Box) Overlaps(o Box) bool {
	return atMost(b.Low.X, o.High.X) && atMost(o.Low.X, b.High.X) &&
		atMost(b.Low.Y, o.High.Y) && atMost(o.Low.Y, b.High.Y)
}

// Contains reports whether a box contains another.
func (b Box) Contains(o Box) bool {
	return atLeast(b.High.X, o.High.X) && atMost(b.Low.X, o.Low.X) &&
		atLeast(b.High.Y, o.High.Y) && atMost(b.Low.Y, o.Low.Y)
}

// Within is Contains with its boxes exchanged.
func (b Box) Within(o Box) bool { return o.Contains(b) }

// Has reports whether a point is in a box or on its border, exactly.
func (b Box) Has(p Point) bool {
	return b.High.X >= p.X && b.Low.X <= p.X && b.High.Y >= p.Y && b.Low.Y <= p.Y
}

// HasSegment reports whether both ends of a segment are in a box.
func (b Box) HasSegment(s Segment) bool { return b.Has(s.P) && b.Has(s.Q) }

// LeftOf reports whether b is strictly left of o. RightOf, Below and Above are the same for the
// other sides. NotRightOf reports whether b extends no further to the right than o, and NotLeftOf,
// NotAbove and NotBelow likewise.
func (b Box) LeftOf(o Box) bool { return less(b.High.X, o.Low.X) }

// NotRightOf reports whether b does not extend to the right of o.
func (b Box) NotRightOf(o Box) bool { return atMost(b.High.X, o.High.X) }

// RightOf reports whether b is strictly right of o.
func (b Box) RightOf(o Box) bool { return greater(b.Low.X, o.High.X) }

// NotLeftOf reports whether b does not extend to the left of o.
func (b Box) NotLeftOf(o Box) bool { return atLeast(b.Low.X, o.Low.X) }

// Below reports whether b is strictly below o.
func (b Box) Below(o Box) bool { return less(b.High.Y, o.Low.Y) }

// NotAbove reports whether b does not extend above o.
func (b Box) NotAbove(o Box) bool { return atMost(b.High.Y, o.High.Y) }

// Above reports whether b is strictly above o.
func (b Box) Above(o Box) bool { return greater(b.Low.Y, o.High.Y) }

// NotBelow reports whether b does not extend below o.
func (b Box) NotBelow(o Box) bool { return atLeast(b.Low.Y, o.Low.Y) }

// BelowOrTouching reports whether b is below o, or they have a border in common.
func (b Box) BelowOrTouching(o Box) bool { return atMost(b.High.Y, o.Low.Y) }

// AboveOrTouching reports whether b is above o, or they have a border in common.
func (b Box) AboveOrTouching(o Box) bool { return atLeast(b.Low.Y, o.High.Y) }

// Width returns the horizontal extent of a box.
func (c *Calc) Width(b Box) float64 { return c.sub(b.High.X, b.Low.X) }

// Height returns the vertical extent of a box.
func (c *Calc) Height(b Box) float64 { return c.sub(b.High.Y, b.Low.Y) }

// BoxArea returns the area of a box.
func (c *Calc) BoxArea(b Box) float64 { return c.mul(c.Width(b), c.Height(b)) }

// BoxCenter returns the point in the middle of a box.
func (c *Calc) BoxCenter(b Box) Point {
	return Point{c.half(b.High.X, b.Low.X), c.half(b.High.Y, b.Low.Y)}
}

// BoxDistance returns how far the centers of two boxes are apart.
func (c *Calc) BoxDistance(b, o Box) float64 { return c.Distance(c.BoxCenter(b), c.BoxCenter(o)) }

// Common returns what two boxes have in common, if they overlap.
func (b Box) Common(o Box) (Box, bool) {
	if !b.Overlaps(o) {
		return Box{}, false
	}
	return Box{High: Point{lower(b.High.X, o.High.X), lower(b.High.Y, o.High.Y)},
		Low: Point{higher(b.Low.X, o.Low.X), higher(b.Low.Y, o.Low.Y)}}, true
}

// Bound returns the smallest box that contains two boxes.
func (b Box) Bound(o Box) Box {
	return Box{High: Point{higher(b.High.X, o.High.X), higher(b.High.Y, o.High.Y)},
		Low: Point{lower(b.Low.X, o.Low.X), lower(b.Low.Y, o.Low.Y)}}
}

// Diagonal returns the segment from the upper right to the lower left corner.
func (b Box) Diagonal() Segment { return Segment{b.High, b.Low} }

// Polygon returns the box as a polygon, from the lower left corner on.
func (b Box) Polygon() Polygon {
	return Polygon{b.Low, {b.Low.X, b.High.Y}, b.High, {b.High.X, b.Low.Y}}
}

// MoveBox adds or subtracts a point.
func (c *Calc) MoveBox(b Box, by Point, how Transform) Box {
	return Box{how(c, b.High, by), how(c, b.Low, by)}
}

// ScaleBox multiplies or divides by a point.
func (c *Calc) ScaleBox(b Box, by Point, how Transform) Box {
	return BoxOf(how(c, b.High, by), how(c, b.Low, by))
}

// sides returns the four sides of a box, in the order in which distances are computed.
func (b Box) sides() [4]Segment {
	left, right := Point{b.Low.X, b.High.Y}, Point{b.High.X, b.Low.Y}
	return [4]Segment{{b.Low, left}, {b.High, left}, {b.Low, right}, {b.High, right}}
}

// NearestInBox returns the point of a box that is nearest to p, and their distance.
func (c *Calc) NearestInBox(b Box, p Point) (Point, float64) {
	if b.Has(p) {
		return p, 0
	}
	var n nearest
	for _, side := range b.sides() {
		n.offer(c.NearestOnSegment(side, p))
	}
	return n.at, n.distance
}

// SegmentMeetsBox reports whether a segment has a point in a box.
func (c *Calc) SegmentMeetsBox(s Segment, b Box) bool {
	if !BoxOf(s.P, s.Q).Overlaps(b) {
		return false
	}
	if b.Has(s.P) || b.Has(s.Q) {
		return true
	}
	for _, side := range b.sides() {
		if c.SegmentsMeet(side, s) {
			return true
		}
	}
	return false
}

// NearestToSegment returns the point of a box that is nearest to a segment, and their distance. If
// the segment has a part in the box, it is the point of the segment that is nearest to the center.
func (c *Calc) NearestToSegment(b Box, s Segment) (Point, float64) {
	if !BoxOf(s.P, s.Q).Overlaps(b) {
		return c.nearestSide(b, s)
	}
	at, _ := c.NearestOnSegment(s, c.BoxCenter(b))
	if c.SegmentMeetsBox(s, b) {
		return at, 0
	}
	return c.nearestSide(b, s)
}

func (c *Calc) nearestSide(b Box, s Segment) (Point, float64) {
	var n nearest
	for _, side := range b.sides() {
		n.offer(c.NearestOfSegments(side, s))
	}
	return n.at, n.distance
}

// SegmentToBox returns the distance of a segment from a box.
func (c *Calc) SegmentToBox(s Segment, b Box) float64 {
	if c.SegmentMeetsBox(s, b) {
		return 0
	}
	_, d := c.nearestSide(b, s)
	return d
}

// LineMeetsBox reports whether a line meets a side of a box.
func (c *Calc) LineMeetsBox(l Line, b Box) bool {
	left, right := Point{b.Low.X, b.High.Y}, Point{b.High.X, b.Low.Y}
	for _, side := range [4]Segment{{b.Low, left}, {b.High, left}, {b.High, right},
		{b.Low, right}} {
		if c.SegmentMeetsLine(side, l) {
			return true
		}
	}
	return false
}
