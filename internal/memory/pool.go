package memory

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// Pool is the memory of a process, or of a test. It is safe for concurrent use.
type Pool struct {
	taken   atomic.Int64 // by all accounts
	share   atomic.Int64 // what they may take; 0: no bound
	waiting atomic.Int32
	ended   atomic.Int64
	peak    atomic.Int64
	high    atomic.Int64 // the most since Ebbed was asked last

	watch heapWatch

	mu struct {
		sync.Mutex
		limits   []*limit
		bound    int64 // the least of limits, or fallback
		fallback int64
		fixed    []*fixture
		accounts map[*Account]struct{} // that have taken anything
		ending   int                   // accounts that were chosen to end and have not
		freed    chan struct{}         // closed when memory comes back; nil: no account waits
	}
}

type limit struct{ bytes int64 }

type fixture struct {
	name  string
	bytes int64
}

// NewPool returns a pool with a bound in bytes; 0: none.
func NewPool(bound int64) *Pool {
	p := &Pool{}
	p.mu.accounts = map[*Account]struct{}{}
	p.mu.fallback = bound
	p.rebound()
	return p
}

// process is the pool of all stores that a program opens.
var process = NewPool(0)

// Process returns the pool that all handles of this process share. Its bound is DefaultBound unless
// another one is set.
func Process() *Pool {
	process.mu.Lock()
	defer process.mu.Unlock()
	if process.mu.fallback == 0 {
		process.mu.fallback = DefaultBound()
		process.rebound()
	}
	return process
}

// Limit bounds the pool until release is called. The least of all limits is in force.
func (p *Pool) Limit(bytes int64) (release func()) {
	return keep(p, &p.mu.limits, &limit{bytes: bytes})
}

// keep adds an item to one of the pool's lists until release is called.
func keep[T comparable](p *Pool, list *[]T, item T) (release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*list = append(*list, item)
	p.rebound()
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		*list = slices.DeleteFunc(*list, func(o T) bool { return o == item })
		p.rebound()
	}
}

// Fix counts memory that is held as long as a store is open, until release is called.
func (p *Pool) Fix(name string, bytes int64) (release func()) {
	return keep(p, &p.mu.fixed, &fixture{name: name, bytes: bytes})
}

// leastShare is what accounts may take however small the bound is.
const leastShare = 4 << 20

// rebound computes the parts of the bound anew. Requires: mu is held, or the pool is not shared
// yet.
func (p *Pool) rebound() {
	p.mu.bound = p.mu.fallback
	for i, l := range p.mu.limits {
		if i == 0 || l.bytes < p.mu.bound {
			p.mu.bound = l.bytes
		}
	}
	if p.mu.bound <= 0 {
		p.share.Store(0)
		return
	}
	p.share.Store(max(p.heap()/16*9, leastShare))
	p.wake()
}

// heap is the bound without what is fixed.
func (p *Pool) heap() int64 {
	n := p.mu.bound
	for _, f := range p.mu.fixed {
		n -= f.bytes
	}
	return n
}

// Bound is the bound in bytes, and heap what of it is left beside what is fixed: what Go's own
// limit may be.
func (p *Pool) Bound() (bound, heap int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mu.bound, p.heap()
}

// Account returns a new account of the owner. A nil owner never asks for memory while it runs
// anything.
func (p *Pool) Account(owner Owner) *Account {
	return &Account{pool: p, owner: owner, granted: free}
}

// mayTake is what all accounts together may have taken after one of them comes to hold that many
// bytes.
func (p *Pool) mayTake(held int64) int64 {
	share := p.share.Load()
	if held > small {
		share -= share / 8
	}
	return share
}

// halfEmpty reports whether accounts have taken at most half of what they may, with n bytes more.
func (p *Pool) halfEmpty(n int64) bool {
	share := p.share.Load()
	return share == 0 || p.taken.Load()+n <= share/2
}

// take takes n bytes for an account if they are there.
func (p *Pool) take(a *Account, n int64) bool {
	if a.ending.Load() != nil || !p.fits(a.granted+n, n) {
		return false
	}
	p.enter(a, n)
	return true
}

