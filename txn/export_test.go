package txn

import "runtime"

// AwaitSecondaries returns once no transaction of this Store can have a lock in the store any more:
// the background has settled those of all that have ended.
func (s *Store) AwaitSecondaries() {
	for !s.memory.LockHolders.None() {
		runtime.Gosched()
	}
}

// TakeForDead makes the Store forget what it knows of the transactions that have locks in the
// store: a transaction that meets one judges it by its primary, its owner's session and the time to
// live. So tests play a resolver of another process, wrong about an owner or right, on an engine
// that has no other processes.
func (s *Store) TakeForDead() {
	s.memory.LockHolders.Forget()
}

// RowsHeld is what the row cache holds, in bytes.
func (s *Store) RowsHeld() int64 { return s.memory.RowsHeld() }
