package clone_test

import (
	"context"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn/clone"
	"github.com/stretchr/testify/require"
)

// killing is a target at whose first update the process of the copy is killed: before it is
// applied, or after.
type killing struct {
	kv.Wrapped
	applied bool
}

func (k killing) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	if k.applied {
		if err := k.Engine.Update(ctx, rows, step); err != nil {
			return err
		}
	}
	panic("killed")
}

// TestACopyThatIsKilledInItsFirstMoments holds its source for no longer than a minute, for a later
// run may not know of the hold. The next run begins anew, or goes on where that is possible.
func TestACopyThatIsKilledInItsFirstMoments(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name           string
		applied, waits bool
	}{
		{"before the mark", false, true},
		{"behind the mark", true, true},
		{"behind the mark, and run again at once", true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, s, _ := filled(t)
			e := memkv.New(memkv.Options{})
			require.Panics(t, func() {
				_, _ = clone.Run(ctx, clone.Options{Source: s, Target: killing{
					kv.Wrapped{Engine: e}, c.applied}})
			})
			require.Contains(t, meta(t, w.engine), "hold/")
			if c.waits {
				w.clock.Add(2 * minute)
				require.NoError(t, s.RenewLease(ctx))
				held, err := s.Holds(ctx)
				require.NoError(t, err)
				require.False(t, held)
			}
			r := run(t, s, e)
			require.Equal(t, c.applied && !c.waits, r.Resumed)
			require.Equal(t, at(t, s, r.At), at(t, open(t, e), 0))
			require.NotContains(t, meta(t, w.engine), "hold/")
		})
	}
}
