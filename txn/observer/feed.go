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
	var left []kv.Span // what a scan has left; nil: none has begun
	for p.awaitRoom(left != nil) {
		rest, err := p.fill(left)
		if err != nil {
			p.failedToFeed(err)
			continue
		}
		left = rest
	}
}

// awaitRoom waits until there is something to feed and room for it. It reports false at the end.
func (p *Pool) awaitRoom(scanning bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	idle := func() bool {
		patrols := p.due && p.patrolled == 0 // a patrol waits for what it has found
		return !scanning && !p.rescan && !p.filling && !p.cleaning && !patrols
	}
	for !p.stopped && (idle() || len(p.rows) > p.opts.rowsMax/2) {
		p.room.Wait()
	}
	return !p.stopped
}

// fill goes on with a scan for notifications, or else announces the next rows of a backfill, or
// else cleans up, or goes on patrol. It returns what the scan has left, nil at its end.
func (p *Pool) fill(left []kv.Span) (rest []kv.Span, err error) {
	target, err := p.target()
	if err != nil {
		return left, err
	}
	p.mu.Lock()
	if left == nil && p.rescan {
		// What is notified from now on is seen, or asks for another scan.
		left, p.rescan, p.scanning = target.Spans(), false, true
	}
	filling, cleaning := p.filling, p.cleaning
	p.mu.Unlock()
	switch {
	case left != nil:
		return p.scan(&target, left)
	case filling:
		return nil, p.fillBack(&target)
	case cleaning:
		return nil, p.cleanUp(&target)
	}
	return nil, p.walkOn(&target)
}

// cleanUp is repeated when there is nothing else to do, as long as it leaves something.
func (p *Pool) cleanUp(target *Target) error {
	p.mu.Lock()
	runs := p.stats.Runs
	p.mu.Unlock()
	left, err := target.CleanUp(p.ctx, p.s)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pruning = left
	// What there was to do has been done meanwhile, perhaps.
	p.cleaning = left && len(p.rows) == 0 && runs != p.stats.Runs
	p.progress()
	return nil
}

// target returns the observer as it is registered now: a table-level change gives its rows another
// place.
func (p *Pool) target() (Target, error) {
	if p.opts.Place == nil {
		return p.opts.Target, nil
	}
	return p.opts.Place(p.ctx)
}

// fillBack announces the next rows of a backfill.
func (p *Pool) fillBack(target *Target) error {
	p.mu.Lock()
	carried := p.carried
	p.mu.Unlock()
	keys, done, err := target.BackfillStep(p.ctx, p.s)
	var conflict *txn.WriteConflictError
	if errors.As(err, &conflict) && p.shared {
		return nil // another process has taken the step
	}
	if err != nil {
		return err
	}
	p.mu.Lock()
	if done && carried == p.carried {
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
func (p *Pool) scan(target *Target, left []kv.Span) (rest []kv.Span, err error) {
	for i, span := range left {
		err := p.s.Notifications(p.ctx, span, func(key []byte, n *txn.Notification) error {
			if n.Observer != target.ID {
				return nil
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			// A row that runs may have a snapshot from before this notification, and runs again.
			if !p.add(string(target.RunKey(key))) {
				span.Start = bytes.Clone(key)
				return errFull
			}
			return nil
		})
		switch {
		case errors.Is(err, errFull):
			return append([]kv.Span{span}, left[i+1:]...), nil
		case err != nil:
			p.mu.Lock()
			defer p.mu.Unlock()
			p.rescan = true
			return nil, err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.scanning = false
	p.progress()
	return nil, nil
}

// carry works off a table-level change. It is no run: rows run meanwhile.
func (p *Pool) carry(place string) (res Result) {
	for p.ctx.Err() == nil {
		keys, found, err := p.opts.Target.Carry(p.ctx, p.s, []byte(place))
		if len(keys) > 0 {
			p.Wake(keys)
		}
		var conflict *txn.WriteConflictError
		switch {
		case err != nil:
			return Result{Err: err, Conflict: errors.As(err, &conflict)}
		case found != Pending:
			return Result{Found: found}
		}
		p.mu.Lock()
		p.stats.Carried += int64(len(keys))
		// The last step may begin a backfill, and what it has left is to be forgotten.
		p.carried++
		p.filling, p.pruning = true, true
		p.room.Signal()
		p.mu.Unlock()
	}
	return Result{Found: Later}
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
