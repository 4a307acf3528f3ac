package sql

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/backup"
)

// backingUp is the progress of a backup. Other sessions read it.
type backingUp struct {
	phase        atomic.Int32 // backup.Phase
	cells, bytes atomic.Int64
}

// backupOptions are those of minidb_backup.
type backupOptions struct {
	Full       bool     `json:"full"`
	Protect    string   `json:"protect"` // an interval
	Rate       int      `json:"rate"`    // bytes in a second
	Recipients []string `json:"recipients"`
}

func readBackupOptions(text string) (o backup.Options, err error) {
	if text == "" {
		text = "{}"
	}
	var read backupOptions
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&read); err != nil {
		return o, sqlerr.New(sqlerr.InvalidParameterValue, "options of minidb_backup: %s",
			strings.TrimPrefix(err.Error(), "json: ")).WithHint("They are an object of full " +
			"(boolean), protect (interval), rate (bytes in a second) and recipients (array of " +
			"public keys).")
	}
	o.Full, o.Rate, o.Protect = read.Full, max(read.Rate, 0), backup.DefaultProtect
	if read.Protect != "" {
		iv, err := types.ParseInterval(read.Protect, -1)
		if err != nil {
			return o, err
		}
		o.Protect = types.IntervalDuration(iv)
	}
	o.Recipients, err = backup.ParseRecipients(strings.Join(read.Recipients, "\n"))
	if len(read.Recipients) == 0 {
		return o, nil
	}
	if err != nil {
		return o, sqlerr.New(sqlerr.InvalidParameterValue, "%s", err)
	}
	return o, nil
}

// Backup is expr.Backups.
func (f *accessor) Backup(place, options string) (b expr.Backup, err error) {
	if err := f.mayCall("minidb_backup"); err != nil {
		return b, err
	}
	o, err := readBackupOptions(options)
	if err != nil {
		return b, err
	}
	if !filepath.IsAbs(place) {
		return b, sqlerr.New(sqlerr.InvalidName, "relative path not allowed for minidb_backup").
			WithHint("The backup is written by the server, into a directory of its machine.")
	}
	o.Source, o.To = f.s.engine.store, backup.Directory(place)
	now := new(backingUp)
	f.s.progress.backup.Store(now)
	defer f.s.progress.backup.Store(nil)
	o.Progress = func(p backup.Progress) {
		now.phase.Store(int32(p.Phase))
		now.cells.Store(p.Cells)
		now.bytes.Store(p.Bytes)
	}
	r, err := backup.Run(f.ctx, o)
	if err != nil {
		return b, backupError(err)
	}
	b = expr.Backup{Name: r.Name, Base: r.Base, At: types.TimestampFromTime(r.Time()),
		Timestamp: uint64(r.At), Resumed: r.Resumed, WhyFull: r.WhyFull}
	b.Cells, b.Bytes, b.Size = r.Totals()
	return b, nil
}

// backupError gives errors of files their codes.
func backupError(err error) error {
	var path *fs.PathError
	switch {
	case errors.Is(err, backup.ErrTakenOver):
		return sqlerr.New(sqlerr.ObjectInUse, "%s", err)
	case errors.Is(err, backup.ErrDamaged):
		return sqlerr.New(sqlerr.DataCorrupted, "%s", err)
	case errors.As(err, &path):
		return sqlerr.New(sqlerr.IOError, "backup: %s", err).WithHint("What is finished is kept: " +
			"the same call goes on where it was.")
	}
	return err
}

// Holds is part of pgcatalog.Env.
func (c catalogEnv) Holds(ctx context.Context) ([]txn.HeldPast, error) {
	return c.s.engine.store.HeldPasts(ctx)
}
