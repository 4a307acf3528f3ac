package types

import "time"

// Format holds the session settings that text output and input depend on.
type Format struct {
	DateStyle        string // "ISO", "SQL", "Postgres" or "German"
	DateOrder        string // "MDY", "DMY" or "YMD"
	IntervalStyle    string // "postgres", "iso_8601", "sql_standard", "postgres_verbose"
	ByteaOutput      string // "hex" or "escape"
	ExtraFloatDigits int
	XMLDocument      bool // xmloption: a text of type xml shall be a document, not content
	XMLHex           bool // xmlbinary: bytea in xml is hex, not base64
	QuoteAll         bool // quote_all_identifiers: names are printed in quotes, all of them
	Location         *time.Location
	// what 'now' and 'today' mean: the transaction's start; zero is the clock
	Now time.Time
	Reg RegResolver
	// Work is counted while large texts are read; nil: it is not.
	Work Work
	// Runtime is what the functions in the constraints of domains have access to: the planner's
	// expr.Runtime of the statement; nil where none runs.
	Runtime any
}

// RegResolver turns the OIDs of the reg* types into names and back. The catalog is one; without it
// reg* values are shown as numbers.
type RegResolver interface {
	// RegName returns the text of an OID of the reg* type; ok is false when there is no such
	// object.
	RegName(typ, oid OID) (name string, ok bool)
	// RegOID finds the object that the text names.
	RegOID(typ OID, name string) (OID, error)
}

// AccessItems is an optional interface of a RegResolver: it reads the text of an aclitem, whose
// roles must exist, and returns it as it is printed.
type AccessItems interface {
	AccessItem(text string) (string, error)
}

// Work receives how many bytes of a large value have been read or written. It returns the error
// with which to stop: that of the statement's context when it has ended.
type Work interface {
	Tick(bytes int) error
}

// workPiece is how many bytes pass between two calls of Work.
const workPiece = 64 << 10

// pieces counts the way through a text for Work.
type pieces struct {
	work Work
	from int
}

// reach is called with how far the text has been read.
func (p *pieces) reach(i int) error {
	if p.work == nil || i-p.from < workPiece {
		return nil
	}
	n := i - p.from
	p.from = i
	return p.work.Tick(n)
}

// DefaultFormat is PostgreSQL's default, in UTC.
var DefaultFormat = Format{
	DateStyle: "ISO", DateOrder: "MDY", IntervalStyle: "postgres", ByteaOutput: "hex",
	ExtraFloatDigits: 1, Location: time.UTC,
}
