package tso

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTheMachinesClockIsChecked: for itself, and against the newest timestamp of the store.
func TestTheMachinesClockIsChecked(t *testing.T) {
	day := func(year int) int64 { return time.Date(year, 11, 22, 0, 0, 0, 0, time.UTC).UnixMilli() }
	for _, c := range []struct {
		wall, newest int // years; zero is a new store
		refused      bool
	}{
		{1970, 0, true}, {2000, 0, true}, {2026, 0, false}, {2090, 0, false}, {2106, 0, true},
		{2030, 2026, false}, {2040, 2026, true}, {2025, 2026, true}, {2026, 2106, true},
		// it was made by a clock that stood at its beginning
		{2026, 1970, false}, {2000, 1970, true},
	} {
		newest := Timestamp(0)
		if c.newest != 0 {
			newest = New(day(c.newest), 0)
		}
		err := checkClock(day(c.wall), newest, true)
		require.Equal(t, c.refused, err != nil, "%+v: %v", c, err)
	}
}
