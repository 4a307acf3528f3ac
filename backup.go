package minidb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/backup"
)

// BackupOptions change how a backup is made. The zero value is what most want.
type BackupOptions struct {
	// Full makes a full backup though an incremental one is possible.
	Full bool
	// Protect is for how long the database keeps what the next incremental backup reads; 0 means 25
	// hours, and negative that the next backup is a full one unless it comes within the retention
	// of AS OF.
	Protect time.Duration
	// Hold is for how long the database keeps the state that is backed up after an interruption, so
	// that the backup can go on; 0 means an hour.
	Hold time.Duration
	// Rate bounds how many bytes of keys and values are read in a second; 0: not.
	Rate int
	// Recipients are public keys of age (https://age-encryption.org), one in a line, to which the
	// backup is encrypted; "": it is not.
	Recipients string
	// Progress is called now and then with what the backup is at, and how many cells and bytes it
	// has.
	Progress func(phase string, cells, bytes int64)
}

// BackupInfo describes a backup.
type BackupInfo struct {
	Name string
	// Base is the backup that it continues; "" for a full one.
	Base string
	// Database distinguishes the databases (of one directory or URL each) that are backed up into a
	// place.
	Database string
	// At is the moment whose state it has, by the database's time, and Timestamp the same as AS OF
	// SYSTEM TIME takes it.
	At        time.Time
	Timestamp uint64
	// Cells are versions of keys, long values and notifications, and Bytes their keys and values.
	// Size is that of the files.
	Cells, Bytes, Size int64
	Encrypted          bool
}

// BackedUp is what a backup came to.
type BackedUp struct {
	BackupInfo
	// Resumed reports whether an earlier call had begun it.
	Resumed bool
	// WhyFull says why it is full though there was one to continue; "" if there was none.
	WhyFull string
}

// ErrBackupDamaged and ErrBackupKey are met by errors of backups that are not what was written, and
// of encrypted ones without their key.
var (
	ErrBackupDamaged = backup.ErrDamaged
	ErrBackupKey     = backup.ErrNoKey
)

// Backup writes a backup of the whole store, all of its databases, into a directory, while it is
// used. It continues the newest one of the store in the directory, with what was committed since,
// and is a full one where there is none or the store has not kept that. A backup that ended early,
// because ctx did for instance, goes on with the next call.
func (db *DB) Backup(ctx context.Context, to string, o BackupOptions) (BackedUp, error) {
	return backUp(ctx, db.store, to, o)
}

// Backup is DB.Backup of a directory that no process has open, or of a store that several processes
// share. Of the options it uses those that Copy uses for its source.
func Backup(ctx context.Context, from, to string, o BackupOptions, opts ...Option) (b BackedUp,
	err error) {
	var with options
	for _, f := range opts {
		f(&with)
	}
	with.mustExist = true
	with.logger = cmp.Or(with.logger, slog.Default())
	source, err := openSource(ctx, from, with)
	if err != nil {
		return b, fmt.Errorf("minidb: back up %s: %w", from, err)
	}
	defer func() { err = errors.Join(err, source.close()) }()
	return backUp(ctx, source.store, to, o)
}

func backUp(ctx context.Context, source *txn.Store, to string, o BackupOptions) (b BackedUp,
	err error) {
	bo := backup.Options{Source: source, To: backup.Directory(to), Full: o.Full,
		Protect: cmp.Or(o.Protect, backup.DefaultProtect), Hold: o.Hold, Rate: o.Rate}
	if o.Recipients != "" {
		if bo.Recipients, err = backup.ParseRecipients(o.Recipients); err != nil {
			return b, fmt.Errorf("minidb: back up: %w", err)
		}
	}
	if o.Progress != nil {
		bo.Progress = func(p backup.Progress) { o.Progress(p.Phase.String(), p.Cells, p.Bytes) }
	}
	r, err := backup.Run(ctx, bo)
	if err != nil {
		return b, fmt.Errorf("minidb: back up to %s: %w", to, err)
	}
	return BackedUp{BackupInfo: infoOf(r.Manifest), Resumed: r.Resumed, WhyFull: r.WhyFull}, nil
}

func infoOf(m *backup.Manifest) BackupInfo {
	b := BackupInfo{Name: m.Name, Base: m.Base, Database: fmt.Sprintf("%x", m.Store), At: m.Time(),
		Timestamp: uint64(m.At)}
	b.Cells, b.Bytes, b.Size = m.Totals()
	for _, f := range m.Files {
		b.Encrypted = b.Encrypted || f.Encrypted
	}
	return b
}

// Backups lists the finished backups in a directory, the oldest first.
func Backups(ctx context.Context, place string) ([]BackupInfo, error) {
	if _, err := os.Stat(place); err != nil {
		return nil, fmt.Errorf("minidb: backups: %w", err)
	}
	all, err := backup.List(ctx, backup.Directory(place))
	if err != nil {
		return nil, fmt.Errorf("minidb: backups in %s: %w", place, err)
	}
	var out []BackupInfo
	for _, m := range all {
		out = append(out, infoOf(m))
	}
	slices.SortStableFunc(out, func(a, b BackupInfo) int { return a.At.Compare(b.At) })
	return out, nil
}

