package kvtest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/stretchr/testify/require"
)

// testLimits: an update at a limit is applied, and one beyond it is refused whole, whether it is
// lazy or not.
func testLimits(t *testing.T, e kv.Engine) {
	l := kv.LimitsOf(e)
	require.Equal(t, l, kv.LimitsOf(e), "they stay")
	least := kv.LeastLimits
	for _, bound := range [][2]int{{l.Rows, least.Rows}, {l.Ops, least.Ops},
		{l.Bytes, least.Bytes}, {l.Value, least.Value}} {
		require.True(t, bound[0] == 0 || bound[0] >= bound[1], "%+v is below %+v", l, least)
	}
	inGroup := func(n int) (out [][]byte) { // rows that an update may name together
		for i := 0; len(out) < n; i++ {
			row := rows(fmt.Sprintf("r%06d", i))[0]
			if kv.GroupOf(e, row) == kv.GroupOf(e, rows("r000000")[0]) {
				out = append(out, row)
			}
		}
		return out
	}
	one := inGroup(1)
	cell := func(i int) []byte { return key('x', "r000000", fmt.Sprintf("%06d", i)) }
	for what, c := range map[string]struct {
		most   int
		update func(n int) (named [][]byte, step kv.Step)
	}{
		"rows": {l.Rows, func(n int) ([][]byte, kv.Step) {
			return inGroup(n), func(_ kv.Reader, b *kv.Batch) error {
				b.Set(cell(0), nil)
				return nil
			}
		}},
		"writes": {l.Ops, func(n int) ([][]byte, kv.Step) {
			return one, func(_ kv.Reader, b *kv.Batch) error {
				for i := range n - 1 {
					b.Set(cell(i), nil)
				}
				b.Delete(cell(0)) // it is a write too
				return nil
			}
		}},
		"bytes": {l.Bytes, func(n int) ([][]byte, kv.Step) {
			return one, func(_ kv.Reader, b *kv.Batch) error {
				most := n
				if l.Value != 0 {
					most = l.Value
				}
				for i := 0; b.Bytes() < n; i++ {
					left := n - b.Bytes() - len(cell(i))
					if next := left - most; next > 0 && next < len(cell(i)) {
						left -= len(cell(i)) // room for the key of the last one
					}
					b.Set(cell(i), make([]byte, min(left, most)))
				}
				return nil
			}
		}},
		"bytes in a value": {l.Value, func(n int) ([][]byte, kv.Step) {
			return one, func(_ kv.Reader, b *kv.Batch) error {
				b.Set(cell(0), make([]byte, n))
				return nil
			}
		}},
	} {
		if c.most == 0 {
			continue
		}
		for _, update := range []func(context.Context, kv.Engine, [][]byte, kv.Step) error{
			func(ctx context.Context, e kv.Engine, rows [][]byte, step kv.Step) error {
				return e.Update(ctx, rows, step)
			}, kv.UpdateLazy,
		} {
			named, step := c.update(c.most + 1)
			before := Dump(t, e)
			err := update(context.Background(), e, named, step)
			require.ErrorIs(t, err, kv.ErrTooLarge, what)
			require.ErrorIs(t, err, kv.ErrNotApplied, what)
			require.Equal(t, before, Dump(t, e), what)
			named, step = c.update(c.most)
			require.NoError(t, update(context.Background(), e, named, step), what)
			require.NotEmpty(t, Dump(t, e), what)
		}
	}
}

// mostRows returns as many of the rows as one update may name, and write to twice.
func mostRows(e kv.Engine, rows [][]byte) [][]byte {
	n, l := len(rows), kv.LimitsOf(e)
	if l.Rows != 0 {
		n = min(n, l.Rows)
	}
	if l.Ops != 0 {
		n = min(n, l.Ops/2)
	}
	return rows[:n]
}

// testInParts: rows are updated in parts of the size that the engine takes, each of them once, also
// where only the update itself knows how much it writes for a row.
func testInParts(t *testing.T, e kv.Engine) {
	l := kv.LimitsOf(e)
	if l.Ops == 0 {
		l.Ops = 1 << 10
	}
	var all [][]byte
	for i := range 2 * l.Ops {
		row := rows(fmt.Sprintf("r%06d", i))[0]
		if kv.GroupOf(e, row) == kv.GroupOf(e, rows("r000000")[0]) {
			all = append(all, row)
		}
	}
	const cells = 7
	var updated [][]byte
	require.NoError(t, kv.InParts(kv.LimitsOf(e), all, func(part [][]byte) error {
		err := e.Update(context.Background(), part, func(_ kv.Reader, b *kv.Batch) error {
			for _, row := range part {
				for i := range cells {
					b.Set(fmt.Append(append([]byte{'x'}, row...), i), []byte("1"))
				}
			}
			return nil
		})
		if err == nil {
			updated = append(updated, part...)
		}
		return err
	}))
	require.Equal(t, all, updated)
	require.Len(t, Dump(t, e), cells*len(all))

	own := errors.New("own")
	calls := 0
	require.ErrorIs(t, kv.InParts(kv.LimitsOf(e), all, func([][]byte) error {
		calls++
		return own
	}), own)
	require.Equal(t, 1, calls)
	for _, cut := range []error{kv.ErrTooLarge, kv.ErrContended} {
		calls = 0
		require.ErrorIs(t, kv.InParts(kv.Limits{Rows: 8}, all[:8], func([][]byte) error {
			calls++
			return cut
		}), cut)
		require.Equal(t, 4, calls, "of 8, 4, 2 rows and of one, which cannot be cut")
	}
}
