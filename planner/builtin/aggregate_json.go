package builtin

import (
	"slices"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

var jsonAggregates = []aggDef{
	ordered("json_agg(anyelement) json", newJSONArrayAgg(jsonText)),
	ordered("jsonb_agg(anyelement) jsonb", newJSONArrayAgg(jsonBinary)),
	ordered("json_object_agg(any,any) json", newJSONObjectAgg(jsonText)),
	ordered("jsonb_object_agg(any,any) jsonb", newJSONObjectAgg(jsonBinary)),
}

// jsonArrayAgg is json_agg and jsonb_agg.
type jsonArrayAgg struct {
	w *jsonWriter
	t *types.Type
}

func newJSONArrayAgg(f jsonForm) func([]*types.Type) expr.Accumulator {
	return func(args []*types.Type) expr.Accumulator {
		return &jsonArrayAgg{w: f.writer(nil), t: args[0]}
	}
}

func (s *jsonArrayAgg) Add(rt *expr.Runtime, a []types.Datum) error {
	first := len(s.w.b) == 0
	if first {
		s.w.open('[')
	}
	s.w.next()
	if !first && !s.w.form.binary && !a[0].Null &&
		(s.t.Family == types.Array || s.t.Family == types.Record) {
		s.w.raw("\n ")
	}
	s.w.b = appendJSON(s.w.b, rt, s.t, a[0])
	return nil
}

func (s *jsonArrayAgg) Result(*expr.Runtime) (types.Datum, error) { return s.w.ended("]") }

func (s *jsonArrayAgg) Size() int { return cap(s.w.b) }

// jsonObjectAgg is json_object_agg and jsonb_object_agg.
type jsonObjectAgg struct {
	w    *jsonWriter
	k, v *types.Type
}

func newJSONObjectAgg(f jsonForm) func([]*types.Type) expr.Accumulator {
	return func(args []*types.Type) expr.Accumulator {
		return &jsonObjectAgg{w: f.writer(nil), k: args[0], v: args[1]}
	}
}

func (s *jsonObjectAgg) Add(rt *expr.Runtime, a []types.Datum) error {
	if a[0].Null {
		return errInvalid("field name must not be null")
	}
	if len(s.w.b) == 0 {
		s.w.open('{')
		s.w.raw(" ")
	}
	s.w.key(textOf(rt, s.k, a[0]))
	s.w.b = appendJSON(s.w.b, rt, s.v, a[1])
	return nil
}

func (s *jsonObjectAgg) Result(*expr.Runtime) (types.Datum, error) { return s.w.ended(" }") }

// ended returns what was written so far with an end; NULL if nothing was. More may follow: the
// frame of a window grows.
func (w *jsonWriter) ended(end string) (types.Datum, error) {
	if len(w.b) == 0 {
		return types.Null, nil
	}
	done := *w
	done.b = append(slices.Clone(w.b), end...)
	return done.datum()
}

func (s *jsonObjectAgg) Size() int { return cap(s.w.b) }
