package txn_test

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/record"
	"github.com/minidb/minidb/txn"
)

// What TiKV added, as far as P8, P9 and P1 do not cover it: T1 parallel prewrite, T2 the rollback
// record, T3 short values, T4 point reads.
var addedClauses = []clause{
	{"T1 I4", "when a batch fails, all batches are rolled back", failedBatchRollsBack},
	{"T1", "prewrites of different groups run at the same time", prewritesRunTogether},
	{"T2 I5", "a rollback leaves a record of its own", latePrimaryIsStopped},
	{"T4 I14", "a snapshot that another transaction left hides no commit",
		leftSnapshotHidesNothing},
	{"T4 I14", "a point read without a timestamp sees what was acknowledged", pointReadIsNewest},
	{"T4", "a point read without a timestamp draws none", pointReadDrawsNothing},
	{"T3 I7", "a short value is read without another look-up", shortValueIsInlined},
}

// ordered is an engine in two groups on which the prewrite of z arrives after that of a.
type ordered struct {
	kv.Engine
	landed chan struct{}
	once   sync.Once
}

func (o *ordered) Exclusive() bool { return true }

func (o *ordered) Group(row []byte) uint64 { return kv.GroupOf(o.Engine, row) }

func (o *ordered) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	if bytes.HasPrefix(rows[0], []byte("z")) {
		<-o.landed
	}
	err := o.Engine.Update(ctx, rows, step)
	if bytes.HasPrefix(rows[0], []byte("a")) {
		o.once.Do(func() { close(o.landed) })
	}
	return err
}

// failedBatchRollsBack: of two prewrites under way at once one succeeds and the other is refused.
// The next transaction does not have to wait for a time to live.
func failedBatchRollsBack(sc *scene) {
	e := split()
	sc.commit(sc.open(e, txn.Options{}), "z", "0")
	s := sc.open(&ordered{Engine: e, landed: make(chan struct{})}, txn.Options{})
	tx := sc.writer(s, "a", "1")
	sc.must(tx.Insert([]byte("z"), nil), "insert")
	wantError[*txn.AlreadyExistsError](sc, "commit", tx.Commit(sc.ctx))
	sc.commit(s, "a", "2")
	sc.want("after both", sc.read(s, "a", "z"), "a=2 z=0 ")
}

func shortValueIsInlined(sc *scene) {
	rec := record.New(single())
	s := sc.openWith(rec, txn.Options{Protocol: txn.TwoPhase}, "", nil)
	sc.commit(s, "a", "1")
	tx := sc.begin(s)
	before := rec.Counts()
	sc.want("a", sc.get(tx, "a"), "1")
	sc.want("look-ups of a read", rec.Since(before), record.Counts{Snapshots: 1, Iters: 1})
}

func leftSnapshotHidesNothing(sc *scene) {
	s := sc.open(single(), txn.Options{})
	sc.commit(s, "a", "1")
	sc.want("before", sc.read(s, "a"), "a=1 ")
	sc.commit(s, "a", "2")
	sc.want("after", sc.read(s, "a"), "a=2 ")
}

func (sc *scene) newest(s *txn.Store, key string) string {
	v, err := s.Get(sc.ctx, []byte(key))
	sc.must(err, "point read")
	return string(v)
}

func pointReadIsNewest(sc *scene) {
	for _, e := range []kv.Engine{single(), shared()} {
		s := sc.openWith(e, txn.Options{}, "", nil)
		sc.commit(s, "a", "1")
		sc.want("before", sc.read(s, "a"), "a=1 ")
		sc.commit(s, "a", "2")
		sc.want("after", sc.newest(s, "a"), "2")
	}
}

func pointReadDrawsNothing(sc *scene) {
	for _, e := range []kv.Engine{single(), shared()} {
		oracle := &stepOracle{}
		s := sc.openWith(e, txn.Options{Oracle: oracle}, "", nil)
		sc.commit(s, "a", "1")
		sc.want("a", sc.read(s, "a"), "a=1 ")
		before := oracle.Now()
		sc.want("a", sc.newest(s, "a"), "1")
		sc.want("timestamps drawn", oracle.Now()-before, 0)
	}
}

// meeting is an engine on which no prewrite of a commit goes on before all of them have begun, as
// if each waited for the others. One that never sees them gives up when its context ends.
type meeting struct {
	kv.Engine
	missing atomic.Int64
	met     chan struct{}
}

func (m *meeting) Exclusive() bool { return true }

func (m *meeting) Group(row []byte) uint64 { return kv.GroupOf(m.Engine, row) }

func (m *meeting) UpdateLazy(ctx context.Context, rows [][]byte, step kv.Step) error {
	switch left := m.missing.Add(-1); {
	case left == 0:
		close(m.met)
	case left > 0:
		select {
		case <-m.met:
		case <-ctx.Done():
			return kv.NotApplied(ctx.Err())
		}
	}
	return kv.UpdateLazy(ctx, m.Engine, rows, step)
}

// prewritesRunTogether: the prewrites of two groups, and of four.
func prewritesRunTogether(sc *scene) {
	four := memkv.New(memkv.Options{Splits: [][]byte{[]byte("b"), []byte("m"), []byte("z")}})
	for groups, e := range map[int64]kv.Engine{2: split(), 4: four} {
		m := &meeting{Engine: e, met: make(chan struct{})}
		s := sc.open(m, txn.Options{Protocol: txn.TwoPhase})
		tx := sc.writer(s, "a", "1", "b", "1", "y", "1", "z", "1")
		m.missing.Store(groups)
		ctx, cancel := context.WithTimeout(sc.ctx, meetingMax)
		sc.must(tx.Commit(ctx), "commit")
		cancel()
		sc.want("after the commit", sc.read(s, "a", "b", "y", "z"), "a=1 b=1 y=1 z=1 ")
	}
}

// meetingMax is far above what prewrites need that run at the same time, and all that those wait
// which do not.
const meetingMax = 20 * time.Second
