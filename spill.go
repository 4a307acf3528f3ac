package minidb

import (
	"path/filepath"

	"github.com/minidb/minidb/internal/scratch"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/sql/exec/spill"
)

// spillDir is the directory, in that of the database, of temporary files. What is in it is removed
// when the database is opened.
const spillDir = "spill"

// spillPath returns where temporary files are, "" for the system's temporary directory: where a
// database is not in files of this machine's operating system.
func spillPath(dir string, engine pebblekv.Options) string {
	if dir == "" || !inFiles(engine) {
		return ""
	}
	return filepath.Join(dir, spillDir)
}

// inFiles reports whether an engine keeps its data in files of the operating system.
func inFiles(o pebblekv.Options) bool { return !o.InMemory && o.FS == nil }

// openSpill returns where statements keep what does not fit memory.
func openSpill(path string, room func() error) (*spill.Dir, error) {
	return spill.NewDir(path, spill.Options{Room: room})
}

// openColumnFile returns the file of columns for which memory has no room, nil: there is none.
func (db *DB) openColumnFile(eo pebblekv.Options) *scratch.File {
	if db.local == nil {
		return nil // columns are kept of a store of this process alone
	}
	free, known := db.local.Free()
	limit := db.opts.columnFile
	if limit < 0 || db.columnCache == 0 || !known || !inFiles(eo) {
		return nil
	}
	if limit == 0 {
		limit = min(columnFileShare*db.columnCache, int64(free/10))
	}
	return scratch.New(scratch.Options{
		Limit:  limit,
		Create: func() (scratch.Handle, error) { return scratch.CreateIn(spillPath(db.dir, eo)) },
		Room: func() error {
			if db.local.Tight() {
				return scratch.ErrLimit
			}
			return nil
		},
	})
}

// columnFileShare is how large the file of columns is at most, in column caches.
const columnFileShare = 64
