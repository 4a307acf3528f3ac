package planted

// firstOfSQL leaves room for the bugs of histories.
const firstOfSQL Bug = 96

// The bugs above the transaction layer, which only the histories of tests/sqlhistory meet.
const (
	// OldEntryKept: an update leaves the index entry of the row as it was.
	OldEntryKept Bug = firstOfSQL + iota
	// EntryLost: an update that changes an indexed column writes no entry for the new value.
	EntryLost
	// WritesKept: a statement that runs again keeps what its first run wrote.
	WritesKept
	// SavepointForgotten: ROLLBACK TO leaves the writes made since the savepoint.
	SavepointForgotten
	// UnlockedRead: FOR UPDATE and its like take no lock.
	UnlockedRead
	// UntestedSecondLook: a second look takes the row as it is now without testing the WHERE again.
	UntestedSecondLook
	// UnheldParent: the check of a foreign key finds the row that is referred to, and does not hold it.
	UnheldParent
	// UnseenChildren: the removal of a row that is referred to looks for those who refer in its snapshot alone.
	UnseenChildren

	endOfSQL
)

var namesOfSQL = [endOfSQL - firstOfSQL]string{
	"old index entry kept", "index entry lost", "statement repeated with its writes kept",
	"writes kept by ROLLBACK TO", "no lock for FOR UPDATE", "second look without the WHERE",
	"referenced row not held", "references newer than the snapshot not seen",
}

// OfSQL lists the bugs above the transaction layer.
func OfSQL() []Bug { return from(firstOfSQL, endOfSQL) }
