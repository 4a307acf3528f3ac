package kv

import (
	"errors"
	"fmt"
)

// Limits bound one update. A zero field bounds nothing.
type Limits struct {
	Rows  int // that an update names
	Ops   int // writes of its batch: keys that are set or deleted
	Bytes int // of all keys and values of its batch
	Value int // of one value
}

// LeastLimits are what every engine allows: the transaction layer needs as much for one row.
var LeastLimits = Limits{Rows: 16, Ops: 64, Bytes: 32 << 10, Value: 16 << 10}

// Limited is an engine that refuses updates beyond its limits: with ErrTooLarge, whole, and
// certainly not applied. What a step reads of the rows is not limited.
type Limited interface {
	// Limits returns the same limits each time, none below LeastLimits.
	Limits() Limits
}

// LimitsOf returns the limits of an engine's updates: none for one that is not Limited.
func LimitsOf(e Engine) Limits {
	if l, ok := e.(Limited); ok {
		return l.Limits()
	}
	return Limits{}
}

// Check returns ErrTooLarge, marked as not applied, for an update of so many rows and the batch if
// it is beyond the limits.
func (l Limits) Check(rows int, b *Batch) error {
	over := func(what string, n, most int) error {
		if most == 0 || n <= most {
			return nil
		}
		return NotApplied(fmt.Errorf("%w: %d %s, of %d", ErrTooLarge, n, what, most))
	}
	value := 0
	if l.Value != 0 {
		for i := range b.ops {
			value = max(value, b.ops[i].end-b.ops[i].val)
		}
	}
	return firstOf(over("rows", rows, l.Rows), over("writes", b.Len(), l.Ops),
		over("bytes", b.Bytes(), l.Bytes), over("bytes in a value", value, l.Value))
}

// Holds reports whether an update of so many rows, writes and bytes is within the limits.
func (l Limits) Holds(rows, ops, bytes int) bool {
	return (l.Rows == 0 || rows <= l.Rows) && (l.Ops == 0 || ops <= l.Ops) &&
		(l.Bytes == 0 || bytes <= l.Bytes)
}

// Writes returns how many writes of so many bytes each an update holds, but one at least: zero when
// that is not limited.
func (l Limits) Writes(bytes int) int {
	n := l.Ops
	if l.Bytes != 0 {
		n = bounded(max(1, l.Bytes/bytes), n)
	}
	return n
}

// bounded returns the lower one of two bounds, of which zero is none.
func bounded(n, most int) int {
	if most == 0 || n != 0 && n <= most {
		return n
	}
	return most
}

// Lower returns limits that are nowhere above l or m.
func (l Limits) Lower(m Limits) Limits {
	return Limits{Rows: bounded(l.Rows, m.Rows), Ops: bounded(l.Ops, m.Ops),
		Bytes: bounded(l.Bytes, m.Bytes), Value: bounded(l.Value, m.Value)}
}

// InParts calls update with rows, or what is to be done with each, in parts of the size that the
// limits allow, and again with half of a part for which it returns ErrTooLarge: how much is written
// for a row may be known only when it was read. ErrContended cuts a part as well. The rows are of
// one group.
func InParts[T any](l Limits, rows []T, update func(part []T) error) error {
	for n := bounded(len(rows), l.Rows); len(rows) > 0; {
		n = min(n, len(rows))
		err := update(rows[:n:n])
		tooMany := errors.Is(err, ErrTooLarge) || errors.Is(err, ErrContended)
		switch {
		case n > 1 && tooMany:
			n = (n + 1) / 2 // of those that follow too: they are alike, as a rule
			continue
		case err != nil:
			return err
		}
		rows = rows[n:]
	}
	return nil
}
