package builtin

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/geometry"
	"github.com/minidb/minidb/table/types"
)

// calc is a computation of package geometry, which ends with the statement.
type calc = geometry.Calc

// shapes starts a computation with a function's arguments. It asks the account for the points of
// paths and polygons, which it may read and return.
func shapes(rt *expr.Runtime, a []types.Datum) (*calc, error) {
	c := &calc{Work: rt}
	size := 0
	for i := range a {
		size += len(a[i].S)
	}
	return c, askLarge(rt, 2*size)
}

// computed makes a function of a computation that returns a datum.
func computed(of func(c *calc, a []types.Datum) types.Datum) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		c, err := shapes(rt, a)
		if err != nil {
			return types.Null, err
		}
		d := of(c, a)
		if err := c.Err(); err != nil {
			return types.Null, err
		}
		return d, nil
	}
}

// The functions below make SQL functions of computations: shape… of one that returns a shape,
// measure… a number, test… a truth. The digit is the number of arguments.

func shape1[A, R types.Shape](op func(*calc, A) R) scalar {
	return computed(func(c *calc, a []types.Datum) types.Datum {
		return types.ShapeDatum(op(c, types.ShapeOf[A](a[0])))
	})
}

func shape2[A, B, R types.Shape](op func(*calc, A, B) R) scalar {
	return computed(func(c *calc, a []types.Datum) types.Datum {
		return types.ShapeDatum(op(c, types.ShapeOf[A](a[0]), types.ShapeOf[B](a[1])))
	})
}

// partial2 is shape2 for a computation that may have no result, which is NULL.
func partial2[A, B, R types.Shape](op func(*calc, A, B) (R, bool)) scalar {
	return computed(func(c *calc, a []types.Datum) types.Datum {
		r, ok := op(c, types.ShapeOf[A](a[0]), types.ShapeOf[B](a[1]))
		if !ok {
			return types.Null
		}
		return types.ShapeDatum(r)
	})
}

func measure1[A types.Shape](op func(*calc, A) float64) scalar {
	return computed(func(c *calc, a []types.Datum) types.Datum {
		return types.NewFloat(op(c, types.ShapeOf[A](a[0])))
	})
}

func measure2[A, B types.Shape](op func(*calc, A, B) float64) scalar {
	return computed(func(c *calc, a []types.Datum) types.Datum {
		return types.NewFloat(op(c, types.ShapeOf[A](a[0]), types.ShapeOf[B](a[1])))
	})
}

// partialMeasure2 is measure2 for a computation that may have no result, which is NULL.
func partialMeasure2[A, B types.Shape](op func(*calc, A, B) (float64, bool)) scalar {
	return computed(func(c *calc, a []types.Datum) types.Datum {
		r, ok := op(c, types.ShapeOf[A](a[0]), types.ShapeOf[B](a[1]))
		if !ok {
			return types.Null
		}
		return types.NewFloat(r)
	})
}

func test2[A, B types.Shape](op func(*calc, A, B) bool) scalar {
	return computed(func(c *calc, a []types.Datum) types.Datum {
		return types.NewBool(op(c, types.ShapeOf[A](a[0]), types.ShapeOf[B](a[1])))
	})
}

// plainTest1 and plainTest2 are tests that no number can make fail.
func plainTest1[A types.Shape](op func(A) bool) scalar {
	return computed(func(_ *calc, a []types.Datum) types.Datum {
		return types.NewBool(op(types.ShapeOf[A](a[0])))
	})
}

func plainTest2[A, B types.Shape](op func(A, B) bool) scalar {
	return test2(func(_ *calc, x A, y B) bool { return op(x, y) })
}

// plainShape1 and plainShape2 return shapes, and no number can make them fail.
func plainShape1[A, R types.Shape](op func(A) R) scalar {
	return shape1(func(_ *calc, x A) R { return op(x) })
}

func plainShape2[A, B, R types.Shape](op func(A, B) R) scalar {
	return shape2(func(_ *calc, x A, y B) R { return op(x, y) })
}

// exchanged makes op(y, x) of op(x, y).
func exchanged[A, B, R any](op func(*calc, A, B) R) func(*calc, B, A) R {
	return func(c *calc, y B, x A) R { return op(c, x, y) }
}

// distanceOf returns the distance of a computation that returns the nearest point as well.
func distanceOf[A, B types.Shape](
	nearest func(*calc, A, B) (geometry.Point, float64)) func(*calc, A, B) float64 {
	return func(c *calc, x A, y B) float64 {
		_, d := nearest(c, x, y)
		return d
	}
}

// pointOf returns the nearest point; none if the distance is not a number.
func pointOf[A, B types.Shape](
	nearest func(*calc, A, B) (geometry.Point, float64)) func(*calc, A, B) (geometry.Point, bool) {
	return func(c *calc, x A, y B) (geometry.Point, bool) {
		p, d := nearest(c, x, y)
		return p, d == d
	}
}

// exchangedPoint is exchanged for a computation of a nearest point.
func exchangedPoint[A, B types.Shape](nearest func(*calc, A, B) (geometry.Point, float64)) func(
	*calc, B, A) (geometry.Point, float64) {
	return func(c *calc, y B, x A) (geometry.Point, float64) { return nearest(c, x, y) }
}

// measured makes an operator that compares two measures.
func measured[A types.Shape](measure func(*calc, A) float64, as geometry.Comparison) scalar {
	return test2(func(c *calc, x, y A) bool { return as(measure(c, x), measure(c, y)) })
}

// measuredOperators are the comparisons of a type by a measure. Named are those that it has.
func measuredOperators[A types.Shape](of string, measure func(*calc, A) float64,
	named ...string) (out []def) {
	comparisons := map[string]geometry.Comparison{"=": geometry.Equal, "<>": geometry.Unequal,
		"<": geometry.Less, "<=": geometry.AtMost, ">": geometry.Greater, ">=": geometry.AtLeast}
	for _, name := range named {
		out = append(out, f(name+"("+of+","+of+") bool", measured(measure, comparisons[name])))
	}
	return out
}

// moved makes the four operators of a type with a point.
func moved[A types.Shape](of string, move, scale func(c *calc, x A, by geometry.Point,
	how geometry.Transform) A) (out []def) {
	for _, o := range []struct {
		name string
		by   func(c *calc, x A, by geometry.Point, how geometry.Transform) A
		how  geometry.Transform
	}{{"+", move, (*calc).Add}, {"-", move, (*calc).Subtract}, {"*", scale, (*calc).Multiply},
		{"/", scale, (*calc).Divide}} {
		out = append(out, f(o.name+"("+of+",point) "+of, shape2(
			func(c *calc, x A, by geometry.Point) A { return o.by(c, x, by, o.how) })))
	}
	return out
}
