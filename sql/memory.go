package sql

import (
	"context"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/internal/sqlerr"
)

// memoryOwner is the owner of a session's account: the statement that runs ends when it holds the most and
// there is no more.
type memoryOwner struct{ s *client }

// Running implements memory.Owner.
func (o memoryOwner) Running() context.Context {
	if o.s.within == context.Background() {
		return o.s.running.between // a message is being read
	}
	return o.s.within
}

// End implements memory.Owner.
func (o memoryOwner) End(cause error) bool { return o.s.running.cancelWith(cause) }

// PID implements memory.Owner.
func (o memoryOwner) PID() int32 { return o.s.pid }

// holder is the owner of what outlives statements: to end one would give nothing back.
type holder struct{ memoryOwner }

// End implements memory.Owner.
func (holder) End(error) bool { return false }

// Memory is the account of what the session's statements hold. It is for the session's own goroutine.
func (s *Session) Memory() *memory.Account { return s.memory }

// OutOfMemory is the error for a client of what an account refused.
func OutOfMemory(err error) error { return toSQL(context.Background(), err) }

// outOfMemory is the error of a statement that ended because the process may hold no more.
func outOfMemory(e *memory.ExhaustedError) error {
	out := wrap(sqlerr.OutOfMemory, "out of memory", e)
	if e.Asked > 0 {
		out = out.WithDetail("The session held %d kB and asked for %d kB more; the process may hold %d kB, and none that held more could be ended.",
			e.Held>>10, e.Asked>>10, e.Bound>>10)
	} else {
		out = out.WithDetail("The session held %d kB, the most of all, when the process could hold no more: it may hold %d kB.",
			e.Held>>10, e.Bound>>10)
	}
	return out.WithHint("The view minidb_memory shows what is held. Run fewer such statements at once, or give the process more (serve --memory).")
}
