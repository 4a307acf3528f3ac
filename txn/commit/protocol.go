package commit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// Protocol is a way in which commits reach the store. All of them give the same histories. What
// each leaves in the store on its way differs; `minidb dump` shows it after a crash.
type Protocol uint8

const (
	// Auto is OnePhase for a commit that is one batch of one group, where the Store can keep it,
	// and TwoPhase for any other.
	Auto Protocol = iota
	// OnePhase writes the records of a commit by one update, without any lock. It needs an engine
	// of this process's own whose rows are one group. Large transactions, which stream their writes
	// out before Commit, take two phases all the same.
	OnePhase
	// TwoPhase is Percolator's commit: locks on all keys, the commit point on the primary, the
	// others.
	TwoPhase
	// Async commits by the locks alone, at a timestamp calculated from them; the records follow in
	// the background. It needs an engine of this process's own. Commits of many keys take two
	// phases.
	Async
)

var protocolNames = []string{"auto", "one-phase", "two-phase", "async"}

// String returns the protocol's name, as ParseProtocol reads it.
func (p Protocol) String() string { return protocolNames[p] }

// ParseProtocol returns the protocol of a name: auto, one-phase, two-phase or async.
func ParseProtocol(name string) (Protocol, error) {
	if i := slices.Index(protocolNames, name); i >= 0 {
		return Protocol(i), nil
	}
	return 0, fmt.Errorf("commit protocol %q is none of %s", name,
		strings.Join(protocolNames, ", "))
}

// ProtocolError is returned for a protocol that a Store cannot keep.
type ProtocolError struct {
	Protocol Protocol
	Reason   string
}

func (e *ProtocolError) Error() string {
	return fmt.Sprintf("commit protocol %s is not possible here: %s", e.Protocol, e.Reason)
}

// CheckProtocol reports why a store cannot keep a protocol. In one phase the table in flight does
// for readers what a commit's locks do, and async calculates a timestamp above all reads. Both are
// this process's memory, and their timestamps are drawn under the engine's latches.
func CheckProtocol(p Protocol, engine kv.Engine, source tso.Source) error {
	if p == Auto || p == TwoPhase {
		return nil
	}
	if drawerOf(engine, source) == nil {
		return &ProtocolError{p, "other processes write to the store, or its oracle cannot draw " +
			"under a latch"}
	}
	if _, grouped := engine.(kv.Grouped); grouped && p == OnePhase {
		return &ProtocolError{p, "the store's rows are in several groups"}
	}
	return nil
}
