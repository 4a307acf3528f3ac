package txn_test

import (
	"context"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/kv/pebblekv/testfs"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

// remoteOracle has nothing but Next, as one that is reached by a request.
type remoteOracle struct{ tso.Source }

// TestAProtocolThatAStoreCannotKeepIsRefused at Open and at Begin, by its name.
func TestAProtocolThatAStoreCannotKeepIsRefused(t *testing.T) {
	ctx := context.Background()
	elsewhere := "other processes write to the store, or its oracle cannot draw under a latch"
	pebble := func() kv.Engine {
		e, err := pebblekv.Open("db", pebblekv.Options{FS: testfs.NewCrashFS()})
		require.NoError(t, err)
		return e
	}
	memory := func(o memkv.Options) func() kv.Engine {
		return func() kv.Engine {
			return memkv.New(
				o)
		}
	}
	for _, c := range []struct {
		engine  func() kv.Engine
		remote  bool
		refused map[txn.Protocol]string
	}{
		{engine: pebble},
		{engine: pebble, remote: true,
			refused: map[txn.Protocol]string{txn.OnePhase: elsewhere, txn.Async: elsewhere}},
		{engine: memory(memkv.Options{HashGroups: 2}),
			refused: map[txn.Protocol]string{txn.OnePhase: "the store's rows are in several " +
				"groups"}},
		{engine: memory(memkv.Options{Shared: true}), remote: true,
			refused: map[txn.Protocol]string{txn.OnePhase: elsewhere, txn.Async: elsewhere}},
	} {
		for _, p := range []txn.Protocol{txn.Auto, txn.OnePhase, txn.TwoPhase, txn.Async} {
			e := c.engine()
			opts := txn.Options{Protocol: p, LeaseRenewal: -1}
			if c.remote {
				opts.Oracle = remoteOracle{&stepOracle{}}
			}
			s, err := txn.Open(ctx, e, opts)
			if reason := c.refused[p]; reason != "" {
				require.ErrorContains(t, err,
					"commit protocol "+p.String()+" is not possible here: "+reason)
				opts.Protocol = txn.Auto
				s, err = txn.Open(ctx, e, opts)
				require.NoError(t, err)
				_, begun := s.Begin(ctx, txn.BeginOptions{Protocol: p})
				require.ErrorContains(t, begun, reason)
			}
			require.NoError(t, err)
			commit(t, s, "a", "1", "z", "2")
			require.NoError(t, s.Close())
			require.NoError(t, e.Close())
		}
	}
}

func TestProtocolsHaveNames(t *testing.T) {
	for _, p := range []txn.Protocol{txn.Auto, txn.OnePhase, txn.TwoPhase, txn.Async} {
		got, err := txn.ParseProtocol(p.String())
		require.NoError(t, err)
		require.Equal(t, p, got)
	}
}
