package txn

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// Protocol is a way in which commits reach the store. All of them give the same histories; what
// each leaves in the store on its way differs, and is what `minidb dump` shows after a crash.
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

// ProtocolError says that a Store cannot keep a protocol.
type ProtocolError struct {
	Protocol Protocol
	Reason   string
}

func (e *ProtocolError) Error() string {
	return fmt.Sprintf("commit protocol %s is not possible here: %s", e.Protocol, e.Reason)
}

// tryer is a source that can draw without touching the engine.
type tryer interface {
	TryNext() (tso.Timestamp, bool)
	Extend(ctx context.Context) error
}

func (s *Store) tryer() tryer {
	if s.own != nil {
		return s.own
	}
	t, _ := s.source.(tryer)
	return t
}

// drawsUnderLatches reports whether commit timestamps can be drawn inside an update of the engine,
// where no other process draws any.
func (s *Store) drawsUnderLatches() bool { return s.alone && s.tryer() != nil }

// checkProtocol reports why the Store cannot keep a protocol. What replaces a commit's locks
// towards readers in one phase is the table in flight, and async calculates a timestamp above all
// reads: both are this process's memory, and their timestamps are drawn under the engine's latches.
func (s *Store) checkProtocol(p Protocol) error {
	if p == Auto || p == TwoPhase {
		return nil
	}
	if !s.drawsUnderLatches() {
		return &ProtocolError{p, "other processes write to the store, or its oracle cannot draw " +
			"under a latch"}
	}
	if _, grouped := s.engine.(kv.Grouped); grouped && p == OnePhase {
		return &ProtocolError{p, "the store's rows are in several groups"}
	}
	return nil
}

// protocol decides how the commit reaches the store. It is asked once (txn: I15).
func (c *committer) protocol() Protocol {
	switch p := c.t.protocol; {
	case p == OnePhase, p == Async && c.fewKeys():
		return p
	case p == Auto && c.s.drawsUnderLatches() && c.oneBatch() && c.oneGroup():
		return OnePhase
	}
	return TwoPhase
}
