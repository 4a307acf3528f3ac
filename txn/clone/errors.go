package clone

import (
	"errors"
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// ErrNotEmpty is returned for a target that holds a database, or anything else.
var ErrNotEmpty = errors.New("the target is not empty: a copy goes into an empty directory, or " +
	"under a path of the store that is not in use")

// ErrOtherSource is returned for a target with an unfinished copy of another store.
var ErrOtherSource = errors.New("the target has an unfinished copy of another store: run that " +
	"copy again, or give --anew to empty the target and begin")

// ErrDiffers is returned when the verification has found differences. The target stays unfinished.
var ErrDiffers = errors.New("the copy differs from its source, and the target is not opened to " +
	"use: find out what has written there, and copy again with --anew")

// LostError is returned when the source has not kept the state that is copied.
type LostError struct{ At tso.Timestamp }

func (e *LostError) Error() string {
	return fmt.Sprintf("the source has not kept its state as of %s, for the copy was interrupted "+
		"for longer than --hold: begin anew with --anew", e.At.Moment())
}

// Difference is a span of user keys in which source and target differ.
type Difference struct {
	// Span begins with the first key that differs, and ends behind the last one.
	Span kv.Span
	// What says how, for people.
	What string
}
