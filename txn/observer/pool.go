package observer

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
)

// Options are what a Pool is made of.
type Options struct {
	Target  Target
	Workers int
	// Place returns the Target as it is registered now, or fails; nil: it is Target for ever.
	Place func(ctx context.Context) (Target, error)
	// Attempts is how often a run may fail before its row is given up.
	Attempts int
	// Run runs the observer on a row, in a transaction of its own, as far as that is needed. It
	// must return soon after its context has ended.
	Run func(ctx context.Context, key []byte) Result
	// Failed receives each failure, for the log.
	Failed func(key []byte, err error, attempts int, givenUp bool)

	rowsMax   int           // tests lower it; 0 means rowsMax
	feedPause time.Duration // tests lower it; 0 means feedPause
	// patrolPause is that between patrols; 0 means patrolPause, and below 0 there are none but
	// those that tests ask for.
	patrolPause time.Duration
}

// Result is what became of a run.
type Result struct {
	Found    Found
	Key      []byte        // of the row; nil: it is the key that was run
	At       tso.Timestamp // snapshot timestamp of the run
	Err      error
	Conflict bool // Err means that another transaction was quicker, and is no failure
}

// Pool is the workers of one observer in this process.
type Pool struct {
	s    *txn.Store
	opts Options

	ctx    context.Context // of all runs
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu      sync.Mutex
	work    sync.Cond // there is a row to run on, or the pool stops
	room    sync.Cond // there is something for the feeder to do, or the pool stops
	rows    map[string]*row
	ready   []string // rows to run on, in their order
	rescan  bool     // there may be notifications that are not in rows
	filling bool     // a backfill is perhaps not at its end
	stopped bool
	stats   Stats
	settled chan struct{} // closed, and made anew, whenever a row is dealt with

	scanning bool // a scan is not at its end
	cleaning bool // runs before a crash have perhaps left something
	pruning  bool // to be cleaned whenever there is nothing else to do
	carried  int  // steps of table-level changes

	shared    bool // other processes write to the store
	due       bool // a patrol is due, or goes on
	met       bool // a worker has met another process
	patrolled int  // rows that a patrol has found and that were not looked at yet
	patrol    patrol
}

// row is one that the pool knows to have notifications.
type row struct {
	running bool
	again   bool // notified since it was taken
	// patrolled: the pool knows of it from a patrol alone.
	patrolled bool
	failures  int
	attempts  int // those of the function
	waits     int // for other transactions
	timer     *time.Timer
}

// Stats counts what the workers of a process have done.
type Stats struct {
	Workers                          int
	Runs                             int64 // that committed
	Conflicts, Failures, DeadLetters int64
	Queued                           int // rows that wait for a worker or for their next attempt
	Running                          int
	// some rows from before the observer are to be announced still
	Backfill bool
	Carried  int64 // rows that table-level changes have taken to another place, or away
	// Patrols is how often all notifications of a shared store were looked through, Met how often
	// another process was found at work on a row, and Jumps how often a patrol went elsewhere then.
	Patrols, Met, Jumps int64
	LastError           string
	LastFailed          time.Time
}

const (
	// rowsMax bounds what a pool remembers. What is beyond it is found in the store again.
	rowsMax = 10_000
	// A run that has failed is tried again after backoffFirst, twice that, and so on.
	backoffFirst = 20 * time.Millisecond
	backoffMax   = time.Minute
	// One that waits for another transaction is tried again sooner.
	waitFirst = time.Millisecond
	waitMax   = 100 * time.Millisecond
	// feedPause is how long the feeder waits after an error of the store.
	feedPause = time.Second
)

// Start begins with the rows that have notifications.
func Start(s *txn.Store, opts Options) *Pool {
	opts.rowsMax = cmp.Or(opts.rowsMax, rowsMax)
	opts.feedPause = cmp.Or(opts.feedPause, feedPause)
	opts.patrolPause = cmp.Or(opts.patrolPause, patrolPause)
	p := &Pool{s: s, opts: opts, rows: map[string]*row{}, rescan: true, filling: true,
		cleaning: true, settled: make(chan struct{}), shared: s.Shared()}
	p.work.L, p.room.L = &p.mu, &p.mu
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.schedulePatrol(0)
	p.done.Go(p.feed)
	for range opts.Workers {
		p.done.Go(p.serve)
	}
	return p
}

// Stop cancels what is running and waits for the workers.
func (p *Pool) Stop() {
	p.mu.Lock()
	p.stopped = true
	for _, r := range p.rows {
		if r.timer != nil {
			r.timer.Stop()
		}
	}
	if p.patrol.timer != nil {
		p.patrol.timer.Stop()
	}
	p.work.Broadcast()
	p.room.Broadcast()
	p.mu.Unlock()
	p.cancel()
	p.done.Wait()
}

// Wake says that rows have been notified: those with the keys, or with nil some that the store
// knows. It never blocks, and copies the keys.
func (p *Pool) Wake(keys [][]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if keys == nil {
		p.rescan = true
		p.room.Signal()
	}
	for _, key := range keys {
		if !p.add(string(p.opts.Target.RunKey(key))) {
			p.rescan = true
			p.room.Signal()
			return
		}
	}
}

