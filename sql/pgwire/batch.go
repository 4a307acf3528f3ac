package pgwire

import (
	"context"

	"github.com/minidb/minidb/sql"
)

// batch remembers what was done and said since the first Execute of an implicit transaction, so
// that a conflict can be answered by doing it again. It is empty while there is nothing to repeat.
type batch struct {
	from  mark
	steps []step
	size  int
}

// step is an Execute, or (portal nil) what other messages were answered.
type step struct {
	portal *sql.Portal
	limit  int64
	said   []byte
	// function: its one value is the reply, a FunctionCallResponse.
	function bool
}

// maxBatch bounds the steps and bytes that are kept; longer batches are not repeated.
const maxBatch = flushAt

func (b *batch) clear() { b.steps, b.size = b.steps[:0], 0 }

// said adds the replies to messages between the Executes.
func (b *batch) said(out []byte) {
	if len(b.steps) == 0 || b.size > maxBatch || len(out) == 0 {
		return
	}
	b.size += len(out)
	b.steps = append(b.steps, step{said: append([]byte(nil), out...)})
}

// run does an Execute, and if it meets a conflict repeats the batch.
func (b *batch) run(ctx context.Context, c *conn, s step) error {
	if c.session.Status() != 'I' { // a block is repeated by its client
		return s.run(ctx, c)
	}
	if len(b.steps) == 0 {
		b.from, b.size = c.out.mark(), 0
	}
	if b.size <= maxBatch {
		b.size += 64
		b.steps = append(b.steps, s)
	}
	err := s.run(ctx, c)
	if c.session.Status() != 'I' { // BEGIN
		b.clear()
	}
	return b.repeat(ctx, c, err, false)
}

// commit ends the implicit transaction, and if that meets a conflict repeats the batch.
func (b *batch) commit(ctx context.Context, c *conn) error {
	return b.repeat(ctx, c, c.session.Sync(ctx), true)
}

// repeat does the batch again after err, while it ends with a conflict and the client has seen
// nothing of it.
func (b *batch) repeat(ctx context.Context, c *conn, err error, commit bool) error {
	if err == nil || len(b.steps) == 0 || b.size > maxBatch {
		return err
	}
	return c.session.Retry(ctx, err, func() bool { return c.out.rewind(b.from) },
		func() error { return b.replay(ctx, c, commit) })
}

// replay does the steps of the batch once more.
func (b *batch) replay(ctx context.Context, c *conn, commit bool) error {
	for i := range b.steps {
		if p := b.steps[i].portal; p != nil {
			c.session.Rewound(p)
		}
	}
	for i := range b.steps {
		if err := b.steps[i].run(ctx, c); err != nil {
			return err
		}
	}
	if !commit {
		return nil
	}
	return c.session.Sync(ctx)
}

func (s *step) run(ctx context.Context, c *conn) error {
	if s.portal == nil {
		c.out.buf = append(c.out.buf, s.said...)
		return nil
	}
	c.results = resultWriter{c: c, codes: s.portal.Formats, function: s.function}
	suspended, err := c.session.Execute(ctx, s.portal, max(s.limit, 0), &c.results)
	if err == nil && suspended {
		c.out.simple('s')
	}
	return err
}
