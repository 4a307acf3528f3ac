package expr

// Backup is what minidb_backup has written.
type Backup struct {
	Name, Base         string // Base is the one that it continues; "": none
	At                 int64  // whose state it has: microseconds since 2000, UTC
	Timestamp          uint64
	Cells, Bytes, Size int64
	Resumed            bool
	WhyFull            string // though there was one to continue; "": there was none, or it does
}

// Backups backs the database up.
type Backups interface {
	// Backup writes a backup into a place of the server. options is a JSON object, or "".
	Backup(place, options string) (Backup, error)
}
