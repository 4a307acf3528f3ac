package builtin

import (
	"cmp"
	"slices"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/geometry"
	"github.com/minidb/minidb/table/types"
)

func geometryOperators() []def {
	return slices.Concat(pointOperators(), segmentOperators(), lineOperators(), boxOperators(),
		pathOperators(), polygonOperators(), circleOperators(), nearestOperators())
}

func pointOperators() []def {
	return []def{
		f("+(point,point) point", shape2((*calc).Add)),
		f("-(point,point) point", shape2((*calc).Subtract)),
		f("*(point,point) point", shape2((*calc).Multiply)),
		f("/(point,point) point", shape2((*calc).Divide)),
		f("~=(point,point) bool", plainTest2(geometry.Point.Same)),
		f("<>(point,point) bool", plainTest2(func(p, q geometry.Point) bool {
			return !p.Same(q)
		})),
		f("<<(point,point) bool", plainTest2(geometry.Point.LeftOf)),
		f(">>(point,point) bool", plainTest2(geometry.Point.RightOf)),
		f("<^(point,point) bool", plainTest2(geometry.Point.Below)),
		f("<<|(point,point) bool", plainTest2(geometry.Point.Below)),
		f(">^(point,point) bool", plainTest2(geometry.Point.Above)),
		f("|>>(point,point) bool", plainTest2(geometry.Point.Above)),
		f("?-(point,point) bool", plainTest2(geometry.Point.Horizontal)),
		f("?|(point,point) bool", plainTest2(geometry.Point.Vertical)),
		f("<->(point,point) float8", measure2((*calc).Distance)),
		f("<@(point,line) bool", test2((*calc).OnLine)),
		f("<@(point,lseg) bool", test2((*calc).OnSegment)),
		f("<@(point,path) bool", test2((*calc).OnPath)),
		f("<@(point,polygon) bool", test2((*calc).InPolygon)),
		f("<@(point,circle) bool", test2((*calc).InCircle)),
		f("<@(point,box) bool", plainTest2(func(p geometry.Point, b geometry.Box) bool {
			return b.Has(p)
		})),
	}
}

func segmentOperators() []def {
	return append([]def{
		f("=(lseg,lseg) bool", plainTest2(geometry.Segment.Same)),
		f("<>(lseg,lseg) bool", plainTest2(geometry.Segment.Differs)),
		f("@-@(lseg) float8", measure1((*calc).SegmentLength)),
		f("@@(lseg) point", shape1((*calc).SegmentCenter)),
		f("#(lseg,lseg) point", partial2((*calc).SegmentIntersection)),
		f("?#(lseg,lseg) bool", test2((*calc).SegmentsMeet)),
		f("?#(lseg,line) bool", test2((*calc).SegmentMeetsLine)),
		f("?#(lseg,box) bool", test2((*calc).SegmentMeetsBox)),
		f("?-(lseg) bool", plainTest1(geometry.Segment.Horizontal)),
		f("?|(lseg) bool", plainTest1(geometry.Segment.Vertical)),
		f("?-|(lseg,lseg) bool", test2((*calc).PerpendicularSegments)),
		f("?||(lseg,lseg) bool", test2((*calc).ParallelSegments)),
		f("<@(lseg,line) bool", test2((*calc).SegmentOnLine)),
		f("<@(lseg,box) bool", plainTest2(func(s geometry.Segment, b geometry.Box) bool {
			return b.HasSegment(s)
		})),
	}, measuredOperators("lseg", (*calc).SegmentLength, "<", "<=", ">", ">=")...)
}

func lineOperators() []def {
	return []def{
		f("=(line,line) bool", test2((*calc).SameLine)),
		f("#(line,line) point", partial2((*calc).Intersection)),
		f("?#(line,line) bool", test2((*calc).Intersect)),
		f("?#(line,box) bool", test2((*calc).LineMeetsBox)),
		f("?-(line) bool", plainTest1(geometry.Line.Horizontal)),
		f("?|(line) bool", plainTest1(geometry.Line.Vertical)),
		f("?-|(line,line) bool", test2((*calc).Perpendicular)),
		f("?||(line,line) bool", test2((*calc).Parallel)),
		f("<->(line,line) float8", measure2((*calc).LineDistance)),
	}
}

