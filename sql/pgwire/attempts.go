package pgwire

import (
	"net/netip"
	"sync"
	"time"

	"github.com/minidb/minidb/internal/lru"
)

// Attempts to authenticate from one address: so many at once, and one more each so often.
const (
	attemptsAtOnce = 10
	attemptEvery   = 3 * time.Second
	keptAddresses  = 10_000
)

// attempts limits how fast passwords are guessed. An attempt is taken when it begins, so that many
// at the same time are none the better, and given back when it succeeds. An IPv6 address counts by
// its /64, of which one client has all.
type attempts struct {
	now func() time.Time

	mu   sync.Mutex
	left *lru.Cache[netip.Addr, attempt]
}

// attempt is how many are left at a time.
type attempt struct {
	left float64
	at   time.Time
}

func newAttempts() *attempts {
	return &attempts{now: time.Now, left: lru.New[netip.Addr, attempt](keptAddresses)}
}

// take returns how long to wait for the next attempt; zero: it may begin.
func (a *attempts) take(from netip.Addr) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	from = network(from)
	now := a.now()
	was := a.refreshed(from, now)
	if was.left < 1 {
		return time.Duration((1 - was.left) * float64(attemptEvery))
	}
	was.left--
	a.left.Put(from, was)
	return 0
}

// giveBack is for an attempt that has succeeded.
func (a *attempts) giveBack(from netip.Addr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	from = network(from)
	was := a.refreshed(from, a.now())
	was.left = min(was.left+1, attemptsAtOnce)
	a.left.Put(from, was)
}

// refreshed is what an address has now.
func (a *attempts) refreshed(from netip.Addr, now time.Time) attempt {
	was, ok := a.left.Get(from)
	if !ok {
		return attempt{attemptsAtOnce, now}
	}
	grown := was.left + float64(now.Sub(was.at))/float64(attemptEvery)
	return attempt{min(grown, attemptsAtOnce), now}
}

// network is what one client has of addresses.
func network(a netip.Addr) netip.Addr {
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return a
}
