package commit

import (
	"github.com/minidb/minidb/txn/hints"
	"github.com/minidb/minidb/txn/mvcc"
)

// streamState is what the steps of a large transaction's commit know of what went out before.
type streamState struct {
	primary    []mvcc.Mutation // it alone
	keys       streamedKeys
	lockHolder *hints.LockHolder
	doubt      bool // some of the last writes may have been prewritten: Mutation.Held may be wrong
}
