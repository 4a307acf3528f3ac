package txn

import "github.com/minidb/minidb/internal/memory"

// countStep is how much the buffer grows until it is counted again: a transaction with less is not
// counted.
const countStep = 1 << 20

// counted is what an account knows of the transaction's buffer.
type counted struct {
	account *memory.Account // nil: the buffer is not counted
	bytes   int64
}

// writes counts a buffer of so many bytes. room is false when the account has no more: then the
// buffer is to be streamed out before it is full. What must stay in memory fails with the account's
// error.
func (c *counted) writes(held int64, stays bool) (room bool, err error) {
	if c.account == nil || held < c.bytes || held < countStep {
		return true, nil
	}
	n := held - c.bytes + countStep
	if stays {
		c.bytes += n
		return true, c.account.Grow(n)
	}
	if room = c.account.TryGrow(n); room {
		c.bytes += n
	}
	return room, nil
}

// none gives back what was counted.
func (c *counted) none() {
	c.account.Shrink(c.bytes)
	c.bytes = 0
}
