package txn

import (
	"context"
)

// SetStatement sets the statement that the transaction runs from now on, and the context that ends
// it: a write that is streamed out, and may have to wait for others, ends with it. The primary's
// lock has the text of the last statement that wrote, cut to mvcc.StatementMax bytes, for clients
// that wait for it; row locks have that of the statement that took them.
func (t *Txn) SetStatement(ctx context.Context, text string) {
	t.waiter.Statement, t.statementCtx = text, ctx
	if t.waiter.Owner != nil {
		t.waiter.Owner.SetStatement(text)
	}
	if t.companion != nil {
		t.companion.SetStatement(ctx, text)
	}
}

// writeContext returns the statement's context. For a transaction without a statement it is that of
// its last read, unless that has ended: a write after it belongs to something else.
func (t *Txn) writeContext() context.Context {
	if t.statementCtx != nil {
		return t.statementCtx
	}
	return t.readContext()
}

// readContext returns the context of the last read, as long as it lasts.
func (t *Txn) readContext() context.Context {
	if t.ctx.Err() != nil {
		return context.WithoutCancel(t.ctx)
	}
	return t.ctx
}
