package builtin

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// location returns the session's time zone.
func location(rt *expr.Runtime) *time.Location {
	if rt.Location != nil {
		return rt.Location
	}
	if rt.Format.Location != nil {
		return rt.Format.Location
	}
	return time.UTC
}

// session returns the session, or the part of it that S is.
func session[S any](rt *expr.Runtime) (S, error) {
	s, ok := rt.Session.(S)
	if !ok {
		return s, sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "there is no session to ask")
	}
	return s, nil
}

// asking makes a function that needs the session.
func asking[S any](fn func(s S, rt *expr.Runtime, a []types.Datum) (types.Datum, error)) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		s, err := session[S](rt)
		if err != nil {
			return types.Null, err
		}
		return fn(s, rt, a)
	}
}

// answer makes a function without arguments from a method of the session.
func answer[S any, R goValue](of func(S) (R, error)) scalar {
	return asking(func(s S, _ *expr.Runtime, _ []types.Datum) (types.Datum, error) {
		r, err := of(s)
		return result(r), err
	})
}

// answer1 is answer for a function with one argument.
func answer1[S any, A, R goValue](of func(S, A) (R, error)) scalar {
	return asking(func(s S, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		r, err := of(s, argument[A](&a[0]))
		return result(r), err
	})
}

// intAt and textAt return argument i, or a default where the call has fewer arguments.
func intAt(a []types.Datum, i int, otherwise int64) int64 {
	if i < len(a) {
		return a[i].I
	}
	return otherwise
}

func textAt(a []types.Datum, i int, otherwise string) string {
	if i < len(a) {
		return a[i].S
	}
	return otherwise
}

// textOrNull is the result of a question about a fact that may not be there.
func textOrNull(text string, ok bool) (types.Datum, error) {
	if !ok {
		return types.Null, nil
	}
	return types.NewString(text), nil
}

// textOf returns a value's text output.
func textOf(rt *expr.Runtime, t *types.Type, d types.Datum) string {
	if t.Family == types.String {
		return padded(t, d.S)
	}
	return types.Text(t, d, &rt.Format)
}

// padded adds the padding of a char(n) to its text.
func padded(t *types.Type, s string) string {
	if t.OID != types.OIDBPChar || t.Mod < 4 {
		return s
	}
	if n := int(t.Mod) - 4 - utf8.RuneCountInString(s); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}