func boxOperators() []def {
	box := geometry.Box.Overlaps
	return slices.Concat([]def{
		f("~=(box,box) bool", plainTest2(geometry.Box.Same)),
		f("&&(box,box) bool", plainTest2(box)), f("?#(box,box) bool", plainTest2(box)),
		f("@>(box,box) bool", plainTest2(geometry.Box.Contains)),
		f("<@(box,box) bool", plainTest2(geometry.Box.Within)),
		f("@>(box,point) bool", plainTest2(geometry.Box.Has)),
		f("<<(box,box) bool", plainTest2(geometry.Box.LeftOf)),
		f("&<(box,box) bool", plainTest2(geometry.Box.NotRightOf)),
		f(">>(box,box) bool", plainTest2(geometry.Box.RightOf)),
		f("&>(box,box) bool", plainTest2(geometry.Box.NotLeftOf)),
		f("<<|(box,box) bool", plainTest2(geometry.Box.Below)),
		f("&<|(box,box) bool", plainTest2(geometry.Box.NotAbove)),
		f("|>>(box,box) bool", plainTest2(geometry.Box.Above)),
		f("|&>(box,box) bool", plainTest2(geometry.Box.NotBelow)),
		f("<^(box,box) bool", plainTest2(geometry.Box.BelowOrTouching)),
		f(">^(box,box) bool", plainTest2(geometry.Box.AboveOrTouching)),
		f("@@(box) point", shape1((*calc).BoxCenter)),
		f("#(box,box) box", partial2(func(_ *calc, b, o geometry.Box) (geometry.Box, bool) {
			return b.Common(o)
		})),
		f("<->(box,box) float8", measure2((*calc).BoxDistance)),
	},
		measuredOperators("box", (*calc).BoxArea, "=", "<", "<=", ">", ">="),
		moved("box", (*calc).MoveBox, (*calc).ScaleBox))
}

func pathOperators() []def {
	out := []def{
		f("+(path,path) path", partial2(func(_ *calc, p, q geometry.Path) (geometry.Path, bool) {
			return p.Join(q)
		})),
		f("@-@(path) float8", measure1((*calc).PathLength)),
		f("#(path) int4", pointCount),
		f("?#(path,path) bool", test2((*calc).PathsMeet)),
		f("<->(path,path) float8", partialMeasure2((*calc).PathDistance)),
		f("@>(path,point) bool", test2(exchanged((*calc).OnPath))),
	}
	for op, name := range comparisonNames {
		if name == "<>" {
			continue
		}
		out = append(out, f(name+"(path,path) bool",
			func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
				p, q := types.PointCount(types.TPath, a[0]), types.PointCount(types.TPath, a[1])
				return types.NewBool(holds(op, cmp.Compare(p, q))), nil
			}))
	}
	return append(out, moved("path", (*calc).TransformPath, (*calc).TransformPath)...)
}

// pointCount is the number of points of a path or a polygon.
func pointCount(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	return types.NewInt(types.PointCount(rt.ArgTypes[0], a[0])), nil
}

func polygonOperators() []def {
	return []def{
		f("~=(polygon,polygon) bool", test2((*calc).SamePolygon)),
		f("&&(polygon,polygon) bool", test2((*calc).PolygonsOverlap)),
		f("@>(polygon,polygon) bool", test2((*calc).PolygonContains)),
		f("<@(polygon,polygon) bool", test2(exchanged((*calc).PolygonContains))),
		f("@>(polygon,point) bool", test2(exchanged((*calc).InPolygon))),
		f("<<(polygon,polygon) bool", plainTest2(geometry.Polygon.LeftOf)),
		f("&<(polygon,polygon) bool", plainTest2(geometry.Polygon.NotRightOf)),
		f(">>(polygon,polygon) bool", plainTest2(geometry.Polygon.RightOf)),
		f("&>(polygon,polygon) bool", plainTest2(geometry.Polygon.NotLeftOf)),
		f("<<|(polygon,polygon) bool", plainTest2(geometry.Polygon.Below)),
		f("&<|(polygon,polygon) bool", plainTest2(geometry.Polygon.NotAbove)),
		f("|>>(polygon,polygon) bool", plainTest2(geometry.Polygon.Above)),
		f("|&>(polygon,polygon) bool", plainTest2(geometry.Polygon.NotBelow)),
		f("#(polygon) int4", pointCount),
		f("@@(polygon) point", shape1((*calc).PolygonCenter)),
		f("<->(polygon,polygon) float8", partialMeasure2((*calc).PolygonDistance)),
	}
}

