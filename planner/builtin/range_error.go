package builtin

import (
	"math"

	"github.com/minidb/minidb/internal/sqlerr"
)

var intNames = map[int64]string{math.MaxInt16: "smallint", math.MaxInt32: "integer",
	math.MaxInt64: "bigint"}

// errIntRange returns the error 22003 of the integer type whose greatest value is hi.
func errIntRange(hi int64) error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "%s out of range", intNames[hi])
}

func errDivisionByZero() error { return sqlerr.New(sqlerr.DivisionByZero, "division by zero") }

func errOverflow() error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "value out of range: overflow")
}

func errUnderflow() error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "value out of range: underflow")
}

func errInvalid(format string, args ...any) *sqlerr.Error {
	return sqlerr.New(sqlerr.InvalidParameterValue, format, args...)
}

func errSubscripts(format string, args ...any) *sqlerr.Error {
	return sqlerr.New(sqlerr.ArraySubscriptError, format, args...)
}

func errInputRange() error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "input is out of range")
}
