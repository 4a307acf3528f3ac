package observer

import (
	"bytes"
	"errors"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
)

// errFull ends a scan.
var errFull = errors.New("the queue is full")

// feed brings rows into the queue that no commit of this process has woken it for: at first what a
// crash, or a time without workers, has left, and the rows of a backfill, and later what did not
// fit. Once that is done it removes what runs before a crash have left.
func (p *Pool) feed() {
	var from []byte // where a scan goes on; nil: none has begun
	for p.awaitRoom(from != nil) {
		next, err := p.fill(from)
		if err != nil {
			p.failedToFeed(err)
			continue
		}
		from = next
	}
}

// awaitRoom waits until there is something to feed and room for it. It reports false at the end.
func (p *Pool) awaitRoom(scanning bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	idle := func() bool { return !scanning && !p.rescan && !p.filling && !p.cleaning }
	for !p.stopped && (idle() || len(p.rows) > p.opts.rowsMax/2) {
		p.room.Wait()
	}
	return !p.stopped
}

// fill scans for notifications from a key on, or else announces the next rows of a backfill, or
// else cleans up. It returns where the scan goes on, nil at its end.
func (p *Pool) fill(from []byte) (next []byte, err error) {
	p.mu.Lock()
	if from == nil && p.rescan {
		// What is notified from now on is seen, or asks for another scan.
		from, p.rescan, p.scanning = p.opts.Target.Rows.Start, false, true
	}
	filling := p.filling
	p.mu.Unlock()
	switch {
	case from != nil:
		return p.scan(from)
	case filling:
		return nil, p.fillBack()
	}
	if err := p.opts.Target.CleanUp(p.ctx, p.s); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cleaning = false
	p.progress()
	return nil, nil
}

// fillBack announces the next rows of a backfill.
func (p *Pool) fillBack() error {
	keys, done, err := p.opts.Target.BackfillStep(p.ctx, p.s)
	if err != nil {
		return err
	}
	p.mu.Lock()
	if done {
		p.filling = false
		p.progress()
	}
	p.mu.Unlock()
	if len(keys) > 0 {
		p.Wake(keys)
	}
	return nil
}

// scan adds the rows of notifications to the queue until it is full.
func (p *Pool) scan(from []byte) (next []byte, err error) {
	o := &p.opts.Target
	span := kv.Span{Start: from, End: o.Rows.End}
	err = p.s.Notifications(p.ctx, span, func(key []byte, n *txn.Notification) error {
		if n.Observer != o.ID {
			return nil
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		// A row that runs may have a snapshot from before this notification, and runs again.
		if !p.add(string(key)) {
			next = bytes.Clone(key)
			return errFull
		}
		return nil
	})
	if errors.Is(err, errFull) {
		return next, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rescan = p.rescan || err != nil
	if err == nil {
		p.scanning = false
		p.progress()
	}
	return nil, err
}

// failedToFeed waits after an error, for the store may be full or closed.
func (p *Pool) failedToFeed(err error) {
	if p.ctx.Err() != nil {
		return
	}
	p.opts.Failed(nil, err, 0, false)
	select {
	case <-p.ctx.Done():
	case <-time.After(p.opts.feedPause):
	}
}