func circleOperators() []def {
	return slices.Concat([]def{
		f("~=(circle,circle) bool", plainTest2(geometry.Circle.Same)),
		f("&&(circle,circle) bool", test2((*calc).CirclesOverlap)),
		f("@>(circle,circle) bool", test2((*calc).CircleContains)),
		f("<@(circle,circle) bool", test2((*calc).CircleWithin)),
		f("@>(circle,point) bool", test2(exchanged((*calc).InCircle))),
		f("<<(circle,circle) bool", test2((*calc).CircleLeftOf)),
		f("&<(circle,circle) bool", test2((*calc).CircleNotRightOf)),
		f(">>(circle,circle) bool", test2((*calc).CircleRightOf)),
		f("&>(circle,circle) bool", test2((*calc).CircleNotLeftOf)),
		f("<<|(circle,circle) bool", test2((*calc).CircleBelow)),
		f("&<|(circle,circle) bool", test2((*calc).CircleNotAbove)),
		f("|>>(circle,circle) bool", test2((*calc).CircleAbove)),
		f("|&>(circle,circle) bool", test2((*calc).CircleNotBelow)),
		f("@@(circle) point", plainShape1(circleCenter)),
		f("<->(circle,circle) float8", measure2((*calc).CircleDistance)),
		f("+(circle,point) circle", shape2(func(c *calc, k geometry.Circle,
			p geometry.Point) geometry.Circle {
			return c.MoveCircle(k, p, (*calc).Add)
		})),
		f("-(circle,point) circle", shape2(func(c *calc, k geometry.Circle,
			p geometry.Point) geometry.Circle {
			return c.MoveCircle(k, p, (*calc).Subtract)
		})),
		f("*(circle,point) circle", shape2((*calc).Magnify)),
		f("/(circle,point) circle", shape2((*calc).Reduce)),
	}, measuredOperators("circle", (*calc).CircleArea, "=", "<>", "<", "<=", ">", ">="))
}

func circleCenter(k geometry.Circle) geometry.Point { return k.Center }

// nearestOperators are the distances of shapes of different types, and the nearest points.
func nearestOperators() []def {
	return slices.Concat(
		distances("point", "line", exchanged(distanceOf((*calc).NearestOnLine))),
		distances("point", "lseg", exchanged(distanceOf((*calc).NearestOnSegment))),
		distances("point", "box", exchanged(distanceOf((*calc).NearestInBox))),
		distances("point", "path", (*calc).DistanceToPath),
		distances("point", "polygon", (*calc).DistanceToPolygon),
		distances("point", "circle", (*calc).DistanceToCircle),
		distances("lseg", "line", distanceOf((*calc).NearestToLine)),
		distances("lseg", "box", (*calc).SegmentToBox),
		distances("circle", "polygon", (*calc).CircleToPolygon),
		[]def{
			f("<->(lseg,lseg) float8", measure2(distanceOf((*calc).NearestOfSegments))),
			f("##(point,line) point", partial2(pointOf(exchangedPoint((*calc).NearestOnLine)))),
			f("##(point,lseg) point", partial2(pointOf(exchangedPoint(
				(*calc).NearestOnSegment)))),
			f("##(point,box) point", partial2(pointOf(exchangedPoint((*calc).NearestInBox)))),
			f("##(lseg,box) point", partial2(pointOf(exchangedPoint((*calc).NearestToSegment)))),
			f("##(line,lseg) point", partial2(nearestToLine)),
			f("##(lseg,lseg) point", partial2(nearestToSegment)),
		})
}

// distances are the two operators <-> between two types.
func distances[A, B types.Shape](a, b string, distance func(*calc, A, B) float64) []def {
	return []def{
		f("<->("+a+","+b+") float8", measure2(distance)),
		f("<->("+b+","+a+") float8", measure2(exchanged(distance))),
	}
}

// nearestToLine is the point of a segment nearest to a line; none if they have one slope.
func nearestToLine(c *calc, l geometry.Line, s geometry.Segment) (geometry.Point, bool) {
	if c.HasSlopeOf(s, l) {
		return geometry.Point{}, false
	}
	return pointOf((*calc).NearestToLine)(c, s, l)
}

// nearestToSegment is the point of t nearest to s; none if they have one slope.
func nearestToSegment(c *calc, s, t geometry.Segment) (geometry.Point, bool) {
	if c.HaveOneSlope(s, t) {
		return geometry.Point{}, false
	}
	return pointOf((*calc).NearestOfSegments)(c, t, s)
}
