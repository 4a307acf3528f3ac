package pebblekv

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/stretchr/testify/require"
)

// TestLatchClauses checks the two clauses of PERCOLATOR's P13 (txn's checklist) that latches hold.
func TestLatchClauses(t *testing.T) {
	t.Run("latchesAreSorted", func(t *testing.T) { require.NoError(t, latchesAreSorted()) })
	t.Run("latchesSurroundTheStep",
		func(t *testing.T) { require.NoError(t, latchesSurroundTheStep()) })
}

// latchesAreSorted: two updates of the same rows take their latches in the same order, whatever the
// order in which they name the rows; else each could wait for the other.
func latchesAreSorted() error {
	l := newLatches()
	var rows [][]byte
	for i := range 20 {
		rows = append(rows, fmt.Appendf(nil, "row %d", i))
	}
	one := l.acquire(rows, nil)
	l.release(one)
	slices.Reverse(rows)
	other := l.acquire(rows, nil)
	l.release(other)
	if !slices.Equal(one, other) {
		return fmt.Errorf("latches taken as %v and as %v", one, other)
	}
	return nil
}

// latchesSurroundTheStep: no other update can take a latch of the row while the step looks at it.
func latchesSurroundTheStep() (err error) {
	e, err := Open("", Options{InMemory: true, MemTableBytes: 1 << 20, CacheBytes: 1 << 20})
	if err != nil {
		return err
	}
	row := []byte("row")
	slot := e.latches.acquire([][]byte{row}, nil)
	e.latches.release(slot)
	step := func(_ kv.Reader, b *kv.Batch) error {
		if e.latches.slots[slot[0]].TryLock() {
			e.latches.release(slot)
			err = fmt.Errorf("the row was free during a step")
		}
		b.Set([]byte("frow"), []byte("v"))
		return nil
	}
	if failed := e.Update(context.Background(), [][]byte{row}, step); failed != nil {
		return failed
	}
	if failed := e.Close(); failed != nil {
		return failed
	}
	return err
}
