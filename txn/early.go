package txn

import (
	"bytes"
	"context"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/hints"
)

// Early lock release (Johnson and others, Aether, VLDB 2010; docs/adr/0005): a one-phase commit
// gives back the locks of the keys that it writes once the engine shows its batch, and not after
// the sync (package commit). Its entry in the table of commits in flight guards the keys from then
// on: their readers wait for the sync. A transaction that got such a lock and allows it
// (Locking.Early) goes on at once, and depends on the commit (txn: I18).

// dependsOn reports whether the key may be read though the commit is in flight.
func (t *Txn) dependsOn(p *hints.Pending, key []byte) bool {
	for _, d := range t.dependencies {
		if d.p == p && bytes.Equal(d.key, key) {
			return true
		}
	}
	return false
}

// depend makes the transaction depend on a commit that the engine shows. Requires: it has the key's
// lock.
func (t *Txn) depend(p *hints.Pending, key []byte) {
	t.dependencies = append(t.dependencies, dependency{p, bytes.Clone(key)})
	t.dropSnapshot() // it may lack the commit, and nothing will wait for it any more
}

// AwaitDurable waits until everything that the transaction has read is durable. A caller that sets
// Locking.Early calls it before a client learns what follows from what was read. A Commit that
// writes need not: its own sync takes what it depends on to disk. One that does not write waits
// here. The errors are the context's, and that of a store which ended before the result was known.
func (t *Txn) AwaitDurable(ctx context.Context) error {
	for i := range t.dependencies {
		select {
		case <-t.dependencies[i].p.Done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	t.dependencies = nil
	return kv.FailureOf(t.s.engine) // what was read may be what the engine failed to write
}

// awaitKey waits for the commits in flight that write the key, or depends on those that are
// visible. Requires, with Locking.Early: the transaction has the key's lock.
func (t *Txn) awaitKey(ctx context.Context, key []byte) error {
	for {
		p := t.s.memory.InFlight.Writer(key, func(p *hints.Pending) bool {
			return t.dependsOn(p, key)
		})
		switch {
		case p == nil:
			return nil
		case t.early && p.Visible.Load():
			t.depend(p, key)
			continue
		}
		select {
		case <-p.Done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
