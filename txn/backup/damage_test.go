package backup_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn/backup"
	"github.com/stretchr/testify/require"
)

// backupOf makes a full backup and an incremental one of a small store.
func backupOf(t *testing.T, to ...backup.Recipient) (place backup.Directory, full,
	next backup.Result) {
	w := newWorld(t, memkv.New(memkv.Options{}))
	place = backup.Directory(t.TempDir())
	run := func() backup.Result {
		r, err := backup.Run(context.Background(), backup.Options{Source: w.store, To: place,
			Protect: time.Hour, Recipients: to})
		require.NoError(t, err)
		return r
	}
	set(t, w.store, "a", long, "b", "secret words")
	full = run()
	set(t, w.store, "a", "2")
	return place, full, run()
}

func file(place backup.Directory, r backup.Result, i int) string {
	return filepath.Join(string(place), r.Name, r.Files[i].Name)
}

// TestFilesThatAreNotWhatWasWritten are found, and nothing that opens is left of a restore.
func TestFilesThatAreNotWhatWasWritten(t *testing.T) {
	ctx := context.Background()
	for what, harm := range map[string]func(path string) error{
		"is missing": os.Remove,
		"SHA-256":    func(path string) error { return appendTo(path, skipped) },
		"cannot be read": func(path string) error {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			return os.Truncate(path, info.Size()/2)
		},
	} {
		t.Run(what, func(t *testing.T) {
			place, full, next := backupOf(t)
			require.NoError(t, harm(file(place, full, 0)))
			_, _, err := backup.Verify(ctx, place, next.Name, nil)
			require.ErrorIs(t, err, backup.ErrDamaged)
			require.ErrorContains(t, err, what)
			e := inPebble(t)
			_, err = backup.Restore(ctx, backup.RestoreOptions{From: place, Name: next.Name,
				Target: e})
			require.ErrorIs(t, err, backup.ErrDamaged)
			require.ErrorContains(t, err, full.Name)
		})
	}
}

// skipped is a frame that readers of zstd pass over.
const skipped = "\x50\x2a\x4d\x18\x00\x00\x00\x00"

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(text)
	return err
}

// TestARenamedBackup is not taken for another one.
func TestARenamedBackup(t *testing.T) {
	place, full, _ := backupOf(t)
	require.NoError(t, os.Rename(filepath.Join(string(place), full.Name),
		filepath.Join(string(place), "other")))
	_, err := backup.List(context.Background(), place)
	require.ErrorIs(t, err, backup.ErrDamaged)
}

// TestEncryption: what was written shows nothing, and is read by its key alone.
func TestEncryption(t *testing.T) {
	ctx := context.Background()
	text, public, err := backup.NewKey()
	require.NoError(t, err)
	to, err := backup.ParseRecipients("# mine\n" + public + "\n")
	require.NoError(t, err)
	key, err := backup.ParseKeys(text)
	require.NoError(t, err)
	place, full, next := backupOf(t, to...)
	for _, r := range []backup.Result{full, next} {
		for i, f := range r.Files {
			require.True(t, f.Encrypted)
			b, err := os.ReadFile(file(place, r, i))
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(string(b), "age-encryption.org/v1"))
			require.NotContains(t, string(b), "secret words")
		}
	}
	other, _, err := backup.NewKey()
	require.NoError(t, err)
	wrong, err := backup.ParseKeys(other)
	require.NoError(t, err)
	e := inPebble(t)
	for _, by := range [][]backup.Key{nil, wrong} {
		_, _, err := backup.Verify(ctx, place, next.Name, by)
		require.ErrorIs(t, err, backup.ErrNoKey)
		_, err = backup.Restore(ctx, backup.RestoreOptions{From: place, Name: next.Name,
			Target: e, Keys: by})
		require.ErrorIs(t, err, backup.ErrNoKey)
	}
	_, err = backup.Restore(ctx, backup.RestoreOptions{From: place, Name: next.Name, Target: e,
		Keys: key})
	require.NoError(t, err)
	require.Equal(t, []string{"a=2", "b=secret words"}, at(t, newWorld(t, e).store, 0))
	_, err = backup.ParseKeys("AGE-SECRET-KEY-1X")
	require.ErrorContains(t, err, "AGE-SECRET-KEY-1")
}

