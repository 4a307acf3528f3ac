package sql

import "context"

// lasting is a context that all statements of a session have in common. The session watches it
// once, so that no statement has to: a context with a parent that may end takes the parent's lock
// twice, and all sessions of a server have the same one.
type lasting struct {
	ctx     context.Context
	endless context.Context // ctx that does not end
	stop    func() bool     // nil: there is no such context
}

// LastsWith makes the session end with ctx: the statement that runs then, and every later one. The
// caller passes the same ctx to all that it has the session do.
func (s *Session) LastsWith(ctx context.Context) {
	s.lasting = lasting{ctx: ctx, endless: context.WithoutCancel(ctx),
		stop: context.AfterFunc(ctx, func() { s.running.end(context.Cause(ctx)) })}
}

// parent returns what the context of a statement that is run in ctx descends from.
func (l *lasting) parent(ctx context.Context) context.Context {
	if l.stop != nil && ctx == l.ctx {
		return l.endless
	}
	return ctx
}

// forget stops watching.
func (l *lasting) forget() {
	if l.stop != nil {
		l.stop()
	}
}
