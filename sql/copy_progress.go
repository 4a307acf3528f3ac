package sql

import (
	"context"

	"github.com/minidb/minidb/sql/copyfmt"
	"github.com/minidb/minidb/table"
)

// interruptible is a source that waits for its client.
type interruptible interface {
	// Interrupt makes a wait for the client's next piece, now or later, end with an error.
	Interrupt()
}

// watchedSource counts what a client sends.
type watchedSource struct {
	copyfmt.Source
	ctx  context.Context
	to   *copying
	rows func() int64
}

// watchCopy shows the progress of a COPY FROM, and lets a cancel request reach it while it waits
// for its client.
func (s utility) watchCopy(ctx context.Context, id table.ID, src copyfmt.Source) (copyfmt.Source,
	func()) {
	w := &watchedSource{Source: src, ctx: ctx, to: &copying{relation: id, from: true},
		rows: s.progress.rows.Load}
	s.progress.copying.Store(w.to)
	stop := func() bool { return true }
	if i, ok := src.(interruptible); ok {
		stop = context.AfterFunc(ctx, i.Interrupt)
	}
	return w, func() {
		stop()
		s.progress.copying.Store(nil)
	}
}

func (w *watchedSource) Next() ([]byte, error) {
	if err := w.ctx.Err(); err != nil {
		return nil, err
	}
	b, err := w.Source.Next()
	if cerr := w.ctx.Err(); err != nil && cerr != nil {
		return nil, cerr
	}
	w.to.bytes.Add(int64(len(b)))
	w.to.rows.Store(w.rows())
	return b, err
}

// countedOut counts the rows sent to a client: each piece is a row, except for a header.
type countedOut struct {
	CopyWriter
	to *copying
}

func (o *countedOut) CopyData(b []byte) error {
	o.to.bytes.Add(int64(len(b)))
	o.to.rows.Add(1)
	return o.CopyWriter.CopyData(b)
}
