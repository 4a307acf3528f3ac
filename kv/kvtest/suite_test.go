package kvtest_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/kv/record"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func pebble(t *testing.T) kv.Engine {
	e, err := pebblekv.Open("",
		pebblekv.Options{InMemory: true, MemTableBytes: 1 << 18, CacheBytes: 1 << 20})
	require.NoError(t, err)
	return e
}

func memory(*testing.T) kv.Engine { return memkv.New(memkv.Options{}) }

func TestWrappersKeepTheContract(t *testing.T) {
	t.Run("record", func(t *testing.T) {
		kvtest.Run(t, func(t *testing.T) kv.Engine { return record.New(pebble(t)) })
	})
	t.Run("fault without a plan", func(t *testing.T) {
		kvtest.Run(t, func(t *testing.T) kv.Engine { return kvtest.NewFault(memory(t)) })
	})
	t.Run("steps", func(t *testing.T) {
		kvtest.Run(t, func(t *testing.T) kv.Engine { return kvtest.NewSteps(pebble(t)) })
	})
	t.Run("poison", func(t *testing.T) {
		kvtest.Run(t, func(t *testing.T) kv.Engine { return kvtest.NewPoison(pebble(t)) })
	})
	t.Run("key by key", func(t *testing.T) {
		kvtest.Run(t, func(t *testing.T) kv.Engine { return kvtest.NewKeyByKey(pebble(t)) })
	})
	t.Run("key by key in groups", func(t *testing.T) {
		kvtest.Run(t, func(t *testing.T) kv.Engine {
			return kvtest.NewKeyByKey(memkv.New(memkv.Options{HashGroups: 3}))
		})
	})
	t.Run("key by key with limits", func(t *testing.T) {
		kvtest.Run(t, func(t *testing.T) kv.Engine {
			return kvtest.NewKeyByKey(memkv.New(memkv.Options{Limits: kv.LeastLimits}))
		})
	})
	t.Run("mirror of limits", func(t *testing.T) {
		kvtest.Run(t, func(t *testing.T) kv.Engine {
			small := func() kv.Engine { return memkv.New(memkv.Options{Limits: kv.LeastLimits}) }
			return kvtest.NewMirror(small(), small())
		})
	})
	t.Run("mirror of memory and pebble", func(t *testing.T) {
		kvtest.Run(t, func(t *testing.T) kv.Engine {
			return kvtest.NewMirror(memory(t),
				pebble(t))
		})
	})
}

func put(e kv.Engine, row, value string) error {
	r := []byte(row + "\x00\x01")
	return e.Update(context.Background(), [][]byte{r}, func(_ kv.Reader, b *kv.Batch) error {
		b.Set(append([]byte{'x'}, r...), []byte(value))
		return nil
	})
}

func TestMirrorNoticesADifference(t *testing.T) {
	a, b := memory(t), memory(t)
	m := kvtest.NewMirror(a, b)
	require.NoError(t, put(m, "a", "1"))
	require.NoError(t, put(b, "a", "2"))
	s, err := m.Snapshot()
	require.NoError(t, err)
	_, err = s.Get(context.Background(), []byte("xa\x00\x01"))
	require.ErrorIs(t, err, kvtest.ErrDiverged)
	require.NoError(t, s.Close())
}

func TestFaultFailsTheChosenUpdate(t *testing.T) {
	for _, applied := range []bool{false, true} {
		e := memory(t)
		f := kvtest.NewFault(e)
		f.Plan(kvtest.FaultPlan{At: 2, Applied: applied})
		require.NoError(t, put(f, "a", "1"))
		err := put(f, "a", "2")
		require.ErrorIs(t, err, kvtest.ErrInjected)
		require.False(t, errors.Is(err, kv.ErrNotApplied))
		want := map[bool]string{false: "1", true: "2"}[applied]
		require.Equal(t, []string{"78610001=3" + want}, kvtest.Dump(t, e))
		require.NoError(t, put(f, "a", "3"))
		require.Equal(t, 1, f.Hits())
	}
}

func TestRecordCounts(t *testing.T) {
	r := record.New(memory(t))
	before := r.Counts()
	require.NoError(t, put(r, "a", "1"))
	require.Equal(t, record.Counts{Updates: 1, Sets: 1, Bytes: 5, Syncs: 1}, r.Since(before))
}

func TestAnUnknownResultIsSettledByTheNextUpdate(t *testing.T) {
	for _, plan := range []kvtest.FaultPlan{{At: 1}, {At: 1, Applied: true}, {At: 1, Late: true}} {
		kvtest.RunUnknown(t, func(t *testing.T) (kv.Engine, func()) {
			f := kvtest.NewFault(memory(t))
			return f, func() { f.Plan(plan) }
		})
	}
}

// TestALateUpdateIsNotSeenBeforeItLands: nor is it lost.
func TestALateUpdateIsNotSeenBeforeItLands(t *testing.T) {
	e := memory(t)
	f := kvtest.NewFault(e)
	f.Plan(kvtest.FaultPlan{At: 1, Late: true})
	require.ErrorIs(t, put(f, "a", "1"), kvtest.ErrInjected)
	require.NoError(t, put(f, "b", "1"))
	require.Equal(t, []string{"78620001=31"}, kvtest.Dump(t, e))
	require.NoError(t, f.Land())
	require.Equal(t, []string{"78610001=31", "78620001=31"}, kvtest.Dump(t, e))
}

// TestALateUpdateIsLostByNoOther: whatever runs beside one that is late has its effect below it or
// finds it.
func TestALateUpdateIsLostByNoOther(t *testing.T) {
	const writers, each = 8, 500
	ctx := context.Background()
	f := kvtest.NewFault(memory(t))
	f.Plan(kvtest.FaultPlan{At: writers * each / 4, Times: writers * each / 2, Late: true})
	row := []byte("k\x00\x01")
	key := append([]byte{'x'}, row...)
	count := func(r kv.Reader) int {
		v, err := r.Get(ctx, key)
		require.NoError(t, err)
		if v == nil {
			return 0
		}
		n, err := strconv.Atoi(string(v))
		require.NoError(t, err)
		return n
	}
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range each {
				err := f.Update(ctx, [][]byte{row}, func(r kv.Reader, b *kv.Batch) error {
					b.Set(key, []byte(strconv.Itoa(count(r)+1)))
					return nil
				})
				if err != nil && !errors.Is(err, kvtest.ErrInjected) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, f.Land())
	s, err := f.Snapshot()
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	require.Equal(t, writers*each, count(s))
}
