package txn

import (
	"context"

	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/shared"
)

// SessionLocks are the locks that a client has in a shared store over several transactions.
type SessionLocks = shared.SessionLocks

// SessionRequest is what a client wants of a key by SessionLocks.Lock.
type SessionRequest = shared.SessionRequest

// NewSessionLocks returns the locks of a client whose owner in the memory of this process is given:
// nil where no other process writes to the store, and those in memory are enough.
func (s *Store) NewSessionLocks(ctx context.Context, o *rowlock.Owner) (*SessionLocks, error) {
	if s.peers == nil {
		return nil, nil
	}
	return s.peers.NewSessionLocks(ctx, o)
}

// RestOn makes Commit fail with *WriteConflictError if the transaction writes, and others may have
// taken the session locks that its client has then.
func (t *Txn) RestOn(l *SessionLocks) { t.shared.SetClient(l) }
