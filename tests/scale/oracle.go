package scale

import (
	"context"
	"sync"
	"time"

	"github.com/minidb/minidb/txn/tso"
)

// oracle serves all gateways, one request at a time.
type oracle struct {
	*tso.Oracle
	n    *network
	busy chan struct{}
}

// answer is that to a question for a timestamp.
type answer struct {
	ts  tso.Timestamp
	err error
}

// asker is a gateway's way to the oracle. As in package elected one request is under way, and the
// questions that come meanwhile share the next.
type asker struct {
	o  *oracle
	mu struct {
		sync.Mutex
		waiting []chan answer
		asking  bool
	}
}

// Now returns the oracle's time without a request, as package elected estimates it.
func (a *asker) Now() tso.Timestamp { return a.o.Now() }

// Next implements tso.Source.
func (a *asker) Next(ctx context.Context) (tso.Timestamp, error) {
	question := make(chan answer, 1)
	a.mu.Lock()
	a.mu.waiting = append(a.mu.waiting, question)
	if !a.mu.asking {
		a.mu.asking = true
		go a.ask()
	}
	a.mu.Unlock()
	select {
	case got := <-question:
		return got.ts, got.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// ask sends requests until no question waits.
func (a *asker) ask() {
	for {
		a.mu.Lock()
		questions := a.mu.waiting
		a.mu.waiting, a.mu.asking = nil, len(questions) > 0
		a.mu.Unlock()
		if len(questions) == 0 {
			return
		}
		first, err := a.o.request(context.Background(), len(questions))
		for i, q := range questions {
			q <- answer{first + tso.Timestamp(i), err}
		}
	}
}

// request draws timestamps.
func (o *oracle) request(ctx context.Context, n int) (first tso.Timestamp, err error) {
	o.n.draws.Add(1)
	_ = pause(ctx, o.n.delays.Trip/2)
	o.busy <- struct{}{}
	_ = pause(ctx, o.n.delays.Draw)
	first, err = o.Draw(ctx, n)
	<-o.busy
	_ = pause(ctx, o.n.delays.Trip/2)
	return first, err
}

// clock is that of the bubble, which begins with the year 2000, moved to the present.
func clock() int64 { return time.Now().AddDate(26, 0, 0).UnixMilli() }
