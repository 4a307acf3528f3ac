package pebblekv_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/kv/pebblekv/testfs"
	"github.com/stretchr/testify/require"
)

func TestNewDataIsRefusedBeforeTheDiskIsFull(t *testing.T) {
	const memTable = 1 << 18 // of open
	fs := testfs.NewSizedFS(testfs.NewCrashFS(), 1<<30)
	var tight []bool
	e := open(t, "db", pebblekv.Options{FS: fs, Logger: slog.New(slog.DiscardHandler),
		OnTight: func(on bool) { tight = append(tight, on) }})
	reserved := func() bool {
		_, err := fs.Stat("db/RESERVE")
		return err == nil
	}
	look := func(free uint64, frees bool) error {
		fs.SetFree(free)
		pebblekv.LookAgain(e)
		return e.Room(frees)
	}
	shown := func() (numbers []float64) { // free, needed, full
		for _, m := range e.Measures() {
			if strings.HasPrefix(m.Name, "disk_") && m.Name != "disk_bytes" {
				numbers = append(numbers, m.Values[0].Number)
			}
		}
		return numbers
	}
	require.NoError(t, e.Room(false))
	require.True(t, reserved())
	require.Empty(t, tight)
	require.NoError(t, look(15*memTable, false))
	require.Equal(t, []bool{true}, tight, "early enough to collect what is old")

	require.ErrorIs(t, look(8*memTable-1, false), kv.ErrDiskFull)
	require.Equal(t, []float64{8*memTable - 1, 8 * memTable, 1}, shown())
	update(t, e, "a", "what rolls back and settles is taken all the same")
	require.True(t, reserved())
	require.NoError(t, look(8*memTable-1, true))
	require.False(t, reserved(), "deleting may use it")
	require.ErrorIs(t, look(memTable-1, true), kv.ErrDiskFull, "not to the last byte")

	require.ErrorIs(t, look(9*memTable, false), kv.ErrDiskFull, "not to and fro")
	require.ErrorIs(t, look(12*memTable-1, false), kv.ErrDiskFull, "the reserve comes first")
	require.NoError(t, look(12*memTable, false))
	require.True(t, reserved())
	require.NoError(t, look(1<<30, false))
	require.True(t, reserved())
	require.Equal(t, []bool{true, false}, tight)
	require.Equal(t, []float64{1 << 30, 8 * memTable, 0}, shown())
	require.NoError(t, e.Close())
}

// TestALogOnAFullDiskUsesTheReserve fills a disk that reports to the engine that it has room, as
// others may do it between two looks.
func TestALogOnAFullDiskUsesTheReserve(t *testing.T) {
	faults := testfs.NewFaultFS(testfs.NewCrashFS())
	fs := testfs.NewSizedFS(faults, 1<<30)
	e := open(t, "db", pebblekv.Options{FS: fs, Logger: slog.New(slog.DiscardHandler)})
	faults.Plan(testfs.Fault{At: 1, Times: 1, DiskFull: true})
	update(t, e, "a", "1")
	_, failed := faults.Writes()
	require.Equal(t, 1, failed)
	_, err := fs.Stat("db/RESERVE")
	require.Error(t, err, "it was given up, and the write repeated")
	faults.Plan(testfs.Fault{At: 1, DiskFull: true})
	rows, step := put("b", "2")
	err = e.Update(context.Background(), rows, step)
	require.ErrorIs(t, err, kv.ErrFailed)
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.ErrorIs(t, e.Close(), kv.ErrFailed)
}

// TestAStartOnAFullDiskEnds opens a store whose log has to be written out, without room for that.
func TestAStartOnAFullDiskEnds(t *testing.T) {
	disk := testfs.NewCrashFS()
	e := open(t, "db", pebblekv.Options{FS: disk})
	update(t, e, "a", "1")
	left := disk.Crash(100, rand.New(rand.NewPCG(1, 1)))
	require.NoError(t, e.Close())
	for at := 1; ; at++ {
		fs := testfs.NewFaultFS(left)
		fs.Plan(testfs.Fault{At: at, DiskFull: true})
		e, err := pebblekv.Open("db",
			pebblekv.Options{FS: fs, Logger: slog.New(slog.DiscardHandler)})
		if err == nil {
			_ = e.Close()
			break
		}
		require.True(t, errors.Is(err, syscall.ENOSPC), "%v", err)
		require.NotContains(t, err.Error(), "\n")
	}
	e = open(t, "db", pebblekv.Options{FS: left})
	require.Len(t, kvtest.Dump(t, e), 1)
	require.NoError(t, e.Close())
}
