package pebblekv_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/kv/pebblekv/testfs"
	"github.com/stretchr/testify/require"
)

// TestAFailedLogWriteEndsTheEngineAndNotTheProcess fails each of the writes that follow an update,
// one after the other, and goes on using the engine.
func TestAFailedLogWriteEndsTheEngineAndNotTheProcess(t *testing.T) {
	failures := 0
	for at := range 40 {
		disk := testfs.NewCrashFS()
		fs := testfs.NewFaultFS(disk)
		var told []error
		e := open(t, "db", pebblekv.Options{FS: fs, Logger: slog.New(slog.DiscardHandler),
			OnFailure: func(err error) { told = append(told, err) }})
		update(t, e, "a", "1")
		fs.Plan(testfs.Fault{At: at + 1})
		acknowledged := 1
		var failed error
		for i := range 20 { // the third of them rotates the log and flushes
			rows, step := put(fmt.Sprintf("b%02d", i), "2")
			if failed = e.Update(t.Context(), rows, step); failed != nil {
				break
			}
			acknowledged++
			if i != 3 {
				continue
			}
			if failed = e.Flush(); failed != nil {
				break
			}
		}
		if failed == nil {
			require.NoError(t, e.Close())
			continue
		}
		failures++
		require.ErrorIs(t, failed, kv.ErrFailed)
		require.ErrorIs(t, failed, syscall.EIO)
		require.Equal(t, []error{e.Failure()}, told)

		rows, step := put("c", "3")
		for range 3 {
			err := e.Update(t.Context(), rows, step)
			require.ErrorIs(t, err, kv.ErrFailed)
			require.ErrorIs(t, err, kv.ErrNotApplied)
			require.ErrorIs(t, e.UpdateLazy(t.Context(), rows, step), kv.ErrFailed)
			_, err = e.Snapshot()
			require.ErrorIs(t, err, kv.ErrFailed)
			require.ErrorIs(t, e.Flush(), kv.ErrFailed)
		}
		left := disk.Crash(0, nil)
		require.ErrorIs(t, e.Close(), kv.ErrFailed)

		for _, after := range []*testfs.CrashFS{left, disk.Crash(0, nil),
			disk.Crash(100, rand.New(rand.NewPCG(1, 1)))} {
			e = open(t, "db", pebblekv.Options{FS: after})
			kept := len(kvtest.Dump(t, e))
			require.GreaterOrEqual(t, kept, acknowledged, "write %d", at)
			require.LessOrEqual(t, kept, acknowledged+1, "write %d", at)
			require.NoError(t, e.Close())
		}
	}
	require.Greater(t, failures, 10)
}

// TestAnUpdateThatOnlyReadsSyncsForLazyOnes checks kv I3 where what was read was written lazily.
func TestAnUpdateThatOnlyReadsSyncsForLazyOnes(t *testing.T) {
	fs := testfs.NewCrashFS()
	e := open(t, "db", pebblekv.Options{FS: fs})
	reads := func(row string) {
		t.Helper()
		err := e.Update(t.Context(), [][]byte{[]byte(row + "\x00\x01")},
			func(r kv.Reader, _ *kv.Batch) error {
				v, err := r.Get(context.Background(), []byte("x"+row+"\x00\x01"))
				require.NotNil(t, v)
				return err
			})
		require.NoError(t, err)
	}
	survive := func(n int) {
		t.Helper()
		after := open(t, "db", pebblekv.Options{FS: fs.Crash(0, nil)})
		require.Len(t, kvtest.Dump(t, after), n)
		require.NoError(t, after.Close())
	}
	lazy(t, e, "a", "1")
	survive(0)
	before := e.Syncs()
	reads("a")
	survive(1)
	require.Equal(t, before+1, e.Syncs())
	reads("a")
	require.Equal(t, before+1, e.Syncs(), "nothing lazy since")
	lazy(t, e, "b", "2")
	update(t, e, "c", "3")
	before = e.Syncs()
	reads("b")
	require.Equal(t, before, e.Syncs(), "the update took it to disk")
	require.NoError(t, e.Close())
}

// TestARemovedDirectoryEndsTheEngineAndNotTheProcess removes the directory under an open store: the
// next log cannot be made, which Pebble answers with a panic that no caller can recover from.
func TestARemovedDirectoryEndsTheEngineAndNotTheProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	e := open(t, dir, pebblekv.Options{Logger: slog.New(slog.DiscardHandler)})
	update(t, e, "a", "1")
	require.NoError(t, os.RemoveAll(dir))
	require.ErrorIs(t, e.Flush(), kv.ErrFailed)
	rows, step := put("b", "2")
	require.ErrorIs(t, e.Update(t.Context(), rows, step), kv.ErrFailed)
	require.ErrorIs(t, e.Close(), kv.ErrFailed)
}
