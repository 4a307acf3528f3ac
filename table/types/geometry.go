package types

import (
	"encoding/binary"
	"math"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/geometry"
)

// A value of a geometric type is held as what its send function writes: floats of eight bytes, in a
// path behind a byte that is 1 if it is closed and the number of points in four bytes, in a polygon
// behind the number of points. The shapes that it is computed with are those of package geometry.
// All NaNs have the same bytes.

const (
	coordinateLen = 8
	pointLen      = 2 * coordinateLen
	countLen      = 4 // of the number of points of a path or a polygon
)

// PointsMax is how many points a value may have: PostgreSQL's limit for a value of 1 GiB.
const PointsMax = 1<<30/pointLen - 2

// Shape is what a value of a geometric type is in Go.
type Shape interface {
	geometry.Point | geometry.Segment | geometry.Line | geometry.Box | geometry.Path |
		geometry.Polygon | geometry.Circle
}

// ShapeOf returns the shape of a datum. Requires: the datum is of the type that T is the shape of.
func ShapeOf[T Shape](d Datum) (v T) {
	s := d.S
	switch p := any(&v).(type) {
	case *geometry.Point:
		*p = pointAt(s, 0)
	case *geometry.Segment:
		*p = geometry.Segment{P: pointAt(s, 0), Q: pointAt(s, pointLen)}
	case *geometry.Line:
		*p = geometry.Line{A: coordinateAt(s, 0), B: coordinateAt(s, coordinateLen),
			C: coordinateAt(s, 2*coordinateLen)}
	case *geometry.Box:
		*p = geometry.Box{High: pointAt(s, 0), Low: pointAt(s, pointLen)}
	case *geometry.Path:
		*p = geometry.Path{Closed: s[0] != 0, Points: pointsOf(s[1+countLen:])}
	case *geometry.Polygon:
		*p = pointsOf(s[countLen:])
	case *geometry.Circle:
		*p = geometry.Circle{Center: pointAt(s, 0), Radius: coordinateAt(s, pointLen)}
	}
	return v
}

func coordinateAt(s string, at int) float64 {
	var b [coordinateLen]byte
	copy(b[:], s[at:])
	return math.Float64frombits(binary.BigEndian.Uint64(b[:]))
}

func pointAt(s string, at int) geometry.Point {
	return geometry.Point{X: coordinateAt(s, at), Y: coordinateAt(s, at+coordinateLen)}
}

func pointsOf(s string) []geometry.Point {
	out := make([]geometry.Point, len(s)/pointLen)
	for i := range out {
		out[i] = pointAt(s, i*pointLen)
	}
	return out
}

// PointCount returns the number of points of a path or a polygon.
func PointCount(t *Type, d Datum) int64 {
	head := countLen
	if t.Base().OID == OIDPath {
		head++
	}
	return int64(len(d.S)-head) / pointLen
}

// ClosedPath reports whether a path is closed; WithClosed returns the path closed or open.
func ClosedPath(d Datum) bool { return d.S[0] != 0 }

// WithClosed returns a path with the same points that is closed or open.
func WithClosed(d Datum, closed bool) Datum {
	return Datum{S: string(closedByte(closed)) + d.S[1:]}
}

func closedByte(closed bool) []byte {
	if closed {
		return []byte{1}
	}
	return []byte{0}
}

// ShapeDatum returns the datum of a shape.
func ShapeDatum[T Shape](v T) Datum {
	var b []byte
	switch p := any(&v).(type) {
	case *geometry.Point:
		b = appendPoints(nil, *p)
	case *geometry.Segment:
		b = appendPoints(nil, p.P, p.Q)
	case *geometry.Line:
		b = appendCoordinates(nil, p.A, p.B, p.C)
	case *geometry.Box:
		b = appendPoints(nil, p.High, p.Low)
	case *geometry.Path:
		b = make([]byte, 0, 1+countLen+pointLen*len(p.Points))
		b = append(b, closedByte(p.Closed)...)
		b = binary.BigEndian.AppendUint32(b, uint32(len(p.Points)))
		b = appendPoints(b, p.Points...)
	case *geometry.Polygon:
		b = make([]byte, 0, countLen+pointLen*len(*p))
		b = binary.BigEndian.AppendUint32(b, uint32(len(*p)))
		b = appendPoints(b, *p...)
	case *geometry.Circle:
		b = appendCoordinates(appendPoints(nil, p.Center), p.Radius)
	}
	return Datum{S: string(b)}
}

func appendCoordinates(dst []byte, coordinates ...float64) []byte {
	for _, x := range coordinates {
		bits := math.Float64bits(x)
		if math.IsNaN(x) {
			bits = 0x7ff8 << 48
		}
		dst = binary.BigEndian.AppendUint64(dst, bits)
	}
	return dst
}

func appendPoints(dst []byte, points ...geometry.Point) []byte {
	for _, p := range points {
		dst = appendCoordinates(dst, p.X, p.Y)
	}
	return dst
}

