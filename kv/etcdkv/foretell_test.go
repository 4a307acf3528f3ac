package etcdkv_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
)

// TestForetellChangesNothing: rows that were foretold are shown as they are in the snapshot, the
// absent ones too, by one request for all.
func TestForetellChangesNothing(t *testing.T) {
	ctx := context.Background()
	e := open(t)
	key := func(i int) []byte { return fmt.Appendf(nil, "wrow %03d\x00\x01", i) }
	put := func(i int, value string) {
		require.NoError(t, e.Update(ctx, [][]byte{kv.Row(key(i))},
			func(_ kv.Reader, b *kv.Batch) error {
				b.Set(key(i), []byte(value))
				return nil
			}))
	}
	var rows [][]byte
	for i := range 20 {
		if i%3 != 0 {
			put(i, "before")
		}
		rows = append(rows, kv.Row(key(i)))
	}
	shows := func(s kv.Snapshot, i int, value string) {
		got, err := s.Get(ctx, key(i))
		require.NoError(t, err)
		if i%3 == 0 {
			require.Nil(t, got)
			return
		}
		require.Equal(t, value, string(got))
	}
	for range 40 { // so that the family is a habit
		s, err := e.Snapshot()
		require.NoError(t, err)
		shows(s, 1, "before")
		shows(s, 2, "before")
		require.NoError(t, s.Close())
	}
	s, err := e.Snapshot()
	require.NoError(t, err)
	shows(s, 1, "before")
	reads, _ := e.Requests()
	require.NoError(t, s.(kv.Foreteller).Foretell(ctx, rows))
	for i := range rows {
		if i%3 != 0 {
			put(i, "after")
		}
	}
	between, _ := e.Requests()
	for i := range rows {
		shows(s, i, "before")
	}
	after, _ := e.Requests()
	require.Equal(t, between, after)
	require.Greater(t, between, reads)
	require.NoError(t, s.Close())
	require.NoError(t, e.Close())
}
