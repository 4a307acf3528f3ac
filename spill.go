package minidb

import (
	"path/filepath"

	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/sql/exec/spill"
)

// spillDir is the directory, in that of the database, of the temporary files of statements. What is
// in it is removed when the database is opened.
const spillDir = "spill"

// openSpill returns where statements keep what does not fit memory. A database that is not in files
// of the operating system uses the system's temporary directory.
func (db *DB) openSpill(dir string, engine pebblekv.Options) (*spill.Dir, error) {
	path := ""
	if !engine.InMemory && engine.FS == nil {
		path = filepath.Join(dir, spillDir)
	}
	return spill.NewDir(path, spill.Options{
		Room: func() error { return db.store.Room(false) },
	})
}
