package shared

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
	"github.com/minidb/minidb/txn/wait"
)

// left are locks that could not be given back because the store did not answer. Their session goes
// on, and others take one for dead only when all transactions of the session are younger: a
// transaction that is older and waits for it would wait for itself. So this process tries again
// until the store answers.
type left struct {
	mu      sync.Mutex
	rows    []leftRows
	clients []*SessionLocks // of clients that are gone
	more    chan struct{}   // has an element when there may be some
}

// leftRows are row locks, or places in queues, that one update gives back. Their transaction takes
// none of them again.
type leftRows struct {
	startTS tso.Timestamp
	session uint64 // under which all were taken; zero: under several
	rows    []mvcc.KeepRow
}

// leftPause lies between two attempts.
const leftPause = 100 * time.Millisecond

// leave notes what could not be given back.
func (p *Peers) leave(rows []leftRows, clients ...*SessionLocks) {
	p.left.mu.Lock()
	p.left.rows = append(p.left.rows, rows...)
	p.left.clients = append(p.left.clients, clients...)
	p.left.mu.Unlock()
	select {
	case p.left.more <- struct{}{}:
	default:
	}
}

// keepGivingBack gives back what is left, as soon as the store answers, until Close.
func (p *Peers) keepGivingBack(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.left.more:
		}
		p.giveBackLeft(ctx)
		if wait.Pause(ctx, leftPause) != nil {
			return
		}
	}
}

// giveBackLeft tries once to give back what is left. What was taken under a session that has ended
// is gone with it.
func (p *Peers) giveBackLeft(ctx context.Context) {
	p.left.mu.Lock()
	rows, clients := p.left.rows, p.left.clients
	p.left.rows, p.left.clients = nil, nil
	p.left.mu.Unlock()
	for i, l := range rows {
		if l.session != 0 && l.session != p.SessionID() {
			continue
		}
		err := p.unlockLeft(ctx, l)
		if err != nil && !errors.Is(err, kv.ErrClosed) {
			p.leave(rows[i:], clients...) // the others would wait as long, and in vain
			return
		}
	}
	for i, s := range clients {
		if !s.giveBack() {
			p.leave(nil, clients[i:]...)
			return
		}
	}
}

func (p *Peers) unlockLeft(ctx context.Context, l leftRows) error {
	ctx, cancel := context.WithTimeout(ctx, wait.UnknownTime)
	defer cancel()
	return p.unlockRows(ctx, l.startTS, l.rows)
}
