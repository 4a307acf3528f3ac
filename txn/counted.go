package txn

import "github.com/minidb/minidb/internal/memory"

// countStep is how much the buffer grows until it is counted again: a transaction with less is not
// counted.
const countStep = 1 << 20

// counted is what an account knows of the transaction's buffer.
type counted struct {
	account *memory.Account // nil: nobody counts
	bytes   int64
}

// CountIn makes an account count the buffered writes. It belongs to the transaction's goroutine,
// and has all back when the transaction has ended.
func (t *Txn) CountIn(a *memory.Account) { t.counted.account = a }

// countWrites counts a buffer of so many bytes. room is false when the account has no more: then
// the buffer is streamed out before it is full. What must stay in memory (Freeze) fails with the
// account's error.
func (t *Txn) countWrites(held int64) (room bool, err error) {
	c := &t.counted
	if c.account == nil || held < c.bytes || held < countStep {
		return true, nil
	}
	n := held - c.bytes + countStep
	if t.buf.frozen {
		c.bytes += n
		return true, c.account.Grow(n)
	}
	if room = c.account.TryGrow(n); room {
		c.bytes += n
	}
	return room, nil
}

// uncountWrites gives back what was counted.
func (t *Txn) uncountWrites() {
	t.counted.account.Shrink(t.counted.bytes)
	t.counted.bytes = 0
}
