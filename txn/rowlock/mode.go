package rowlock

// Mode is the strength of a lock. Each conflicts with all that a weaker one conflicts with.
type Mode uint8

// The modes, weakest first.
const (
	None Mode = iota
	KeyShare
	Share
	NoKeyUpdate
	Update
)

// conflicts holds for each mode the set of modes that exclude it.
var conflicts = [...]uint8{
	KeyShare:    1 << Update,
	Share:       1<<NoKeyUpdate | 1<<Update,
	NoKeyUpdate: 1<<Share | 1<<NoKeyUpdate | 1<<Update,
	Update:      1<<KeyShare | 1<<Share | 1<<NoKeyUpdate | 1<<Update,
	None:        0,
}

// Conflicts reports whether two owners may not hold m and other of one key.
func (m Mode) Conflicts(other Mode) bool { return conflicts[m]&(1<<other) != 0 }

var modeNames = [...]string{"none", "key share", "share", "no key update", "update"}

func (m Mode) String() string { return modeNames[m] }
