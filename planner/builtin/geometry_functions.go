package builtin

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/geometry"
	"github.com/minidb/minidb/table/types"
)

var geometryFunctions = []def{
	f("area(box) float8", measure1((*calc).BoxArea)),
	f("area(circle) float8", measure1((*calc).CircleArea)),
	f("area(path) float8", computed(func(c *calc, a []types.Datum) types.Datum {
		area, ok := c.PathArea(types.ShapeOf[geometry.Path](a[0]))
		if !ok {
			return types.Null
		}
		return types.NewFloat(area)
	})),
	f("width(box) float8", measure1((*calc).Width)),
	f("height(box) float8", measure1((*calc).Height)),
	f("diameter(circle) float8", measure1((*calc).Diameter)),
	f("radius(circle) float8", measure1(func(_ *calc, k geometry.Circle) float64 {
		return k.Radius
	})),
	f("length(lseg) float8", measure1((*calc).SegmentLength)),
	f("length(path) float8", measure1((*calc).PathLength)),
	f("slope(point,point) float8", measure2((*calc).Slope)),
	f("npoints(path|polygon) int4", pointCount),
	f("center(box) point", shape1((*calc).BoxCenter)),
	f("center(circle) point", plainShape1(circleCenter)),
	f("diagonal(box) lseg", plainShape1(geometry.Box.Diagonal)),
	f("bound_box(box,box) box", plainShape2(geometry.Box.Bound)),
	f("isclosed(path) bool", pathIs(true)), f("isopen(path) bool", pathIs(false)),
	f("pclose(path) path", pathWith(true)), f("popen(path) path", pathWith(false)),
	f("isvertical(point,point) bool", plainTest2(geometry.Point.Vertical)),
	f("isvertical(lseg) bool", plainTest1(geometry.Segment.Vertical)),
	f("isvertical(line) bool", plainTest1(geometry.Line.Vertical)),
	f("ishorizontal(point,point) bool", plainTest2(geometry.Point.Horizontal)),
	f("ishorizontal(lseg) bool", plainTest1(geometry.Segment.Horizontal)),
	f("ishorizontal(line) bool", plainTest1(geometry.Line.Horizontal)),
	f("isparallel(lseg,lseg) bool", test2((*calc).ParallelSegments)),
	f("isparallel(line,line) bool", test2((*calc).Parallel)),
	f("isperp(lseg,lseg) bool", test2((*calc).PerpendicularSegments)),
	f("isperp(line,line) bool", test2((*calc).Perpendicular)),

	// Constructors. Those of one shape are casts.
	f("point(float8,float8) point", func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		return types.ShapeDatum(geometry.Point{X: a[0].F, Y: a[1].F}), nil
	}),
	f("point(lseg|box|polygon|circle) point", castShape(types.TPoint)),
	f("lseg(point,point) lseg", plainShape2(func(p, q geometry.Point) geometry.Segment {
		return geometry.Segment{P: p, Q: q}
	})),
	f("lseg(box) lseg", castShape(types.TLseg)),
	f("line(point,point) line", shape2((*calc).LineThrough)),
	f("box(point,point) box", plainShape2(geometry.BoxOf)),
	f("box(point|polygon|circle) box", castShape(types.TBox)),
	f("path(polygon) path", castShape(types.TPath)),
	f("polygon(box|path|circle) polygon", castShape(types.TPolygon)),
	f("polygon(int4,circle) polygon", circlePolygon),
	f("circle(point,float8) circle", func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		return types.ShapeDatum(geometry.Circle{Center: types.ShapeOf[geometry.Point](a[0]),
			Radius: a[1].F}), nil
	}),
	f("circle(box|polygon) circle", castShape(types.TCircle)),
}

// castShape makes a function of a cast.
func castShape(to *types.Type) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		if _, err := shapes(rt, a); err != nil {
			return types.Null, err
		}
		return types.Cast(a[0], rt.ArgTypes[0], to, true, &rt.Format)
	}
}

func pathIs(closed bool) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		return types.NewBool(types.ClosedPath(a[0]) == closed), nil
	}
}

func pathWith(closed bool) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		if err := askLarge(rt, len(a[0].S)); err != nil {
			return types.Null, err
		}
		return types.WithClosed(a[0], closed), nil
	}
}

// circlePolygon is the regular polygon of a number of points on a circle.
func circlePolygon(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	n, k := a[0].I, types.ShapeOf[geometry.Circle](a[1])
	if err := k.CheckCorners(n); err != nil {
		return types.Null, err
	}
	if n > types.PointsMax {
		return types.Null, sqlerr.New(sqlerr.ProgramLimitExceeded, "too many points requested")
	}
	c, err := shapes(rt, a)
	if err == nil {
		err = rt.Grow(2 * n * pointSize)
	}
	if err != nil {
		return types.Null, err
	}
	p := c.CirclePolygon(k, int(n))
	if err := c.Err(); err != nil {
		return types.Null, err
	}
	return types.ShapeDatum(p), nil
}

// pointSize is what a point takes, as it is and as it is stored.
const pointSize = 16
