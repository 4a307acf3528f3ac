package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/table/types"
)

// choiceOptions are the flags that say which backup is meant.
type choiceOptions struct {
	minidb.BackupChoice
	keyFile string
}

func (o *choiceOptions) flags(fs *flag.FlagSet) {
	fs.StringVar(&o.Name, "name", "", "the backup; default: the newest one")
	fs.Func("to-time", "the last backup that is not after this moment, as '2026-11-30 18:00:00Z' "+
		"or what else SQL takes for one; without a zone in this machine's",
		func(text string) (err error) {
			o.Time, err = parseMoment(text)
			return err
		})
	fs.Uint64Var(&o.Timestamp, "to-timestamp", 0, "the last one that is not after this timestamp")
	fs.StringVar(&o.keyFile, "key-file", "", "file of keys (AGE-SECRET-KEY-1…), for encrypted "+
		"backups")
}

// parseMoment reads a moment as SQL does.
func parseMoment(text string) (time.Time, error) {
	ts, err := types.ParseTimestampTZ(text, -1, &types.Format{DateStyle: "ISO", DateOrder: "MDY",
		Location: time.Local, Now: time.Now()})
	if err != nil {
		return time.Time{}, err
	}
	if ts == types.PosInfinity || ts == types.NegInfinity {
		return time.Time{}, fmt.Errorf("%s is no moment", text)
	}
	return types.TimestampToTime(ts), nil
}

// keys reads the file of keys.
func (o *choiceOptions) keys() (string, error) {
	if o.keyFile == "" {
		return "", nil
	}
	text, err := os.ReadFile(o.keyFile)
	return string(text), err
}

func restore(ctx context.Context, c *command, args []string) error {
	fs := c.flags()
	var choice choiceOptions
	choice.flags(fs)
	to := fs.String("to", "", "where the new database is made: a directory that is missing or "+
		"empty, or an empty path of a store that several processes share")
	anew := fs.Bool("anew", false, "empty a --to that has an unfinished restore, and begin from "+
		"the start")
	place, err := placeFlags(c, fs, args)
	if err != nil {
		return err
	}
	if *to == "" {
		return usageError("--to is missing")
	}
	store := storeOptions{url: *to}
	opts, err := store.options()
	if err != nil {
		return err
	}
	keys, err := choice.keys()
	if err != nil {
		return err
	}
	r, err := restoreTo(ctx, place, *to, minidb.RestoreOptions{BackupChoice: choice.BackupChoice,
		Keys: keys, Anew: *anew}, append(opts, minidb.Logger(quiet())))
	switch {
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return errors.New("interrupted: the same command with --anew begins anew")
	case err != nil:
		return advisedOfScheme(err)
	}
	fmt.Printf("restored as of %s (%d): %d cells of %d backups\n", r.At.Format(time.RFC3339Nano),
		r.Timestamp, r.Cells, r.Backups)
	return nil
}

// restoreTo restores, and shows the progress.
func restoreTo(ctx context.Context, place, to string, o minidb.RestoreOptions,
	opts []minidb.Option) (minidb.Restored, error) {
	shown := copyProgress{began: time.Now()}
	o.Progress = func(bytes, of int64) {
		shown.show("restore", -1, bytes, float64(bytes)/float64(max(of, bytes, 1)))
	}
	return minidb.Restore(ctx, place, to, o, opts...)
}

// verifyBackup restores a backup into a directory that is removed again, and checks that; or with
// --files it reads the files alone.
func verifyBackup(ctx context.Context, c *command, args []string) (err error) {
	fs := c.flags()
	var choice choiceOptions
	choice.flags(fs)
	files := fs.Bool("files", false, "compare the files with their manifests alone, and restore "+
		"nothing")
	in := fs.String("in", os.TempDir(), "where there is room for the database that is restored "+
		"and removed again")
	place, err := placeFlags(c, fs, args)
	if err != nil {
		return err
	}
	keys, err := choice.keys()
	if err != nil {
		return err
	}
	info, cells, bytes, err := minidb.VerifyBackup(ctx, place, choice.BackupChoice, keys)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d cells, %d bytes; every file is what was written\n", info.Name, cells, bytes)
	if *files {
		return nil
	}
	dir, err := os.MkdirTemp(*in, "minidb-verify-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	store := filepath.Join(dir, "data")
	_, err = restoreTo(ctx, place, store, minidb.RestoreOptions{Keys: keys,
		BackupChoice: minidb.BackupChoice{Name: info.Name}},
		[]minidb.Option{minidb.Logger(quiet())})
	if err != nil {
		return err
	}
	return checkStore(ctx, store, storeOptions{})
}
