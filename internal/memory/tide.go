package memory

// leastEbb is how much accounts have given back at least when it is worth a collection to return
// it.
const leastEbb = 64 << 20

// Tide reports when accounts have given back so much, and for long enough, that the program should
// return memory to the system: Go keeps what it has freed, and an idle program collects garbage
// every two minutes only.
type Tide struct {
	pool *Pool
	high int64 // the most since memory was returned
}

// NewTide returns a Tide of the pool.
func NewTide(p *Pool) *Tide { return &Tide{pool: p} }

// Ebbed is asked at intervals. It reports whether accounts held less than a quarter of what they
// held before, for the whole interval since it was asked last.
func (t *Tide) Ebbed() bool {
	now := t.pool.taken.Load()
	high := max(t.pool.high.Swap(now), now)
	if high < t.high/4 && t.high-high >= leastEbb {
		t.high = high
		return true
	}
	t.high = max(t.high, high)
	return false
}
