package hints

import (
	"bytes"
	"context"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// inflight is the table of commits whose write records may be visible in the engine and are not
// known to be durable, or have a timestamp and are not visible yet. A reader above such a commit
// waits for it when it reads one of its keys (txn: I2; docs/adr/0002).
//
// A commit enters before its timestamp is drawn and leaves after its update has returned, and its
// result is known (package commit). A reader copies the table after its start_ts was drawn and
// before it takes its snapshot. So a commit below start_ts that is not in the copy has returned and
// is in the snapshot, and one that enters later has a timestamp above start_ts.
type inflight struct {
	n  atomic.Int64
	mu struct {
		sync.Mutex
		commits []*Pending
	}
}

// Pending is one commit under way.
type Pending struct {
	CommitTS atomic.Uint64 // zero until it is drawn
	Visible  atomic.Bool   // the engine shows it
	muts     []mvcc.Mutation
	primary  bool // muts is the primary alone: the transaction's other keys are locked
	Done     chan struct{}
	Lost     error // once done: the store ended before the result was known
	at       int   // index in the table; under its mutex
}

// Enter adds a commit of the mutations, which are sorted by key.
func (f *inflight) Enter(muts []mvcc.Mutation) *Pending {
	return f.add(&Pending{muts: muts, Done: make(chan struct{})})
}

// EnterPrimary adds the commit point of a transaction whose other keys are locked.
func (f *inflight) EnterPrimary(primary []mvcc.Mutation) *Pending {
	return f.add(&Pending{muts: primary, primary: true, Done: make(chan struct{})})
}

func (f *inflight) add(p *Pending) *Pending {
	f.mu.Lock()
	p.at = len(f.mu.commits)
	f.mu.commits = append(f.mu.commits, p)
	f.n.Add(1)
	f.mu.Unlock()
	return p
}

// Leave takes it out and wakes the readers that wait for it.
func (f *inflight) Leave(p *Pending) {
	f.mu.Lock()
	last := len(f.mu.commits) - 1
	moved := f.mu.commits[last]
	f.mu.commits[p.at], moved.at = moved, p.at
	f.mu.commits[last] = nil
	f.mu.commits = f.mu.commits[:last]
	f.n.Add(-1)
	f.mu.Unlock()
	close(p.Done)
}

// below appends to dst the commits that may have a timestamp at or below startTS. At it: a reader
// of the past may have named the very timestamp of a commit.
func (f *inflight) below(startTS tso.Timestamp, dst []*Pending) []*Pending {
	if f.n.Load() == 0 {
		return dst
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.mu.commits {
		if ts := tso.Timestamp(p.CommitTS.Load()); ts == 0 || ts <= startTS {
			dst = append(dst, p)
		}
	}
	return dst
}

// Writer returns a commit in flight that writes the key, but for those to be passed over, or nil.
func (f *inflight) Writer(key []byte, pass func(*Pending) bool) *Pending {
	if f.n.Load() == 0 {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.mu.commits {
		if p.HasKey(key) && !pass(p) {
			return p
		}
	}
	return nil
}

// HasKey reports whether the commit writes the key.
func (p *Pending) HasKey(key []byte) bool {
	i := p.search(key)
	return i < len(p.muts) && bytes.Equal(p.muts[i].Key, key)
}

// HasKeyIn reports whether it writes a key of the span.
func (p *Pending) HasKeyIn(span kv.Span) bool {
	i := p.search(span.Start)
	return i < len(p.muts) && span.Contains(p.muts[i].Key)
}

func (p *Pending) search(key []byte) int {
	return sort.Search(len(p.muts),
		func(i int) bool { return bytes.Compare(p.muts[i].Key, key) >= 0 })
}

// Wait returns when the commit cannot concern a reader at startTS any more: it is done, or its
// timestamp turned out to be above. It reports whether it is done. Between entering and drawing a
// commit holds the processor, so the first loop is short.
func (p *Pending) Wait(ctx context.Context, startTS tso.Timestamp) (done bool, err error) {
	for {
		if ts := tso.Timestamp(p.CommitTS.Load()); ts > startTS {
			return false, nil
		} else if ts != 0 {
			break
		}
		select {
		case <-p.Done:
			return true, nil
		default:
			runtime.Gosched()
		}
	}
	select {
	case <-p.Done:
		return true, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}
