package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/minidb/minidb"
)

// backupOptions are the flags of a backup that is made.
type backupOptions struct {
	data, url, to             string
	store                     storeOptions
	full, follow              bool
	protect, every, fullEvery time.Duration
	rate                      int64
	recipients                string

	shown    copyProgress
	lastFull time.Time // or when the first one of this process was made
}

// backedUp is what a backup came to, and backer makes one.
type (
	backedUp = minidb.BackedUp
	backer   func(ctx context.Context, full bool) (backedUp, error)
)

// subcommands of backup, by their first argument.
var backupCommands = map[string]func(ctx context.Context, c *command, args []string) error{
	"list": listBackups, "verify": verifyBackup, "prune": pruneBackups, "key": backupKey,
}

func backUp(ctx context.Context, c *command, args []string) error {
	if len(args) > 0 {
		sub := backupCommands[args[0]]
		switch {
		case sub != nil:
			return sub(ctx, c, args[1:])
		case !strings.HasPrefix(args[0], "-"):
			return usageError("it takes list, verify, prune, key or flags, and not " + args[0])
		}
	}
	o := &backupOptions{}
	if err := o.read(c, args); err != nil {
		return err
	}
	backer, err := o.backer()
	if err != nil {
		return err
	}
	return o.repeat(ctx, backer)
}

// repeat makes a backup, and with --follow further ones.
func (o *backupOptions) repeat(ctx context.Context, run backer) error {
	for {
		o.shown = copyProgress{began: time.Now()}
		if err := o.one(ctx, run); err != nil || !o.follow {
			return err
		}
		select {
		case <-time.After(o.every):
		case <-ctx.Done():
			return nil
		}
	}
}

func (o *backupOptions) read(c *command, args []string) error {
	fs := c.flags()
	fs.StringVar(&o.data, "data", "", "data directory, which no server may have open")
	fs.StringVar(&o.url, "url", "", "a server, as postgres://postgres@127.0.0.1:5433/postgres: it "+
		"writes the backup, into a directory of its machine")
	o.store.flags(fs)
	fs.StringVar(&o.to, "to", "", "directory where backups are kept")
	fs.BoolVar(&o.full, "full", false, "make a full backup though an incremental one is possible")
	fs.DurationVar(&o.protect, "protect", 25*time.Hour, "for how long the database keeps what the "+
		"next incremental backup reads; 0: no longer than for AS OF")
	fs.BoolVar(&o.follow, "follow", false, "make an incremental backup --every so often, until a "+
		"signal")
	fs.DurationVar(&o.every, "every", 10*time.Second, "see --follow")
	fs.DurationVar(&o.fullEvery, "full-every", 24*time.Hour, "with --follow, make a full one "+
		"instead that often")
	fs.Func("rate", "how much is read in a second at most, as 20MB (default: as much as comes)",
		func(text string) (err error) { o.rate, err = parseSize(text); return err })
	fs.StringVar(&o.recipients, "recipients", "", "file of public keys (age1…), one in a line: "+
		"the backup is encrypted to them")
	if err := c.parseFlags(fs, args); err != nil {
		return err
	}
	if err := errors.Join(o.store.check(), exclusive(fs, "data", "store", "url")); err != nil {
		return err
	}
	return o.check()
}

func (o *backupOptions) check() error {
	switch {
	case o.store.place(o.data) == "" && o.url == "":
		return usageError("--data, --store or --url is missing")
	case o.to == "":
		return usageError("--to is missing")
	case strings.Contains(o.to, "://"):
		return usageError("--to takes a directory: other places are not supported")
	case o.url != "" && !filepath.IsAbs(o.to):
		return usageError("--to must be an absolute path with --url: the server writes there")
	case o.protect < 0 || o.every <= 0 || o.fullEvery <= 0:
		return usageError("--protect, --every and --full-every must not be negative")
	case o.follow && o.url == "" && !o.store.shared():
		return usageError("--follow is for a server (--url), or a --store that several processes " +
			"share: a directory does not change while this command has it open")
	}
	return nil
}