// PruneBackups removes the backups in a directory that no moment since the given one needs, and
// returns their names: of each database it keeps those that are newer, the last one before them,
// and what these continue.
func PruneBackups(ctx context.Context, place string, since time.Time) ([]string, error) {
	removed, err := backup.Prune(ctx, backup.Directory(place), since)
	if err != nil {
		err = fmt.Errorf("minidb: prune %s: %w", place, err)
	}
	return removed, err
}

// NewBackupKey makes a key for encrypted backups: what reads them, and the public part, which is
// for BackupOptions.Recipients.
func NewBackupKey() (key, recipient string, err error) { return backup.NewKey() }

// BackupChoice says which backup is meant: by Name, or the last one that is not after a moment; the
// zero value means the newest one. With backups of several databases in a place it needs a Name.
type BackupChoice struct {
	Name      string
	Time      time.Time
	Timestamp uint64
}

// RestoreOptions change what Restore restores.
type RestoreOptions struct {
	BackupChoice
	// Keys are keys of age, one in a line, that read what is encrypted.
	Keys string
	// Anew empties a target that has an unfinished restore, and begins from the start.
	Anew bool
	// Progress is called now and then with how many cells and bytes are restored, of how many.
	Progress func(bytes, of int64)
}

// Restored is what was restored.
type Restored struct {
	BackupInfo
	// Backups is how many were read, Cells and Bytes what they have together.
	Backups      int
	Cells, Bytes int64
}

// Restore makes a new store of a backup and those that it continues: a directory that is missing or
// empty, or a path of a shared store that no process has used. It shows what the database showed at
// BackupInfo.At, and its history before that. It cannot be opened until Restore has returned
// without an error. Of the options it uses those that Copy uses for its target.
func Restore(ctx context.Context, place, to string, o RestoreOptions, opts ...Option) (r Restored,
	err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("minidb: restore %s to %s: %w", place, to, err)
		}
	}()
	var with options
	for _, f := range opts {
		f(&with)
	}
	with.logger = cmp.Or(with.logger, slog.Default())
	chain, err := choose(ctx, place, o.BackupChoice)
	if err != nil {
		return r, err
	}
	keys, err := backupKeys(o.Keys)
	if err != nil {
		return r, err
	}
	target, err := openTarget(ctx, to, with)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	last := chain[len(chain)-1]
	ro := backup.RestoreOptions{From: backup.Directory(place), Name: last.Name, Target: target,
		Anew: o.Anew, Keys: keys}
	if o.Progress != nil {
		of := int64(0)
		for _, m := range chain {
			_, bytes, _ := m.Totals()
			of += bytes
		}
		ro.Progress = func(_ string, _, bytes int64) { o.Progress(bytes, of) }
	}
	done, err := backup.Restore(ctx, ro)
	return Restored{BackupInfo: infoOf(last), Backups: done.Backups, Cells: done.Cells,
		Bytes: done.Bytes}, err
}

// VerifyBackup reads the files of a backup and of those that it continues, and compares them with
// what their manifests say. It returns how many cells and bytes they have. What Check proves needs
// a Restore.
func VerifyBackup(ctx context.Context, place string, of BackupChoice, keys string) (info BackupInfo,
	cells, bytes int64, err error) {
	chain, err := choose(ctx, place, of)
	if err == nil {
		info = infoOf(chain[len(chain)-1])
		var by []backup.Key
		if by, err = backupKeys(keys); err == nil {
			cells, bytes, err = backup.Verify(ctx, backup.Directory(place), info.Name, by)
		}
	}
	if err != nil {
		err = fmt.Errorf("minidb: verify %s: %w", place, err)
	}
	return info, cells, bytes, err
}

func backupKeys(text string) ([]backup.Key, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	return backup.ParseKeys(text)
}

// choose returns the chain of the backup that is meant.
func choose(ctx context.Context, place string, c BackupChoice) ([]*backup.Manifest, error) {
	if _, err := os.Stat(place); err != nil {
		return nil, err
	}
	all, err := backup.List(ctx, backup.Directory(place))
	if err != nil {
		return nil, err
	}
	if c.Name != "" {
		return backup.Chain(all, c.Name)
	}
	var found *backup.Manifest
	for _, m := range all {
		if len(all) > 0 && string(m.Store) != string(all[0].Store) {
			return nil, errors.New("there are backups of several databases: name one of them")
		}
		late := !c.Time.IsZero() && m.Time().After(c.Time) ||
			c.Timestamp != 0 && uint64(m.At) > c.Timestamp
		if !late && (found == nil || m.At > found.At) {
			found = m
		}
	}
	switch {
	case found == nil && len(all) > 0:
		first := slices.MinFunc(all,
			func(a, b *backup.Manifest) int { return cmp.Compare(a.At, b.At) })
		return nil, fmt.Errorf("there is no backup of that moment: the first is of %s",
			first.Time().UTC().Format(time.RFC3339Nano))
	case found == nil:
		return nil, errors.New("there is no finished backup")
	}
	return backup.Chain(all, found.Name)
}
