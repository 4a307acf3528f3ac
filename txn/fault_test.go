package txn_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
	"github.com/minidb/minidb/txn/txntest"
	"github.com/stretchr/testify/require"
)

// TestAFailedUpdateNeverTearsATransaction fails each update of a transfer in turn, once and for
// good, with its effect, without, and with an effect that comes later. Whatever Commit says must be
// true afterwards, and with ErrAmbiguous both accounts must still agree (txn: I4).
func TestAFailedUpdateNeverTearsATransaction(t *testing.T) {
	engines := map[string]func() kv.Engine{
		"one group":    func() kv.Engine { return memkv.New(memkv.Options{}) },
		"three groups": func() kv.Engine { return memkv.New(memkv.Options{HashGroups: 3}) },
		"shared":       func() kv.Engine { return memkv.New(memkv.Options{Shared: true, Lost: 3}) },
	}
	options := map[string]txn.Options{"async": {Protocol: txn.Async}}
	engines["async"] = engines["one group"]
	verdicts := map[string]int{}
	for name, open := range engines {
		for at := 1; at <= 8; at++ {
			for _, times := range []int{1, 2, 1000} {
				for _, plan := range []kvtest.FaultPlan{{}, {Applied: true}, {Late: true}} {
					plan.At, plan.Times = at, times
					verdicts[txntest.FailedUpdate(t, fmt.Sprintf("%s, %+v", name, plan), open(),
						options[name], plan)]++
				}
			}
		}
	}
	for _, v := range []string{"committed", "failed", "ambiguous"} {
		require.NotZero(t, verdicts[v], "no plan led to %q", v)
	}
	t.Logf("%v", verdicts)
}

// TestALostAnswerIsFoundOut: one lost answer at the commit point is not ambiguous; the coordinator
// looks, and learns.
func TestALostAnswerIsFoundOut(t *testing.T) {
	for _, opts := range []txn.Options{{}, {Protocol: txn.TwoPhase}} {
		for _, applied := range []bool{false, true} {
			f := kvtest.NewFault(memkv.New(memkv.Options{}))
			s, err := openTxn(context.Background(), f, opts)
			require.NoError(t, err)
			commit(t, s, "warm", "up")
			point := 1 // the only update of one phase
			if opts.Protocol == txn.TwoPhase {
				point = 2 // after the prewrite
			}
			f.Plan(kvtest.FaultPlan{At: point, Applied: applied})
			tx := begin(t, s)
			require.NoError(t, tx.Set([]byte("a"), []byte("1")))
			err = tx.Commit(context.Background())
			if !applied && opts.Protocol != txn.TwoPhase {
				// One phase is not run again: its rows are barred, and the caller may start over.
				require.ErrorIs(t, err, kv.ErrNotApplied)
			} else {
				require.NoError(t, err)
			}
			reader := begin(t, s)
			require.Equal(t, err == nil, get(t, reader, "a") != nil)
			if err == nil {
				require.Less(t, tx.CommitTS(), reader.StartTS())
				require.Greater(t, tx.CommitTS(), tx.StartTS())
			}
			require.NoError(t, reader.Rollback(context.Background()))
			require.NoError(t, s.Close())
		}
	}
}

func TestAnOracleThatFailsAtTheCommitPointAbortsTheCommit(t *testing.T) {
	for _, protocol := range []txn.Protocol{txn.Auto, txn.TwoPhase} {
		o := &brittleOracle{}
		s, err := openTxn(context.Background(), memkv.New(memkv.Options{}),
			txn.Options{Oracle: o, Protocol: protocol})
		require.NoError(t, err)
		tx := begin(t, s)
		require.NoError(t, tx.Set([]byte("a"), []byte("1")))
		o.broken = true
		require.ErrorIs(t, tx.Commit(context.Background()), errBrittle)
		o.broken = false
		tx = begin(t, s)
		require.Nil(t, get(t, tx, "a"))
		require.NoError(t, tx.Set([]byte("a"), []byte("1")))
		require.NoError(t, tx.Commit(context.Background()), "no lock was left behind")
		require.NoError(t, s.Close())
	}
}

var errBrittle = errors.New("no oracle")

type brittleOracle struct {
	stepOracle
	broken bool
}

func (o *brittleOracle) Next(ctx context.Context) (tso.Timestamp, error) {
	if o.broken {
		return 0, errBrittle
	}
	return o.stepOracle.Next(ctx)
}

func (o *brittleOracle) TryNext() (tso.Timestamp, bool) {
	if o.broken {
		return 0, false
	}
	return o.stepOracle.TryNext()
}

func (o *brittleOracle) Extend(context.Context) error {
	if o.broken {
		return errBrittle
	}
	return nil
}