// TestPrune keeps the last backup before the moment, and what it continues.
func TestPrune(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, memkv.New(memkv.Options{}))
	place := backup.Directory(t.TempDir())
	var made []backup.Result
	for i := range 6 {
		w.clock.Add(minute)
		require.NoError(t, w.store.RenewLease(ctx))
		r, err := backup.Run(ctx, backup.Options{Source: w.store, To: place, Full: i%3 == 0,
			Protect: time.Hour})
		require.NoError(t, err)
		require.Equal(t, i%3 == 0, r.Full())
		made = append(made, r)
	}
	names := func() (out []string) {
		all, err := backup.List(ctx, place)
		require.NoError(t, err)
		for _, m := range all {
			out = append(out, m.Name)
		}
		return out
	}
	gone, err := backup.Prune(ctx, place, made[2].Time()) // between it and the next: it is needed
	require.NoError(t, err)
	require.Empty(t, gone)
	gone, err = backup.Prune(ctx, place, made[4].Time())
	require.NoError(t, err)
	require.Equal(t, []string{made[2].Name, made[1].Name, made[0].Name}, gone)
	require.Equal(t, []string{made[3].Name, made[4].Name, made[5].Name}, names())
	gone, err = backup.Prune(ctx, place, made[5].Time().Add(time.Hour))
	require.NoError(t, err)
	require.Empty(t, gone) // the newest is what is left, with its chain
}

// overtaking is a place at whose first file of a run another run begins.
type overtaking struct {
	backup.Place
	other func()
}

func (o *overtaking) Put(ctx context.Context, name string, write func(io.Writer) error) error {
	if other := o.other; other != nil && strings.HasSuffix(name, ".cells") {
		o.other = nil
		other()
	}
	return o.Place.Put(ctx, name, write)
}

// TestTwoRunsIntoOnePlace: the later one goes on with what the earlier one has, which fails and
// leaves that whole.
func TestTwoRunsIntoOnePlace(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, memkv.New(memkv.Options{Shared: true}))
	place := backup.Directory(t.TempDir())
	set(t, w.store, "a", "1")
	var later backup.Result
	first := &overtaking{Place: place, other: func() {
		later = backUp(t, w.store, place)
		require.True(t, later.Resumed)
	}}
	_, err := backup.Run(ctx, backup.Options{Source: w.store, To: first, Protect: time.Hour})
	require.ErrorIs(t, err, backup.ErrTakenOver)
	require.Equal(t, []string{"a=1"}, at(t, restore(t, place, later.Name, inPebble(t)), 0))
	next := backUp(t, w.store, place)
	require.Equal(t, later.Name, next.Base)
}

// TestAnUnfinishedBackupIsNone: without its manifest nothing lists it or restores it, and the next
// run goes on with what is there.
func TestAnUnfinishedBackupIsNone(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, memkv.New(memkv.Options{}))
	place := backup.Directory(t.TempDir())
	for i := range 20 {
		set(t, w.store, fmt.Sprintf("k%02d", i), long)
	}
	o := backup.Options{Source: w.store, PageBytes: 1000, FileBytes: 5000, Protect: time.Hour,
		To: &failing{Place: place, left: 6}} // the third file is there, and not noted
	_, err := backup.Run(ctx, o)
	require.ErrorIs(t, err, errPlace)
	all, err := backup.List(ctx, place)
	require.NoError(t, err)
	require.Empty(t, all)
	files, err := filepath.Glob(filepath.Join(string(place), "*", "*.cells"))
	require.NoError(t, err)
	require.Len(t, files, 3)
	o.To = place
	r, err := backup.Run(ctx, o)
	require.NoError(t, err)
	require.True(t, r.Resumed)
	require.Equal(t, filepath.Base(files[0]), r.Files[0].Name)
	require.Equal(t, filepath.Base(files[1]), r.Files[1].Name)
	require.NoFileExists(t, files[2])
	files, err = filepath.Glob(filepath.Join(string(place), "*", "*"))
	require.NoError(t, err)
	require.Len(t, files, len(r.Files)+1) // nothing else is left
	require.Len(t, at(t, restore(t, place, r.Name, inPebble(t)), 0), 20)
}
