package hints

import (
	"context"
	"sync"

	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// Liveness is what memory knows of a transaction of this Store that has locks in the store, while
// it runs and after its commit point. On an exclusive engine a transaction that meets one of its
// locks asks here and not at the primary: the owner lives for as long as it runs, whatever the
// clock does, and a reader pushes its commit timestamp without an update of the store (txn: I24).
//
//	runs ──tryCommitPrimary──► applying ──► committed
//	  ▲                            │
//	  └───── refused ──────────────┴──► unsure: its primary alone knows
//
// The zero value knows nothing, as does that of a transaction that ended without a known commit.
type Liveness struct {
	mu       sync.Mutex
	runs     bool
	async    bool          // all its locks together are its status; no reader pushes it
	unsure   bool          // an update at its commit point may have succeeded
	pushed   tso.Timestamp // it commits at or above
	applying *Pending      // its commit point under way, too late to be pushed
	commitTS tso.Timestamp // once it is committed, durably
	rolled   bool          // it is rolled back

	client    uint64 // shown to transactions that wait for it
	statement string
}

// begin notes that the transaction runs, and is about to have a lock in the store.
func (v *Liveness) begin() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.runs = true
}

// BeginAsync notes that the transaction commits by its locks alone.
func (v *Liveness) BeginAsync() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.async = true
}

// End notes that the transaction has ended, or rolls back: what becomes of its locks is decided in
// the store from now on. It may be repeated. A nil receiver is allowed.
func (v *Liveness) End() {
	if v == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.runs = false
}

func (v *Liveness) forget() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.runs, v.commitTS, v.rolled = false, 0, false
}

// SetClient notes the client and the statement on whose behalf the transaction has locks.
func (v *Liveness) SetClient(client uint64, statement string) {
	if v == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.client, v.statement = client, statement
}

// Apply is called inside the step that is the commit point. It refuses a commit timestamp that a
// reader has pushed; otherwise readers at or above it wait for p from now on.
func (v *Liveness) Apply(p *Pending, commitTS tso.Timestamp) error {
	if v == nil {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.pushed > commitTS {
		return &mvcc.CommitTooEarlyError{CommitTS: commitTS, MinCommitTS: v.pushed}
	}
	v.applying = p
	return nil
}

// Applied notes the result of the commit point. It must be called before its entry leaves the table
// of commits in flight.
func (v *Liveness) Applied(commitTS tso.Timestamp, unknown bool, err error) {
	if v == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.applying = nil
	switch {
	case err == nil:
		v.commitTS = commitTS
	case unknown:
		v.unsure = true
	}
}

// decided notes the status of a transaction whose locks stay for a while: its commit_ts, which is
// durable, or zero for a rollback.
func (v *Liveness) decided(commitTS tso.Timestamp) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.commitTS, v.rolled = commitTS, commitTS == 0
}

// committed returns the commit_ts, or zero if there is none yet. In that case known reports that
// there will be none at or below a timestamp which was drawn before the table of commits in flight
// was copied, if no commit point of the transaction is in the copy: a commit enters that table
// before its commit_ts is drawn.
func (v *Liveness) committed() (commitTS tso.Timestamp, known bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.commitTS, v.commitTS != 0 || v.rolled || v.runs && !v.unsure && !v.async
}

// overBy reports whether the transaction is known to be rolled back, or committed at or below ts.
func (v *Liveness) overBy(ts tso.Timestamp) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.rolled || v.commitTS != 0 && v.commitTS <= ts
}

// Alive reports whether the transaction is known to run.
func (v *Liveness) Alive() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.runs
}

// Status returns what the primary would (mvcc.CheckStatus), for a reader at readerTS, or, when that
// is zero, for a transaction that waits for this one. A reader waits for a commit point under way,
// which is an update and its sync. known is false when the status is in the store only.
func (v *Liveness) Status(ctx context.Context, readerTS tso.Timestamp) (st mvcc.Status, known bool,
	err error) {
	for {
		st, known, p := v.look(readerTS)
		if p == nil {
			return st, known, nil
		}
		if done, err := p.Wait(ctx, readerTS); err != nil || !done {
			st.Pushed = err == nil // it turned out to commit above the reader
			return st, err == nil, err
		}
	}
}

// look is status without the wait: it returns the commit that is to be waited for.
func (v *Liveness) look(readerTS tso.Timestamp) (st mvcc.Status, known bool, p *Pending) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.commitTS != 0:
		return mvcc.Status{CommitTS: v.commitTS}, true, nil
	case !v.runs || v.unsure || v.async:
		return mvcc.Status{}, false, nil
	}
	st.Lock = mvcc.Lock{Client: v.client, Statement: v.statement}
	switch {
	case readerTS == 0:
		return st, true, nil
	case v.applying != nil:
		return st, true, v.applying
	}
	v.pushed = max(v.pushed, readerTS+1)
	st.Pushed = true
	return st, true, nil
}
