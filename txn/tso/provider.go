package tso

import "github.com/minidb/minidb/kv"

// Provider is an engine of a store that has an oracle of its own, for all processes that share it.
type Provider interface {
	// Oracle returns a source that is usable until the engine is closed.
	Oracle() Source
}

// OracleOf returns the oracle of an engine's store, and nil if the store has none.
func OracleOf(e kv.Engine) Source {
	if p, ok := e.(Provider); ok {
		return p.Oracle()
	}
	return nil
}
