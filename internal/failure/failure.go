// Package failure carries the first error of a statement out of code that builds something from a
// tree, as binding does: nearly every call may fail, and no caller can do anything about it. The
// error travels as a panic instead of through every signature:
//
//	func Statement(…) (plan *Plan, err error) {
//		defer failure.Catch(&err)
//		…
//		d := failure.Must(catalog.Relation(ctx, name))
//		panic(failure.At(name.Pos, sqlerr.UndefinedTable, "%s does not exist", name.Name))
//
// A package that uses it keeps to these rules:
//
//  1. Every exported function catches, so that no caller meets a failure.
//  2. What holds something that must be given back (an iterator, a latch, a savepoint) gives it
//     back by a deferred call, or returns errors. No failure crosses code of another package that
//     calls back: a callback that is given away catches its own.
//  3. Only a Failure is caught: every other panic, a defect, passes through.
package failure

import "github.com/minidb/minidb/internal/sqlerr"

// Failure is what Catch catches.
type Failure struct{ err error }

// Of returns the failure of an error, which must not be nil.
func Of(err error) Failure { return Failure{err} }

// At returns the failure of an error at a position of the statement; 0 is none.
func At[P ~int | ~int32](pos P, code, format string, args ...any) Failure {
	return Failure{sqlerr.New(code, format, args...).At(int(pos))}
}

// Unsupported returns the failure of a construct that is not supported.
func Unsupported[P ~int | ~int32](pos P, construct string) Failure {
	return Failure{sqlerr.Unsupported(int(pos), construct)}
}

// Check panics with the failure of err, if err is not nil.
func Check(err error) {
	if err != nil {
		panic(Failure{err})
	}
}

// Must returns v, or panics with the failure of err.
func Must[T any](v T, err error) T {
	Check(err)
	return v
}

// Catch is deferred by a function that returns errors. It makes a failure the function's error.
func Catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case Failure:
		*err = r.err
	default:
		panic(r)
	}
}

// Amend is deferred around a part whose errors need a change, such as the loss of a position that
// refers to another text.
func Amend(change func(error) error) {
	switch r := recover().(type) {
	case nil:
	case Failure:
		panic(Failure{change(r.err)})
	default:
		panic(r)
	}
}
