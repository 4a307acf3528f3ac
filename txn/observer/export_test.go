package observer

import "time"

// Lowered returns options of a pool that remembers so many rows at most, and goes on at once after
// an error of the store.
func (o Options) Lowered(rowsMax int) Options {
	o.rowsMax, o.feedPause = rowsMax, time.Nanosecond
	return o
}

// Lowered returns a target whose backfills announce so many rows in a step.
func (o Target) Lowered(backfillRows int) Target {
	o.backfillRows = backfillRows
	return o
}

// StateAck returns the key of a row's acknowledgement.
func (o *Target) StateAck(key []byte) []byte { return o.stateKey(stateAck, key) }

// Idle reports whether the pool has nothing left to do: what is notified and not acknowledged now
// is lost to it.
func (p *Pool) Idle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.rows) == 0 && !p.due && !p.rescan && !p.scanning && !p.filling && !p.cleaning
}

// ByHand returns options of a pool that goes on patrol only when a test asks for it.
func (o Options) ByHand() Options {
	o.patrolPause = -1
	return o
}

// Patrol lets the pool go on patrol.
func (p *Pool) Patrol() { p.goOnPatrol() }
