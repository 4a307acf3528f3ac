package types

import "time"

// Format holds the session settings that text output and input depend on.
type Format struct {
	DateStyle        string // "ISO", "SQL", "Postgres" or "German"
	DateOrder        string // "MDY", "DMY" or "YMD"
	IntervalStyle    string // "postgres", "iso_8601", "sql_standard", "postgres_verbose"
	ByteaOutput      string // "hex" or "escape"
	ExtraFloatDigits int
	Location         *time.Location
	// what 'now' and 'today' mean: the transaction's start; zero is the clock
	Now time.Time
	Reg RegResolver
}

// DefaultFormat is PostgreSQL's default, in UTC.
var DefaultFormat = Format{
	DateStyle: "ISO", DateOrder: "MDY", IntervalStyle: "postgres", ByteaOutput: "hex",
	ExtraFloatDigits: 1, Location: time.UTC,
}
