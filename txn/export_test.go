package txn

import "runtime"

// AwaitSecondaries returns once no transaction of this Store can have a lock in the store any more: the
// background has settled those of all that have ended.
func (s *Store) AwaitSecondaries() {
	for !s.lockers.none() {
		runtime.Gosched()
	}
}
