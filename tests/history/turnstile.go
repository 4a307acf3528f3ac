package history

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Turnstile lets one of those who wait at it go on whenever nobody moves. It also moves the clock.
type Turnstile struct {
	// Blocked, if not nil, tells how many of those who move wait for somebody else. It is asked often.
	Blocked func() int
	// Crowds, if not zero, makes several go on at once, one time of so many.
	Crowds int

	mu      sync.Mutex
	dice    *rand.Rand
	moving  int
	waiting []waiter // in the order of who
	moves   int
	open    bool // nobody stops any more
	clock   int64

	stop chan struct{}
	done sync.WaitGroup
}

type waiter struct {
	who int
	go_ chan struct{}
}

// escapeAfter is how long of real time one may keep its turn while it blocks.
const escapeAfter = 2 * time.Millisecond

// looks is how often in that time it is looked whether all who move are blocked.
const looks = 10

// NewTurnstile returns a turnstile at which nobody waits, with its clock at some milliseconds.
func NewTurnstile(dice *rand.Rand, clock int64) *Turnstile {
	return &Turnstile{dice: dice, clock: clock, stop: make(chan struct{})}
}

// Run lets each function move as the coordinator of its number, and returns when all have returned.
func (t *Turnstile) Run(coordinators []func()) {
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

// letThrough makes Pass stop nobody, or again those who come.
func (t *Turnstile) letThrough(open bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = open
}

// openUp stops stopping anybody.
func (t *Turnstile) openUp() {
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

// Pass gives way to whom the dice choose, oneself included.
func (t *Turnstile) Pass(who int) {
	t.mu.Lock()
	if t.open {
		t.mu.Unlock()
		return
	}
	ch := make(chan struct{})
	t.add(waiter{who, ch})
	t.moving = max(0, t.moving-1)
	t.nextIfStill()
	t.mu.Unlock()
	<-ch
}

func (t *Turnstile) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.moving = max(0, t.moving-1)
	t.nextIfStill()
}

// nextIfStill lets one go on if nobody moves. Requires: mu is held.
func (t *Turnstile) nextIfStill() {
	if t.moving == 0 || t.Blocked != nil && t.moving <= t.Blocked() {
		t.next()
		if t.Crowds > 0 && t.dice.IntN(t.Crowds) == 0 {
			for range 1 + t.dice.IntN(3) {
				t.next()
			}
		}
	}
}

func (t *Turnstile) add(w waiter) {
	i, _ := slices.BinarySearchFunc(t.waiting, w.who, func(w waiter, who int) int { return w.who - who })
	t.waiting = slices.Insert(t.waiting, i, w)
}

// next lets one go on. Requires: mu is held.
func (t *Turnstile) next() {
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
func (t *Turnstile) Now() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.clock
}

// Moved returns how often somebody was let through.
func (t *Turnstile) Moved() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.moves
}

// watch lets another one go on beside one that blocks.
func (t *Turnstile) watch() {
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
			t.moving = 0 // who blocks does not count until it comes here again
			t.next()
			seen, same = t.moves, 0
		case t.Blocked != nil:
			t.nextIfStill()
		}
		t.mu.Unlock()
	}
}

// Crowd returns how many wait.
func (t *Turnstile) Crowd() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.waiting)
}
