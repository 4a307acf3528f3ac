package memory

import (
	"cmp"
	"slices"
)

// Holder is one of those that hold memory.
type Holder struct {
	Name   string // of what is fixed; "" for an account
	PID    int32  // of an account's owner; 0: none
	Bytes  int64
	Ending bool // it was chosen to end, and has not yet
}

// Stats are the figures of a pool, in bytes.
type Stats struct {
	Bound, Heap    int64 // the bound, and what of it is not fixed
	Share, Reserve int64 // what accounts may take, and what of it is for small ones only
	Taken, Peak    int64 // what they have taken, and the most that they ever had
	Ended          int64 // how many accounts had to end
	Holders        []Holder
}

// Stats returns what is held and the holders, the largest first.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	share := p.share.Load()
	s := Stats{Bound: p.mu.bound, Heap: p.heap(), Share: share, Reserve: share / 8,
		Taken: p.taken.Load(), Peak: p.peak.Load(), Ended: p.ended.Load()}
	for _, f := range p.mu.fixed {
		s.Holders = append(s.Holders, Holder{Name: f.name, Bytes: f.bytes})
	}
	for a := range p.mu.accounts {
		h := Holder{Bytes: a.taken.Load(), Ending: a.ending.Load() != nil}
		if h.Bytes == 0 {
			continue
		}
		if a.owner != nil {
			h.PID = a.owner.PID()
		}
		s.Holders = append(s.Holders, h)
	}
	slices.SortFunc(s.Holders, func(x, y Holder) int {
		return cmp.Or(cmp.Compare(y.Bytes, x.Bytes), cmp.Compare(x.Name, y.Name),
			cmp.Compare(x.PID, y.PID))
	})
	return s
}

// Taken is what accounts have taken from the pool.
func (p *Pool) Taken() int64 { return p.taken.Load() }