// backer returns what makes a backup.
func (o *backupOptions) backer() (backer, error) {
	bo := minidb.BackupOptions{Rate: int(o.rate), Protect: o.protect,
		Progress: func(phase string, cells, bytes int64) { o.shown.show(phase, cells, bytes, -1) }}
	if o.protect == 0 {
		bo.Protect = -1
	}
	if o.recipients != "" {
		text, err := os.ReadFile(o.recipients)
		if err != nil {
			return nil, err
		}
		bo.Recipients = string(text)
	}
	if o.url != "" {
		return func(ctx context.Context, full bool) (backedUp, error) {
			bo.Full = full
			return backUpByServer(ctx, o.url, o.to, bo)
		}, nil
	}
	opts, err := o.store.options()
	if err != nil {
		return nil, err
	}
	opts = append(opts, minidb.Logger(quiet()))
	return func(ctx context.Context, full bool) (backedUp, error) {
		bo.Full = full
		b, err := minidb.Backup(ctx, o.store.place(o.data), o.to, bo, opts...)
		return b, advisedOfScheme(err)
	}, nil
}

// one makes a backup and prints what it came to.
func (o *backupOptions) one(ctx context.Context, run backer) error {
	full := o.full && o.lastFull.IsZero() ||
		o.follow && !o.lastFull.IsZero() && time.Since(o.lastFull) >= o.fullEvery
	b, err := run(ctx, full)
	switch {
	case err != nil && ctx.Err() != nil && o.follow:
		return nil // the last backup is whole, and this one goes on the next time
	case err != nil && ctx.Err() != nil:
		return errors.New("interrupted: the same command goes on where it was")
	case err != nil:
		return err
	}
	if b.Base == "" || o.lastFull.IsZero() {
		o.lastFull = time.Now()
	}
	if b.WhyFull != "" {
		fmt.Fprintf(os.Stderr, "a full backup: %s\n", b.WhyFull)
	}
	fmt.Println(backupLine(b.BackupInfo))
	if o.follow || o.protect == 0 {
		return nil
	}
	fmt.Printf("the database keeps what the next incremental backup reads until %s\n",
		time.Now().Add(o.protect).Format(time.RFC3339))
	return nil
}

// backupLine describes a backup in a line.
func backupLine(b minidb.BackupInfo) string {
	line := fmt.Sprintf("%s: as of %s (%d), %d cells, %d bytes in files", b.Name,
		b.At.Format(time.RFC3339Nano), b.Timestamp, b.Cells, b.Size)
	if b.Base != "" {
		line += ", continues " + b.Base
	}
	if b.Encrypted {
		line += ", encrypted"
	}
	return line
}

// placeFlags reads the flags of a command on a place.
func placeFlags(c *command, fs *flag.FlagSet, args []string) (place string, err error) {
	fs.StringVar(&place, "from", "", "directory where backups are kept")
	if err := c.parseFlags(fs, args); err != nil {
		return "", err
	}
	if place == "" {
		return "", usageError("--from is missing")
	}
	return place, nil
}

func listBackups(ctx context.Context, c *command, args []string) error {
	place, err := placeFlags(c, c.flags(), args)
	if err != nil {
		return err
	}
	all, err := minidb.Backups(ctx, place)
	for _, b := range all {
		fmt.Println(backupLine(b))
	}
	return err
}

func pruneBackups(ctx context.Context, c *command, args []string) error {
	fs := c.flags()
	keep := fs.String("keep", "", "how far back every moment can be restored still, as 7d or 36h")
	place, err := placeFlags(c, fs, args)
	if err != nil {
		return err
	}
	span, err := parseDays(*keep)
	if err != nil {
		return usageError("--keep: " + err.Error())
	}
	removed, err := minidb.PruneBackups(ctx, place, time.Now().Add(-span))
	for _, name := range removed {
		fmt.Println("removed", name)
	}
	return err
}

// parseDays reads a duration, which may have days.
func parseDays(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		text = days + "h"
		d, err := time.ParseDuration(text)
		return 24 * d, err
	}
	d, err := time.ParseDuration(text)
	if err == nil && d < 0 {
		err = errors.New("it must not be negative")
	}
	return d, err
}

// backupKey prints a new key, as a file of it has it.
func backupKey(_ context.Context, c *command, args []string) error {
	if err := c.parseFlags(c.flags(), args); err != nil {
		return err
	}
	key, public, err := minidb.NewBackupKey()
	if err != nil {
		return err
	}
	fmt.Printf("# public key, for --recipients: %s\n%s\n", public, key)
	return nil
}
