package exec

import (
	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/internal/sqlerr"
)

// budget counts the bytes that the operators of one statement hold, and draws them from the
// session's account. It belongs to one goroutine at a time.
type budget struct {
	used, limit int64           // limit 0: none
	account     *memory.Account // nil: none
	share       int64           // what an operator may hold before it spills; 0: it never does
}

// leastShare is what an operator may hold, in bytes, however little memory there is: it would
// otherwise write a file for each of its batches.
const leastShare = 1 << 20

// full reports whether an operator that holds so many bytes should write them to disk before it
// takes more: when they exceed its share, when the statement comes near its bound, and when the
// process has little memory left.
func (b *budget) full(held, more int64) bool {
	switch {
	case b.share == 0 || held == 0:
		return false
	case held+more > b.share:
		return true
	case b.limit > 0 && b.used+more > b.limit/4*3 && held > b.limit/8:
		return true
	case held+more < leastShare:
		return false
	}
	return !b.room(more)
}

// room reports whether the statement and the process have room for n more bytes that an operator
// can do without.
func (b *budget) room(n int64) bool {
	if b.limit > 0 && b.used+n > b.limit {
		return false
	}
	if !b.account.TryGrow(n) {
		return false
	}
	b.account.Shrink(n)
	return true
}

// grow counts n bytes that are about to be allocated. They count even when it returns an error.
func (b *budget) grow(n int64) error {
	b.used += n
	if b.limit > 0 && b.used > b.limit {
		b.account.Owe(n)
		return sqlerr.New(sqlerr.OutOfMemory, "out of memory").
			WithDetail("The statement holds more than %d kB in sorts, joins, aggregates and "+
				"values.", b.limit/1024).
			WithHint("Consider increasing the configuration parameter \"minidb.statement_memory\".")
	}
	return b.account.Grow(n)
}

func (b *budget) shrink(n int64) {
	b.used -= n
	b.account.Shrink(n)
}

// close gives back what is still counted.
func (b *budget) close() { b.shrink(b.used) }

// Grow and Shrink count what functions hold: expr.Account.
func (b *budget) Grow(n int64) error { return b.grow(n) }

func (b *budget) Shrink(n int64) { b.shrink(n) }

// Held counts what the caller of a plan keeps of its rows, against the same bounds as what the
// operators hold.
type Held struct{ budget budget }

// NewHeld returns a count for a statement that runs in e.
func (e *Env) NewHeld() *Held {
	return &Held{budget: budget{limit: e.MemoryLimit, account: e.Memory}}
}

// Grow counts n bytes. They count even when it returns an error.
func (h *Held) Grow(n int64) error { return h.budget.grow(n) }

// Release gives all of them back.
func (h *Held) Release() { h.budget.close() }
