package history

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// turnstile lets one of those who wait at it go on whenever nobody moves. It also moves the clock.
type turnstile struct {
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

func newTurnstile(dice *rand.Rand, clock int64) *turnstile {
	return &turnstile{dice: dice, clock: clock, stop: make(chan struct{})}
}

// run lets each function move as the coordinator of its number, and returns when all have returned.
func (t *turnstile) run(coordinators []func()) {
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

// openUp stops stopping anybody.
func (t *turnstile) openUp() {
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

// pass gives way to whom the dice choose, oneself included.
func (t *turnstile) pass(who int) {
	t.mu.Lock()
	if t.open {
		t.mu.Unlock()
		return
	}
	ch := make(chan struct{})
	t.add(waiter{who, ch})
	t.moving = max(0, t.moving-1)
	if t.moving == 0 {
		t.next()
	}
	t.mu.Unlock()
	<-ch
}

func (t *turnstile) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.moving = max(0, t.moving-1); t.moving == 0 {
		t.next()
	}
}

func (t *turnstile) add(w waiter) {
	i, _ := slices.BinarySearchFunc(t.waiting, w.who, func(w waiter, who int) int { return w.who - who })
	t.waiting = slices.Insert(t.waiting, i, w)
}

// next lets one go on. Requires: mu is held.
func (t *turnstile) next() {
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

// now is the clock of the run, in milliseconds.
func (t *turnstile) now() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.clock
}

func (t *turnstile) moved() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.moves
}

// watch lets another one go on beside one that blocks.
func (t *turnstile) watch() {
	tick := time.NewTicker(escapeAfter)
	defer tick.Stop()
	seen := -1
	for {
		select {
		case <-t.stop:
			return
		case <-tick.C:
		}
		t.mu.Lock()
		if t.moves == seen {
			t.moving = 0 // who blocks does not count until it comes here again
			t.next()
		}
		seen = t.moves
		t.mu.Unlock()
	}
}

// crowd returns how many wait.
func (t *turnstile) crowd() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.waiting)
}