// parseShapeBinary reads what the type's send function wrote. The size of types that have one is
// checked already.
func parseShapeBinary(t *Type, b []byte) (Datum, error) {
	d := Datum{S: string(b)}
	invalid := func(format string, args ...any) (Datum, error) {
		return Datum{}, sqlerr.New(sqlerr.InvalidBinaryRepresentation, format, args...)
	}
	switch t.OID {
	case OIDPoint:
		return ShapeDatum(ShapeOf[geometry.Point](d)), nil
	case OIDLseg:
		return ShapeDatum(ShapeOf[geometry.Segment](d)), nil
	case OIDBox:
		return ShapeDatum(ShapeOf[geometry.Box](d).Ordered()), nil
	case OIDLine:
		l := ShapeOf[geometry.Line](d)
		if l.NoLine() {
			return invalid("%s", noLine)
		}
		return ShapeDatum(l), nil
	case OIDCircle:
		k := ShapeOf[geometry.Circle](d)
		if k.Radius < 0 {
			return invalid("invalid radius in external \"circle\" value")
		}
		return ShapeDatum(k), nil
	}
	head := countLen
	if t.OID == OIDPath {
		head++
	}
	if len(b) < head {
		return Datum{}, errShortMessage()
	}
	n := int32(binary.BigEndian.Uint32(b[head-countLen:]))
	if n <= 0 || n >= (math.MaxInt32-32)/pointLen {
		return invalid("invalid number of points in external \"%s\" value", t.Name)
	}
	switch want := head + int(n)*pointLen; {
	case len(b) < want:
		return Datum{}, errShortMessage()
	case len(b) > want:
		return Datum{}, errBinaryFormat()
	}
	if t.OID == OIDPath {
		return ShapeDatum(ShapeOf[geometry.Path](d)), nil
	}
	return ShapeDatum(ShapeOf[geometry.Polygon](d)), nil
}

// fromShape is a cast between geometric types.
func fromShape(d Datum, from, to *Type, f *Format) (Datum, error) {
	cast := shapeCasts[[2]OID{from.OID, to.OID}]
	if cast == nil {
		return Datum{}, ErrCannotCast(from, to)
	}
	if from.OID == OIDCircle && to.OID == OIDPolygon {
		if err := ShapeOf[geometry.Circle](d).CheckCorners(DefaultCorners); err != nil {
			return Datum{}, err
		}
	}
	c := geometry.Calc{Work: f.Work}
	out := cast(&c, d)
	if err := c.Err(); err != nil {
		return Datum{}, err
	}
	return out, nil
}

var shapeCasts = map[[2]OID]func(*geometry.Calc, Datum) Datum{
	{OIDPoint, OIDBox}: shapeCast(func(_ *geometry.Calc, p geometry.Point) geometry.Box {
		return geometry.Box{High: p, Low: p}
	}),
	{OIDLseg, OIDPoint}:     shapeCast((*geometry.Calc).SegmentCenter),
	{OIDPath, OIDPolygon}:   shapeCast((*geometry.Calc).PathPolygon),
	{OIDBox, OIDPoint}:      shapeCast((*geometry.Calc).BoxCenter),
	{OIDBox, OIDLseg}:       shapeCast(exactly(geometry.Box.Diagonal)),
	{OIDBox, OIDPolygon}:    shapeCast(exactly(geometry.Box.Polygon)),
	{OIDBox, OIDCircle}:     shapeCast((*geometry.Calc).BoxCircle),
	{OIDPolygon, OIDPoint}:  shapeCast((*geometry.Calc).PolygonCenter),
	{OIDPolygon, OIDPath}:   shapeCast(exactly(geometry.Polygon.Path)),
	{OIDPolygon, OIDBox}:    shapeCast(exactly(geometry.Polygon.Box)),
	{OIDPolygon, OIDCircle}: shapeCast((*geometry.Calc).PolygonCircle),
	{OIDCircle, OIDPoint}: shapeCast(exactly(func(k geometry.Circle) geometry.Point {
		return k.Center
	})),
	{OIDCircle, OIDBox}: shapeCast((*geometry.Calc).CircleBox),
	{OIDCircle, OIDPolygon}: shapeCast(func(c *geometry.Calc, k geometry.Circle) geometry.Polygon {
		return c.CirclePolygon(k, DefaultCorners)
	}),
}

// DefaultCorners is how many points a polygon has that a circle is cast to.
const DefaultCorners = 12

func shapeCast[F, T Shape](cast func(*geometry.Calc, F) T) func(*geometry.Calc, Datum) Datum {
	return func(c *geometry.Calc, d Datum) Datum { return ShapeDatum(cast(c, ShapeOf[F](d))) }
}

// exactly makes a cast of a function that cannot fail.
func exactly[F, T Shape](cast func(F) T) func(*geometry.Calc, F) T {
	return func(_ *geometry.Calc, v F) T { return cast(v) }
}

// Parts returns the type and the number of the parts of a geometric value that subscripts select,
// from 0 on: the coordinates of a point, the numbers of a line, the ends of a segment, the corners
// of a box. It returns nil for any other type.
func (t *Type) Parts() (part *Type, n int) {
	switch t.Base().OID {
	case OIDPoint:
		return TFloat8, 2
	case OIDLine:
		return TFloat8, 3
	case OIDLseg, OIDBox:
		return TPoint, 2
	}
	return nil, 0
}

// PartAt returns a part of a value. Requires: 0 <= i < n of t.Parts.
func PartAt(t *Type, d Datum, i int) Datum {
	if part, _ := t.Parts(); part.OID == OIDFloat8 {
		return Datum{F: coordinateAt(d.S, i*coordinateLen)}
	}
	return Datum{S: d.S[i*pointLen : (i+1)*pointLen]}
}

// WithPart returns a value with another part in its place, as it is: the corners of a box may be
// exchanged then.
func WithPart(t *Type, d Datum, i int, part Datum) Datum {
	value := part.S
	if of, _ := t.Parts(); of.OID == OIDFloat8 {
		value = string(appendCoordinates(nil, part.F))
	}
	at := i * len(value)
	return Datum{S: d.S[:at] + value + d.S[at+len(value):]}
}
