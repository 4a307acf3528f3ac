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