// raise makes a mark at least n.
func raise(mark *atomic.Int64, n int64) {
	for {
		now := mark.Load()
		if n <= now || mark.CompareAndSwap(now, n) {
			return
		}
	}
}

// enter makes n bytes that were taken an account's.
func (p *Pool) enter(a *Account, n int64) {
	if a.taken.Add(n) == n {
		p.mu.Lock()
		p.mu.accounts[a] = struct{}{}
		p.mu.Unlock()
	}
	a.granted += n
}

// fits takes n bytes for an account that then holds that much.
func (p *Pool) fits(held, n int64) bool {
	bounded := p.share.Load() > 0
	for {
		now := p.taken.Load()
		if bounded && now+n > p.mayTake(held) {
			return false
		}
		if p.taken.CompareAndSwap(now, now+n) {
			raise(&p.peak, now+n)
			raise(&p.high, now+n)
			return true
		}
	}
}

func (p *Pool) giveBack(n int64) {
	p.taken.Add(-n)
	if p.waiting.Load() > 0 {
		p.mu.Lock()
		p.wake()
		p.mu.Unlock()
	}
}

// wake lets waiting accounts try again. Requires: mu is held.
func (p *Pool) wake() {
	if p.mu.freed != nil {
		close(p.mu.freed)
		p.mu.freed = nil
	}
}

// takeSlowly takes n bytes for an account when the pool has no more: the largest account ends.
func (p *Pool) takeSlowly(a *Account, n int64) error {
	ctx := context.Background()
	if a.owner != nil {
		ctx = a.owner.Running()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting.Add(1) // before the look: memory that comes back after it wakes
	defer p.waiting.Add(-1)
	for {
		if e := a.ending.Load(); e != nil {
			return e
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if p.fits(a.granted+n, n) {
			a.taken.Add(n)
			a.granted += n
			p.mu.accounts[a] = struct{}{}
			return nil
		}
		if p.mu.ending == 0 {
			if e := p.endLargest(a, n); e != nil {
				return e
			}
		}
		if p.mu.freed == nil {
			p.mu.freed = make(chan struct{})
		}
		p.await(ctx, p.mu.freed)
	}
}

// relieve ends the largest account because the heap is fuller than the accounts add up to. The
// asker does not wait for it: what is live in the heap is known at the end of the next collection
// only.
func (p *Pool) relieve(a *Account, n int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.ending > 0 {
		return nil
	}
	return p.endLargest(a, n)
}

// await releases mu while it waits.
func (p *Pool) await(ctx context.Context, freed <-chan struct{}) {
	p.mu.Unlock()
	defer p.mu.Lock()
	select {
	case <-freed:
	case <-ctx.Done():
	}
}

// endLargest chooses the account that has to end: a, if it would be the largest with n bytes more
// or could never have them, and then it returns the error; else the largest whose owner runs
// something.
func (p *Pool) endLargest(a *Account, n int64) error {
	held := a.granted + n
	candidates := make([]*Account, 0, len(p.mu.accounts))
	if held <= p.mayTake(held) {
		for o := range p.mu.accounts {
			if o != a && o.owner != nil && o.taken.Load()+free > held {
				candidates = append(candidates, o)
			}
		}
	}
	slices.SortFunc(candidates,
		func(x, y *Account) int { return int(min(max(y.taken.Load()-x.taken.Load(), -1), 1)) })
	for _, o := range candidates {
		e := &ExhaustedError{Held: o.taken.Load() + free, Bound: p.mu.bound}
		o.ending.Store(e)
		if o.owner.End(e) {
			p.mu.ending++
			p.ended.Add(1)
			return nil
		}
		o.ending.Store(nil)
	}
	e := &ExhaustedError{Held: a.used - n, Asked: n, Bound: p.mu.bound}
	if a.owner != nil && a.ending.CompareAndSwap(nil, e) {
		p.mu.ending++
	}
	p.ended.Add(1)
	return e
}

// settle takes an account back among those that may be chosen.
func (p *Pool) settle(a *Account) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a.ending.Swap(nil) != nil {
		p.mu.ending--
		p.wake()
	}
}

// forget drops an account that has given everything back.
func (p *Pool) forget(a *Account) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.mu.accounts, a)
}
