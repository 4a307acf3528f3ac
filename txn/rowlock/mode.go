package rowlock

import "math/bits"

// Mode is the strength of a lock.
type Mode uint8

// The modes of rows, weakest first. Each conflicts with all that a weaker one conflicts with.
const (
	None Mode = iota
	KeyShare
	Share
	NoKeyUpdate
	Update

	// The modes of tables, and of advisory locks: PostgreSQL's eight.
	AccessShare
	RowShare
	RowExclusive
	ShareUpdateExclusive
	TableShare
	ShareRowExclusive
	Exclusive
	AccessExclusive

	modeCount
)

// modes is a set of modes.
type modes uint16

func setOf(ms ...Mode) (s modes) {
	for _, m := range ms {
		s |= m.bit()
	}
	return s
}

// conflicts holds for each mode the set of modes that exclude it.
var conflicts = [modeCount]modes{
	KeyShare:    setOf(Update),
	Share:       setOf(NoKeyUpdate, Update),
	NoKeyUpdate: setOf(Share, NoKeyUpdate, Update),
	Update:      setOf(KeyShare, Share, NoKeyUpdate, Update),

	AccessShare:  setOf(AccessExclusive),
	RowShare:     setOf(Exclusive, AccessExclusive),
	RowExclusive: setOf(TableShare, ShareRowExclusive, Exclusive, AccessExclusive),
	ShareUpdateExclusive: setOf(ShareUpdateExclusive, TableShare, ShareRowExclusive, Exclusive,
		AccessExclusive),
	TableShare: setOf(RowExclusive, ShareUpdateExclusive, ShareRowExclusive, Exclusive,
		AccessExclusive),
	ShareRowExclusive: setOf(RowExclusive, ShareUpdateExclusive, TableShare, ShareRowExclusive,
		Exclusive, AccessExclusive),
	Exclusive: setOf(RowShare, RowExclusive, ShareUpdateExclusive, TableShare,
		ShareRowExclusive, Exclusive, AccessExclusive),
	AccessExclusive: setOf(AccessShare, RowShare, RowExclusive, ShareUpdateExclusive, TableShare,
		ShareRowExclusive,
		Exclusive, AccessExclusive),
}

// Conflicts reports whether two owners may not hold m and other of one key.
func (m Mode) Conflicts(other Mode) bool { return conflicts[m].has(other) }

// ofRow reports whether m is a mode of rows.
func (m Mode) ofRow() bool { return m <= Update }

// weak reports whether m is a mode of tables that excludes none of these modes. PostgreSQL keeps
// locks in such modes out of its shared table, too.
func (m Mode) weak() bool { return m >= AccessShare && m <= RowExclusive }

// strong reports whether m is a mode of tables that excludes a weak one.
func (m Mode) strong() bool { return m >= TableShare }

func (m Mode) bit() modes { return 1 << m }

func (s modes) has(m Mode) bool { return s&m.bit() != 0 }

// excludes reports whether a request for m must wait for another owner that holds s.
func (s modes) excludes(m Mode) bool { return s&conflicts[m] != 0 }

// covers reports whether an owner that holds s has what a request for m would give. Of rows the
// strongest mode includes the others. Of tables each mode is held by itself, as PostgreSQL shows
// them.
func (s modes) covers(m Mode) bool {
	if m.ofRow() {
		return s.strongest() >= m
	}
	return s.has(m)
}

// strongest returns the highest mode of the set, None for an empty one.
func (s modes) strongest() Mode { return Mode(max(bits.Len16(uint16(s)), 1) - 1) }

var modeNames = [modeCount]string{"none", "key share", "share", "no key update", "update",
	"access share", "row share",
	"row exclusive", "share update exclusive", "share", "share row exclusive", "exclusive",
	"access exclusive"}

func (m Mode) String() string { return modeNames[m] }
