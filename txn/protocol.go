package txn

import "github.com/minidb/minidb/txn/commit"

// Protocol is a way in which commits reach the store.
type Protocol = commit.Protocol

// The protocols, by the names that the layers above use.
const (
	Auto     = commit.Auto
	OnePhase = commit.OnePhase
	TwoPhase = commit.TwoPhase
	Async    = commit.Async
)

// ProtocolError is returned for a protocol that a Store cannot keep.
type ProtocolError = commit.ProtocolError

// ParseProtocol returns the protocol of a name: auto, one-phase, two-phase or async.
func ParseProtocol(name string) (Protocol, error) { return commit.ParseProtocol(name) }
