package pebblekv

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/pebblekv/testfs"
	"github.com/stretchr/testify/require"
)

// killed returns what a new store of n updates leaves when its process is killed: each was
// acknowledged before the next began. flush makes tables of the first half.
func killed(t *testing.T, n int, flush bool) *testfs.CrashFS {
	fs := testfs.NewCrashFS()
	e, err := Open("db", Options{FS: fs, MemTableBytes: 1 << 20})
	require.NoError(t, err)
	for i := range n {
		row := fmt.Appendf(nil, "row %06d\x00\x01", i)
		err := e.Update(context.Background(), [][]byte{row}, func(_ kv.Reader, b *kv.Batch) error {
			b.Set(append([]byte("x"), row...), bytes.Repeat([]byte("v"), i%90))
			return nil
		})
		require.NoError(t, err)
		if flush && i == n/2 {
			require.NoError(t, e.Flush())
		}
	}
	left := fs.Crash(0, nil)
	require.NoError(t, e.Close())
	return left
}

// files returns the names of the store's files with a prefix or suffix, in order.
func files(t *testing.T, fs *testfs.CrashFS, part string) []string {
	names, err := fs.List("db")
	require.NoError(t, err)
	slices.Sort(names)
	return slices.DeleteFunc(names,
		func(n string) bool { return !strings.HasPrefix(n, part) && !strings.HasSuffix(n, part) })
}

func content(t *testing.T, fs *testfs.CrashFS, name string) []byte {
	f, err := fs.Open("db/" + name)
	require.NoError(t, err)
	b, err := io.ReadAll(f)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return b
}

func overwrite(t *testing.T, fs *testfs.CrashFS, name string, b []byte) {
	f, err := fs.Create("db/"+name, vfs.WriteCategoryUnspecified)
	require.NoError(t, err)
	_, err = f.Write(b)
	require.NoError(t, err)
	require.NoError(t, f.Sync())
	require.NoError(t, f.Close())
}

// TestEveryDamagedByteOfALogIsFound changes each byte of the first log of a new store: in the last
// block and in the last chunk too.
func TestEveryDamagedByteOfALogIsFound(t *testing.T) {
	fs := killed(t, 700, false)
	logs := files(t, fs, ".log")
	name := logs[len(logs)-1]
	log := content(t, fs, name)
	require.Greater(t, len(log), blockSize, "two blocks")
	f := chunkFormat{logNum: numberOf(t, name)}
	v, err := verifyChunks(bytes.NewReader(log), name, f)
	require.NoError(t, err)
	require.EqualValues(t, len(log), v.end)

	dice := rand.New(rand.NewPCG(1, 1))
	for at := range log {
		whole := log[at]
		log[at] ^= 1 << dice.IntN(8)
		if at%2 == 0 {
			log[at] = whole + byte(1+dice.IntN(255))
		}
		_, err := verifyChunks(bytes.NewReader(log), name, f)
		if !inPadding(log, at) {
			require.ErrorIs(t, err, kv.ErrCorruption, "byte %d of %d", at, len(log))
		}
		log[at] = whole
	}
}

// inPadding reports whether the byte lies behind the last chunk of a full block, where nothing is
// kept.
func inPadding(log []byte, at int) bool {
	block := at / blockSize * blockSize
	end := block + blockSize
	return end <= len(log) && end-at < chunkHeader
}

func numberOf(t *testing.T, name string) (n uint32) {
	_, err := fmt.Sscanf(name, "%d.log", &n)
	require.NoError(t, err)
	return n
}

// TestATornTailIsNoDamage cuts the log at each sector, and also leaves what a file system may leave
// behind the cut: zeros, and what was there before.
func TestATornTailIsNoDamage(t *testing.T) {
	fs := killed(t, 700, false)
	logs := files(t, fs, ".log")
	name := logs[len(logs)-1]
	log := content(t, fs, name)
	f := chunkFormat{logNum: numberOf(t, name)}
	dice := rand.New(rand.NewPCG(2, 2))
	for cut := 0; cut < len(log); cut += sectorSize {
		zeros := make([]byte, len(log)-cut)
		old := bytes.Clone(zeros)
		for i := range old {
			old[i] = byte(dice.Uint32())
		}
		for what, tail := range map[string][]byte{"nothing": nil, "zeros": zeros,
			"old bytes": old} {
			_, err := verifyChunks(bytes.NewReader(append(log[:cut:cut], tail...)), name, f)
			require.NoError(t, err, "cut at %d, followed by %s", cut, what)
		}
	}
}

// TestDamageIsNamedWhenAStoreIsOpened damages logs, manifest and options, and opens the store.
func TestDamageIsNamedWhenAStoreIsOpened(t *testing.T) {
	fs := killed(t, 60, true)
	dice := rand.New(rand.NewPCG(3, 3))
	for _, part := range []string{".log", "MANIFEST-"} {
		names := files(t, fs, part)
		name := names[len(names)-1]
		whole := content(t, fs, name)
		for range 20 {
			b := bytes.Clone(whole)
			at := dice.IntN(len(b))
			b[at] ^= 1 << dice.IntN(8)
			after := fs.Crash(0, nil)
			overwrite(t, after, name, b)
			_, err := Open("db", Options{FS: after, Logger: slog.New(slog.DiscardHandler)})
			require.ErrorIs(t, err, kv.ErrCorruption, "%s, byte %d", name, at)
			require.ErrorContains(t, err, name)
			require.NotContains(t, err.Error(), "\n")
		}
	}
	e, err := Open("db", Options{FS: fs})
	require.NoError(t, err)
	require.Equal(t, 29, e.Replay().Updates)
	require.Positive(t, e.Replay().End)
	require.NoError(t, e.Close())
}
