package wait

import (
	"time"

	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
)

// LockWait is a transaction that waits for a lock in the store: of a commit under way, or a row
// lock of another process. Waits for row locks of this process are the lock table's (package
// rowlock).
type LockWait struct {
	Client  uint64        // of the waiter, as the layers above number them; zero: not known
	StartTS tso.Timestamp // of the waiter
	Key     []byte
	Lock    mvcc.Lock // of the holder, with client and statement as far as its primary has them
	Since   time.Time
	// Mode is what is wanted of a row, which this process's lock table shows as granted, and Held
	// the row lock that is waited for. Both are rowlock.None where neither is one.
	Mode, Held rowlock.Mode
	// Queues reports that the transaction waited for does not have that row lock, but queues for
	// it.
	Queues bool
}