// add makes a row ready, and reports false when there is no room for it.
func (p *Pool) add(key string) bool {
	r := p.rows[key]
	if r != nil {
		r.again = true
		p.own(r)
		return true
	}
	if len(p.rows) >= p.opts.rowsMax || p.stopped {
		return false
	}
	p.rows[key] = &row{}
	p.push(key)
	return true
}

func (p *Pool) push(key string) {
	p.ready = append(p.ready, key)
	p.work.Signal()
}

// Stats returns the counts as they are now.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := p.stats
	st.Workers, st.Backfill = p.opts.Workers, p.filling
	for _, r := range p.rows {
		if r.running {
			st.Running++
		} else {
			st.Queued++
		}
	}
	return st
}

// Settled returns a channel that is closed when the pool has dealt with a further row, or with all
// of a scan or a backfill.
func (p *Pool) Settled() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.settled
}

// serve is one worker.
func (p *Pool) serve() {
	for {
		key, ok := p.take()
		if !ok {
			return
		}
		if p.opts.Target.IsPlace([]byte(key)) {
			p.finish(key, p.carry(key))
			continue
		}
		res := p.opts.Run(p.ctx, []byte(key))
		p.finish(key, res)
	}
}

func (p *Pool) take() (key string, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.ready) == 0 && !p.stopped {
		p.work.Wait()
	}
	if p.stopped {
		return "", false
	}
	key, p.ready = p.ready[0], p.ready[1:]
	if len(p.ready) == 0 {
		p.ready = nil // and its array
	}
	r := p.rows[key]
	r.running, r.again = true, false
	if len(p.ready) < p.opts.rowsMax/2 {
		p.room.Signal()
	}
	return key, true
}

// finish decides what comes after a run.
func (p *Pool) finish(key string, res Result) {
	p.mu.Lock()
	r := p.rows[key]
	r.running = false
	switch {
	case p.ctx.Err() != nil: // whatever it was, the next process finds it
	case res.Err != nil && res.Conflict:
		p.stats.Conflicts++
		r.waits++
		p.later(key, r, backoff(waitFirst, waitMax, r.waits))
	case res.Err != nil:
		p.fail(key, r, res)
		return
	case res.Found == Taken:
		p.stats.Met++
		p.met = true
		if r.patrolled { // it is the other one's
			p.drop(key, r)
			break
		}
		r.waits++
		p.later(key, r, backoff(waitFirst, waitMax, r.waits))
	case res.Found == Later:
		r.waits++
		p.later(key, r, backoff(waitFirst, waitMax, r.waits))
	default:
		if res.Found == Pending {
			p.stats.Runs++
		}
		p.drop(key, r)
	}
	p.mu.Unlock()
}

// drop forgets a row that is dealt with, unless it was notified meanwhile.
func (p *Pool) drop(key string, r *row) {
	p.own(r)
	if r.again {
		*r = row{}
		p.push(key)
	} else {
		delete(p.rows, key)
		if p.pruning && len(p.rows) == 0 {
			p.cleaning = true
		}
		p.room.Signal()
	}
	p.progress()
}

// progress wakes those that wait for the pool.
func (p *Pool) progress() {
	close(p.settled)
	p.settled = make(chan struct{})
}

// fail counts a failure, and gives the row up when there were too many. It unlocks the pool.
func (p *Pool) fail(key string, r *row, res Result) {
	r.failures++
	failures, giveUp := r.failures, false
	if res.Found == Pending { // else the function was not called
		r.attempts++
		giveUp = r.attempts >= p.opts.Attempts
	}
	attempts := r.attempts
	row := []byte(key)
	if res.Key != nil {
		row = res.Key
	}
	p.stats.Failures++
	p.stats.LastError, p.stats.LastFailed = res.Err.Error(), time.Now()
	failed := p.stats.LastFailed
	p.mu.Unlock()
	var err error
	if giveUp {
		err = p.opts.Target.GiveUp(p.ctx, p.s, &DeadLetter{Key: row, At: res.At,
			Attempts: attempts, Failed: failed, Err: res.Err.Error()})
	}
	p.opts.Failed(row, errors.Join(res.Err, err), failures, giveUp && err == nil)
	p.mu.Lock()
	defer p.mu.Unlock()
	if giveUp && err == nil {
		p.stats.DeadLetters++
		p.drop(key, r)
		return
	}
	p.later(key, r, backoff(backoffFirst, backoffMax, failures))
}

// later makes a row ready after a while.
func (p *Pool) later(key string, r *row, after time.Duration) {
	p.own(r)
	if p.stopped {
		return
	}
	r.timer = time.AfterFunc(after, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if !p.stopped {
			r.timer = nil
			p.push(key)
		}
	})
}

// backoff returns a random part of a time that doubles with each attempt, from its half on.
func backoff(first, most time.Duration, attempt int) time.Duration {
	d := min(most, first<<min(attempt-1, 20))
	return d/2 + rand.N(d/2+1)
}
