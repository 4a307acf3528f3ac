package history

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Scheduler lets one of the waiting goroutines go on whenever none runs. It also moves the clock.
type Scheduler struct {
	// Blocked, if not nil, returns how many of the running goroutines wait for another one. It is
	// called often.
	Blocked func() int
	// Crowds, if not zero, makes several go on at once, one time of so many.
	Crowds int

	mu      sync.Mutex
	dice    *rand.Rand
	moving  int
	waiting []waiter // ordered by actor
	moves   int
	open    bool // no goroutine stops any more
	clock   int64

	stop chan struct{}
	done sync.WaitGroup
}

type waiter struct {
	actor int
	go_   chan struct{}
}

// escapeAfter is how long of real time one may keep its turn while it blocks.
const escapeAfter = 2 * time.Millisecond

// looks is how often in that time it is checked whether all running goroutines are blocked.
const looks = 10

// NewScheduler returns a scheduler without waiting goroutines, with its clock at some milliseconds.
func NewScheduler(dice *rand.Rand, clock int64) *Scheduler {
	return &Scheduler{dice: dice, clock: clock, stop: make(chan struct{})}
}

// Run lets each function move as the coordinator of its number, and returns when all have returned.
func (t *Scheduler) Run(coordinators []func()) {
	var wg sync.WaitGroup
	t.mu.Lock()
	for i, f := range coordinators {
		ch := make(chan struct{})
		t.add(waiter{i, ch})
		wg.Go(func() {
			<-ch
			f()
			t.leave()
		})
	}
	t.next()
	t.mu.Unlock()
	t.done.Go(t.watch)
	wg.Wait()
	t.openUp()
}

// letThrough makes Pass stop no goroutine, or stop them again.
func (t *Scheduler) letThrough(open bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = open
}

// openUp makes Pass stop no goroutine from now on.
func (t *Scheduler) openUp() {
	t.mu.Lock()
	t.open = true
	for _, w := range t.waiting {
		close(w.go_)
	}
	t.waiting = nil
	t.mu.Unlock()
	close(t.stop)
	t.done.Wait()
}

// Pass gives way to the goroutine that the dice choose, which may be the caller.
func (t *Scheduler) Pass(actor int) {
	t.mu.Lock()
	if t.open {
		t.mu.Unlock()
		return
	}
	ch := make(chan struct{})
	t.add(waiter{actor, ch})
	t.moving = max(0, t.moving-1)
	t.nextIfStill()
	t.mu.Unlock()
	<-ch
}

func (t *Scheduler) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.moving = max(0, t.moving-1)
	t.nextIfStill()
}

// nextIfStill lets one go on if none runs. Requires: mu is held.
func (t *Scheduler) nextIfStill() {
	if t.moving == 0 || t.Blocked != nil && t.moving <= t.Blocked() {
		t.next()
		if t.Crowds > 0 && t.dice.IntN(t.Crowds) == 0 {
			for range 1 + t.dice.IntN(3) {
				t.next()
			}
		}
	}
}

func (t *Scheduler) add(w waiter) {
	i, _ := slices.BinarySearchFunc(t.waiting, w.actor,
		func(w waiter, actor int) int { return w.actor - actor })
	t.waiting = slices.Insert(t.waiting, i, w)
}

// next lets one go on. Requires: mu is held.
func (t *Scheduler) next() {
	if len(t.waiting) == 0 {
		return
	}
	i := t.dice.IntN(len(t.waiting))
	w := t.waiting[i]
	t.waiting = slices.Delete(t.waiting, i, i+1)
	t.moving++
	t.moves++
	if t.clock += int64(t.dice.IntN(3)); t.dice.IntN(100) == 0 {
		t.clock += int64(t.dice.IntN(500))
	}
	close(w.go_)
}

// Now is the clock of the run, in milliseconds.
func (t *Scheduler) Now() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.clock
}

// Moved returns how often a goroutine was let through.
func (t *Scheduler) Moved() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.moves
}

// watch lets another one go on beside one that blocks.
func (t *Scheduler) watch() {
	step := escapeAfter
	if t.Blocked != nil {
		step /= looks
	}
	tick := time.NewTicker(step)
	defer tick.Stop()
	seen, same := -1, 0
	for {
		select {
		case <-t.stop:
			return
		case <-tick.C:
		}
		t.mu.Lock()
		if same++; t.moves != seen {
			seen, same = t.moves, 0
		}
		switch {
		case step == escapeAfter && same > 0, same > looks:
			t.moving = 0 // a blocked goroutine does not count until it comes here again
			t.next()
			seen, same = t.moves, 0
		case t.Blocked != nil:
			t.nextIfStill()
		}
		t.mu.Unlock()
	}
}

// Crowd returns how many wait.
func (t *Scheduler) Crowd() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.waiting)
}
