package tikvkv

import (
	"context"
	"slices"
	"sync"
)

// latches let the updates of this process that name a common row wait for each other. It is not
// what keeps them apart, for other processes have latches of their own. But two optimistic
// transactions of one row cost a run of a step, and waits for locks that begin at 50 ms.
type latches struct {
	mu   sync.Mutex
	rows map[string]*latch
}

// latch is of a row that updates name at the moment.
type latch struct {
	turn chan struct{} // holds one while an update has the latch
	uses int           // updates that have it or wait for it
}

// acquire takes the latches of rows in their order, so that no two updates wait for each other, and
// returns what gives them back.
func (l *latches) acquire(ctx context.Context, rows [][]byte) (release func(), err error) {
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = string(row)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	held := 0
	release = func() {
		for _, name := range names[:held] {
			<-l.leave(name).turn
		}
	}
	for _, name := range names {
		select {
		case l.enter(name).turn <- struct{}{}:
			held++
		case <-ctx.Done():
			l.leave(name)
			release()
			return nil, ctx.Err()
		}
	}
	return release, nil
}

func (l *latches) enter(name string) *latch {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rows == nil {
		l.rows = map[string]*latch{}
	}
	r := l.rows[name]
	if r == nil {
		r = &latch{turn: make(chan struct{}, 1)}
		l.rows[name] = r
	}
	r.uses++
	return r
}

func (l *latches) leave(name string) *latch {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.rows[name]
	if r.uses--; r.uses == 0 {
		delete(l.rows, name)
	}
	return r
}
