package txn_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/txn"
	"github.com/stretchr/testify/require"
)

// pass runs the background's collection to the end of a pass.
func pass(t *testing.T, s *txn.Store) {
	t.Helper()
	for done := false; !done; {
		var err error
		done, err = s.CollectStep(context.Background())
		require.NoError(t, err)
	}
}

// load inserts keys, in transactions of a thousand.
func load(t *testing.T, s *txn.Store, prefix string, keys int) {
	t.Helper()
	for n := 0; n < keys; n += 1000 {
		tx := begin(t, s)
		for i := n; i < n+1000; i++ {
			require.NoError(t, tx.SetNew(fmt.Appendf(nil, "%s%08d", prefix, i), []byte("1")))
		}
		require.NoError(t, tx.Commit(context.Background()))
	}
}

// TestAPassLooksWhereSomethingWasReplaced counts the keys that passes step over: after the first
// one a load that only inserts costs none, and changes of a small table those of that table.
func TestAPassLooksWhereSomethingWasReplaced(t *testing.T) {
	ctx := context.Background()
	e := kvtest.NewSteps(memkv.New(memkv.Options{}))
	s, err := openTxn(ctx, e, txn.Options{})
	require.NoError(t, err)
	pass(t, s)
	load(t, s, "large/", 20_000)
	load(t, s, "small/", 1000)
	before := e.Steps()
	pass(t, s)
	require.Less(t, e.Steps()-before, int64(50))

	tx := begin(t, s)
	for i := range 100 {
		require.NoError(t, tx.Set(fmt.Appendf(nil, "small/%08d", i), []byte("2")))
	}
	require.NoError(t, tx.Delete([]byte("small/00000500")))
	require.NoError(t, tx.Commit(ctx))
	before = e.Steps()
	pass(t, s)
	require.Less(t, e.Steps()-before, int64(4000))
	require.Equal(t, 21_000-1, records(t, e))

	before = e.Steps()
	commit(t, s, "large/new", "1")
	pass(t, s)
	require.Less(t, e.Steps()-before, int64(100), "what was collected is forgotten")
	require.NoError(t, s.Close())
}

// TestPassesFindAllGarbage runs random transactions, in every way to commit and to fail, with
// passes in between: once they are over, a pass over everything finds nothing that the passes
// should have found.
func TestPassesFindAllGarbage(t *testing.T) {
	ctx := context.Background()
	for name, opts := range map[string]txn.Options{
		"one phase": {}, "two phases": {Protocol: txn.TwoPhase}, "async": {Protocol: txn.Async},
		"streaming": {StreamBytes: 1}, "steps": {GCRows: 3},
	} {
		t.Run(name, func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			dice := rand.New(rand.NewPCG(seed, 0))
			e := memkv.New(memkv.Options{})
			s, err := openTxn(ctx, e, opts)
			require.NoError(t, err)
			pass(t, s)
			for range 400 {
				switch dice.IntN(12) {
				case 0:
					_, err := s.CollectStep(ctx)
					require.NoError(t, err)
				case 1:
					s.AwaitSecondaries()
					require.NoError(t, s.Close())
					s, err = openTxn(ctx, e, opts)
					require.NoError(t, err)
				default:
					randomTransactions(t, s, dice)
				}
			}
			s.AwaitSecondaries()
			pass(t, s)
			pass(t, s)
			stats, err := s.CollectGarbage(ctx)
			require.NoError(t, err)
			require.Zero(t, stats.Versions)
			require.NoError(t, s.Close())
		})
	}
}

// randomTransactions runs two transactions one inside the other: the inner one may make the outer
// one fail.
func randomTransactions(t *testing.T, s *txn.Store, dice *rand.Rand) {
	t.Helper()
	ctx := context.Background()
	write := func(tx *txn.Txn) (err error) {
		for range 1 + dice.IntN(4) {
			key := fmt.Appendf(nil, "%03d", dice.IntN(300)) // each in a place of its own
			var there []byte
			if there, err = tx.Get(ctx, key); err != nil {
				return err
			}
			switch {
			case dice.IntN(4) == 0:
				err = tx.Delete(key)
			case there == nil && dice.IntN(2) == 0:
				err = tx.Insert(key, []byte("1"))
			default:
				err = tx.Set(key, make([]byte, dice.IntN(2)*300))
			}
			if err != nil {
				return err
			}
			if dice.IntN(5) == 0 {
				sp := tx.Savepoint()
				if err := tx.Set(key, []byte("2")); err != nil {
					return err
				}
				tx.RollbackTo(sp)
			}
		}
		return nil
	}
	end := func(tx *txn.Txn, err error) {
		if err != nil || dice.IntN(4) == 0 {
			_ = tx.Rollback(ctx)
			return
		}
		err = tx.Commit(ctx)
		var conflict *txn.WriteConflictError
		var exists *txn.AlreadyExistsError
		if !errors.As(err, &conflict) && !errors.As(err, &exists) {
			require.NoError(t, err)
		}
	}
	outer := begin(t, s)
	if dice.IntN(2) == 0 {
		inner := begin(t, s)
		end(inner, write(inner))
	}
	end(outer, write(outer))
}

// TestGarbageIsRememberedOverARestart: a Store that was closed in order leaves what it knew, and
// one that was not looks at everything once.
func TestGarbageIsRememberedOverARestart(t *testing.T) {
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "db")
	open := func() (kv.Engine, *kvtest.Steps, *txn.Store) {
		p, err := pebblekv.Open(dir, pebblekv.Options{MemTableBytes: 1 << 20, CacheBytes: 1 << 20})
		require.NoError(t, err)
		e := kvtest.NewSteps(p)
		s, err := openTxn(ctx, e, txn.Options{})
		require.NoError(t, err)
		return p, e, s
	}
	p, _, s := open()
	load(t, s, "large/", 5000)
	pass(t, s)
	commit(t, s, "small", "1")
	commit(t, s, "small", "2")
	require.NoError(t, s.Close())
	require.NoError(t, p.Close())

	p, e, s := open()
	before := e.Steps()
	pass(t, s)
	require.Less(t, e.Steps()-before, int64(50))
	require.Equal(t, 5001, records(t, e))
	commit(t, s, "small", "3")
	require.NoError(t, p.Close()) // without the store's Close
	require.NoError(t, s.Close())

	p, e, s = open()
	before = e.Steps()
	pass(t, s)
	require.Greater(t, e.Steps()-before, int64(5000))
	require.Equal(t, 5001, records(t, e))
	require.NoError(t, s.Close())
	require.NoError(t, p.Close())
}
