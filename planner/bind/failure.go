package bind

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// failure carries the first error of a statement through the binder, as a panic. catch receives it
// at the package's doors.
type failure struct{ err error }

// failAt returns the failure of an error at a position of the statement.
func failAt[P int | ast.Pos](pos P, code, format string, args ...any) failure {
	return failure{sqlerr.New(code, format, args...).At(int(pos))}
}

// unsupported returns the failure of a construct that is not supported.
func unsupported[P int | ast.Pos](pos P, construct string) failure {
	return failure{sqlerr.Unsupported(int(pos), construct)}
}

// check ends the binding if err is not nil.
func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// must returns v, or ends the binding if err is not nil.
func must[T any](v T, err error) T {
	check(err)
	return v
}

// catch is deferred by the exported functions. It turns a failure into their error; any other panic
// goes on.
func catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case failure:
		*err = r.err
	default:
		panic(r)
	}
}

// amend is deferred around a part whose errors need a change, such as the loss of a position that
// refers to another text.
func amend(change func(error) error) {
	switch r := recover().(type) {
	case nil:
	case failure:
		panic(failure{change(r.err)})
	default:
		panic(r)
	}
}
