package history

import (
	"context"
	"math/rand/v2"
	"sync"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/pebblekv/testfs"
)

// UpdateEarly implements kv.Early, on any engine: others move while the batch is visible and not
// yet durable. On the crashable file system the syncs of all wait meanwhile, so that the power may
// fail in between; an engine in memory is durable all the time, and only reports it later.
func (w *watched) UpdateEarly(ctx context.Context, rows [][]byte, step kv.Step,
	visible func()) error {
	actor := actorOf(ctx)
	turns, wrote, release := 0, false, func() {}
	defer func() { release() }()
	shown := func() {
		visible()
		for range turns {
			w.t.Pass(actor)
		}
		release()
	}
	return w.update(ctx, step, func(s kv.Step) error {
		watch := func(r kv.Reader, b *kv.Batch) error {
			err := s(r, b)
			if wrote || err != nil || b.Empty() {
				return err
			}
			wrote = true
			if turns = w.untilSync(); turns > 0 && w.syncs != nil {
				release = w.syncs.hold()
			}
			return nil
		}
		if early, ok := w.Engine.(kv.Early); ok {
			return early.UpdateEarly(ctx, rows, watch, shown)
		}
		err := w.Engine.Update(ctx, rows, watch)
		if err == nil && wrote {
			shown()
		}
		return err
	})
}

// untilSync says of each early update how long its sync takes. Where a sync is real, holding it
// holds those of the others, which block: that is done less often.
func (r *run) untilSync() func() int {
	dice := rand.New(rand.NewPCG(r.dice.Uint64(), 5))
	every := 2
	if r.config.Power {
		every = 3
	}
	var mu sync.Mutex
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		if dice.IntN(every) != 0 {
			return 0
		}
		return 1 + dice.IntN(30)
	}
}

// syncs holds the syncs of a file system for several at a time.
type syncs struct {
	fs      *testfs.CrashFS
	mu      sync.Mutex
	holders int
	release func()
}

func (s *syncs) hold() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holders++; s.holders == 1 {
		s.release = s.fs.HoldSyncs()
	}
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.holders--; s.holders == 0 {
			s.release()
		}
	})
}

// held reports whether they are held.
func (s *syncs) held() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.holders > 0
}
