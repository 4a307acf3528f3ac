// Package sqlerr is the one error type that table, planner and sql return to clients: a SQLSTATE
// with PostgreSQL's message fields. kv and txn do not import it.
package sqlerr

import (
	"errors"
	"fmt"
)

// Error is what a client sees. Code is chosen where the fact is known.
type Error struct {
	Code       string // SQLSTATE, five characters
	Message    string // short, lower case, names in double quotes
	Detail     string
	Hint       string
	Context    string // where in the data it went wrong, the innermost place first, one a line
	Schema     string
	Table      string
	Column     string
	DataType   string
	Constraint string
	// Position is a byte offset into the statement, counted from 1; 0: none; [Nowhere]: none, and
	// none is to be added.
	Position int
	// InternalQuery is the statement of a program in which the error was found, and
	// InternalPosition a position in it; then Position is 0.
	InternalQuery    string
	InternalPosition int
	// Cause, when set, is what errors.Is and errors.As also look at.
	Cause error
}

// Nowhere is the position of an error that PostgreSQL reports without one, though it is about a
// part of the statement.
const Nowhere = -1

// Error returns the message alone, as PostgreSQL drivers do with their own prefix.
func (e *Error) Error() string { return e.Message }

// SQLState is the five character code; pgx's errors have the same method.
func (e *Error) SQLState() string { return e.Code }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// New returns an error with a formatted message.
func New(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// At sets the position (a byte offset counted from 1) unless one is known already.
func (e *Error) At(pos int) *Error {
	if e.Position == 0 {
		e.Position = pos
	}
	return e
}

// WithDetail sets the detail.
func (e *Error) WithDetail(format string, args ...any) *Error {
	e.Detail = fmt.Sprintf(format, args...)
	return e
}

// WithHint sets the hint.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// WithContext sets the context.
func (e *Error) WithContext(format string, args ...any) *Error {
	e.Context = fmt.Sprintf(format, args...)
	return e
}

// Unsupported is 0A000: the construct is known, and minidb does not do it.
func Unsupported(pos int, construct string) *Error {
	return New(FeatureNotSupported, "%s is not supported", construct).At(pos)
}

// Within returns err with an outer place behind the places that it names already. The error itself
// stays as it is, since others may hold it. One that is no Error is returned unchanged.
func Within(err error, format string, args ...any) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	placed := *e
	if error(e) != err {
		placed.Cause = err
	}
	if placed.Context != "" {
		placed.Context += "\n"
	}
	placed.Context += fmt.Sprintf(format, args...)
	return &placed
}
