package memory

import (
	"runtime/metrics"
	"sync"
	"sync/atomic"
)

// heapWatch looks at what was live in Go's heap at the end of the last collection. Accounts are
// estimates, and some memory is not counted: when the heap is full all the same, the largest
// account ends.
type heapWatch struct {
	limit atomic.Int64 // of live bytes; 0: not watched

	mu struct {
		sync.Mutex
		samples [2]metrics.Sample
		cycle   uint64 // of the collection after which an account was ended
	}
}

// WatchHeap makes the pool look at the heap: a program that only serves holds nothing else in it.
// live is how many bytes may be live at the end of a collection; 0: any number.
func (p *Pool) WatchHeap(live int64) { p.watch.limit.Store(live) }

// full reports whether too much is live. After it has said so it waits for two more collections,
// the first of which may have begun before the memory of the account that was ended came back.
func (w *heapWatch) full() bool {
	limit := w.limit.Load()
	if limit <= 0 {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &w.mu.samples
	if s[0].Name == "" {
		s[0].Name, s[1].Name = "/gc/heap/live:bytes", "/gc/cycles/total:gc-cycles"
	}
	metrics.Read(s[:])
	live, cycle := s[0].Value.Uint64(), s[1].Value.Uint64()
	if live <= uint64(limit) || w.mu.cycle > 0 && cycle < w.mu.cycle+2 {
		return false
	}
	w.mu.cycle = cycle
	return true
}
