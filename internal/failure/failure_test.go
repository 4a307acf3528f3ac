package failure_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
)

var errLost = errors.New("the disk is gone")

func caught(f func()) (err error) {
	defer failure.Catch(&err)
	f()
	return nil
}

func TestCatchReturnsTheErrorThatWasRaised(t *testing.T) {
	require.NoError(t, caught(func() { failure.Check(nil) }))
	require.Same(t, errLost, caught(func() { failure.Must(0, errLost) }))
	err := caught(func() { panic(failure.At(7, sqlerr.SyntaxError, "no %s", "end")) })
	require.Equal(t, sqlerr.New(sqlerr.SyntaxError, "no end").At(7), err)
}

func TestAmendChangesFailuresOnly(t *testing.T) {
	amended := func(f func()) func() {
		return func() {
			defer failure.Amend(func(err error) error { return errors.Join(errLost, err) })
			f()
		}
	}
	full := errors.New("full")
	err := caught(amended(func() { failure.Check(full) }))
	require.ErrorIs(t, err, errLost)
	require.ErrorIs(t, err, full)
	require.NoError(t, caught(amended(func() {})))
	require.PanicsWithValue(t, full, amended(func() { panic(full) }))
}

// A defect is not taken for an error of the statement.
func TestCatchLetsOtherPanicsThrough(t *testing.T) {
	require.PanicsWithValue(t, errLost, func() { _ = caught(func() { panic(errLost) }) })
}
