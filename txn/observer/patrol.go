package observer

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
)

// On a store that several processes share a pool also finds what others have committed, and what
// the dead have left: it goes on patrol now and then, through all notifications, from one that it
// has met before. So processes begin at different places, and more of them where there are more
// notifications. What it finds it runs in small batches, each run under the row lock of its
// acknowledgement, which has the lease of the process (Target.Claim). Where another process has
// that lock the patrol has met another one, or that process's own work, and jumps elsewhere.

const (
	// patrolPause is between two patrols, and so is patrolShare times the length of the last.
	patrolPause = 250 * time.Millisecond
	patrolShare = 10
	// patrolIdle is how often the pause doubles while patrols meet no notification.
	patrolIdle = 2
	// patrolRows is how many rows a patrol queues before it waits for them to be run.
	patrolRows = 64
	// patrolPlaces is how many keys are remembered to begin at.
	patrolPlaces = 64
	// patrolJumps bounds the jumps of one patrol: what it passes over is for the next one.
	patrolJumps = 8
)

// patrol is the state of the feeder's patrols.
type patrol struct {
	left   []kv.Span // of the one that goes on; nil: none does
	began  time.Time
	jumps  int
	idle   int      // how many patrols before have met nothing, patrolIdle at most
	seen   int      // keys of this patrol
	places [][]byte // some of those, each as likely as the others
	last   [][]byte // those of the patrol before
	timer  *time.Timer
}

// schedulePatrol makes the next patrol due after a while.
func (p *Pool) schedulePatrol(took time.Duration) {
	if !p.shared || p.opts.patrolPause < 0 {
		return
	}
	pause := max(p.opts.patrolPause<<p.patrol.idle, patrolShare*took)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return
	}
	p.patrol.timer = time.AfterFunc(pause/2+rand.N(pause), p.goOnPatrol)
}

func (p *Pool) goOnPatrol() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.due = true
	p.room.Signal()
}

// walkOn takes the next step of the patrol that is due.
func (p *Pool) walkOn(target *Target) error {
	w := &p.patrol
	p.mu.Lock()
	met := p.met
	p.met = false
	if met {
		p.passOver()
	}
	p.mu.Unlock()
	switch {
	case w.left == nil:
		w.began, w.jumps, w.seen, w.places = time.Now(), 0, 0, nil
		w.left = w.from(target)
	case met && w.jumps == patrolJumps:
		w.left = []kv.Span{}
	case met:
		w.jumps++
		w.left = w.from(target)
		p.mu.Lock()
		p.stats.Jumps++
		p.mu.Unlock()
	}
	if err := p.patrolSome(target); err != nil || len(w.left) > 0 {
		return err
	}
	w.left = nil
	if len(w.places) > 0 {
		w.last = w.places
	}
	return p.endPatrol(target)
}

// endPatrol also looks for what is no notification: a backfill that is not at its end, and what is
// left of rows that are gone.
func (p *Pool) endPatrol(target *Target) error {
	owes, err := target.owesBackfill(p.ctx, p.s)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.due, p.cleaning = false, true
	p.filling = p.filling || owes
	p.stats.Patrols++
	p.progress()
	p.mu.Unlock()
	if p.patrol.idle++; p.patrol.seen > 0 {
		p.patrol.idle = 0
	}
	p.patrol.idle = min(p.patrol.idle, patrolIdle)
	p.schedulePatrol(time.Since(p.patrol.began))
	return nil
}

// from returns all spans of the target, beginning at one of the places that are known.
func (w *patrol) from(target *Target) (spans []kv.Span) {
	var start []byte
	known := w.last
	if len(known) == 0 {
		known = w.places
	}
	if len(known) > 0 {
		start = known[rand.IntN(len(known))]
	}
	all := target.Spans()
	for i, span := range all {
		if start == nil || !span.Contains(start) {
			continue
		}
		before := kv.Span{Start: span.Start, End: start}
		spans = append(append(spans, kv.Span{Start: start, End: span.End}), all[i+1:]...)
		return append(append(spans, all[:i]...), before)
	}
	return all
}

// note remembers some of the keys, each with the same chance.
func (w *patrol) note(key []byte) {
	w.seen++
	if len(w.places) < patrolPlaces {
		w.places = append(w.places, bytes.Clone(key))
	} else if at := rand.IntN(w.seen); at < patrolPlaces {
		w.places[at] = bytes.Clone(key)
	}
}

// patrolSome queues the next rows, as far as this pool does not know them.
func (p *Pool) patrolSome(target *Target) error {
	w := &p.patrol
	letters, err := target.given(p.ctx, p.s)
	if err != nil {
		return err
	}
	queued := 0
	for len(w.left) > 0 {
		span := &w.left[0]
		var last []byte
		err := p.s.Notifications(p.ctx, *span, func(key []byte, n *txn.Notification) error {
			run := target.RunKey(key)
			switch {
			case n.Observer != target.ID, bytes.Equal(run, last):
				return nil
			case n.Stamped() && n.CommitTS <= letters[string(target.RowKey(run))]:
				return nil // it was given up
			case queued == patrolRows:
				span.Start = bytes.Clone(key)
				return errFull
			}
			last = bytes.Clone(run)
			w.note(key)
			ok, added := p.meet(string(run))
			if !ok {
				span.Start = bytes.Clone(key)
				return errFull
			}
			if added {
				queued++
			}
			return nil
		})
		if errors.Is(err, errFull) {
			return nil
		}
		if err != nil {
			return err
		}
		w.left = w.left[1:]
	}
	return nil
}

// meet adds a row that a patrol has found. ok is false when there is no room for it.
func (p *Pool) meet(key string) (ok, added bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.rows[key] != nil {
		return true, false // if its run does not see the notification, the next patrol finds it
	}
	if !p.add(key) {
		return false, false
	}
	p.rows[key].patrolled = true
	p.patrolled++
	return true, true
}

// own makes a row that a patrol has found one that the pool knows of itself.
func (p *Pool) own(r *row) {
	if !r.patrolled {
		return
	}
	r.patrolled = false
	if p.patrolled--; p.patrolled == 0 {
		p.room.Signal()
	}
}

// passOver forgets the rows of the patrol that no worker has taken.
func (p *Pool) passOver() {
	ready := p.ready
	p.ready = nil
	for _, key := range ready {
		if r := p.rows[key]; r.patrolled {
			p.own(r)
			delete(p.rows, key)
			continue
		}
		p.ready = append(p.ready, key)
	}
}
