package txn_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

// What memory knows of a large transaction: which keys it has not streamed out, and its status.
var streamFateClauses = []clause{
	{"I13", "memory keeps every key that was streamed out", streamedKeyIsKnown},
	{"I23", "a decided lock is no version below its commit", decidedLockIsARecord},
	{"I23", "a decided lock is a version from its commit on", decidedLockIsARecord},
	{"I14", "a snapshot knows which of its locks are decided", decidedLockIsARecord},
	{"I14", "a snapshot from before a large commit does not hide it", largeCommitIsSeen},
}

func streamedKeyIsKnown(sc *scene) {
	s := sc.open(single(), txn.Options{StreamBytes: 1})
	tx := sc.writer(s, "b", "1", "a", "1", "c", "1")
	sc.want("a", sc.get(tx, "a"), "1")
	sc.set(tx, "b", "2")
	sc.must(tx.Delete([]byte("c")), "delete")
	sc.must(tx.Commit(sc.ctx), "commit")
	sc.want("after the commit", sc.read(s, "a", "b", "c"), "a=1 b=2 c=- ")
}

// decidedLockIsARecord: the background has settled one lock of a large transaction, and is not
// done.
func decidedLockIsARecord(sc *scene) {
	s := sc.open(single(), txn.Options{StreamBytes: 1, BatchKeys: 1,
		CrashPoint: func(p txn.CrashPoint) bool {
			return p == txn.AfterSecondaryBatch
		}})
	sc.commit(s, "b", "1")
	sc.commit(s, "c", "1")
	sc.commit(s, "d", "1")
	tx := sc.writer(s, "a", "2", "b", "2", "e", "2")
	sc.must(tx.Delete([]byte("c")), "delete")
	sp := tx.Savepoint()
	sc.set(tx, "d", "2")
	tx.RollbackTo(sp)
	before := sc.begin(s) // later than the locks, which it has to ask about
	sc.must(tx.Commit(sc.ctx), "commit")
	after := sc.begin(s)
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		was, is := "1", "2"
		switch key {
		case "a", "e":
			was = "-"
		case "c":
			is = "-"
		case "d":
			is = "1"
		}
		sc.want(key+" before", sc.get(before, key), was)
		sc.want(key+" after", sc.get(after, key), is)
	}
	sc.want("all before", sc.keysOf(before), "b c d ")
	sc.want("all after", sc.keysOf(after), "a b d e ")
	snap, err := s.Engine().Snapshot()
	sc.must(err, "snapshot")
	left := 0
	sc.must(mvcc.Locks(sc.ctx, snap, kv.Span{},
		func([]byte, mvcc.Lock) error { left++; return nil }), "locks")
	sc.must(snap.Close(), "close")
	sc.want("locks that nobody settled", left, 3)
}

func (sc *scene) keysOf(tx *txn.Txn) (out string) {
	it, err := tx.Scan(sc.ctx, kv.Span{}, txn.ScanOptions{KeysOnly: true})
	sc.must(err, "scan")
	for it.Next() {
		out += string(it.Key()) + " "
	}
	sc.must(it.Err(), "scan")
	sc.must(it.Close(), "close")
	return out
}

// TestLocksOfDecidedStreamsReadAsRecords: after large transactions whose locks are settled in part,
// or not at all, every reader at every timestamp sees what a list of the commits says.
func TestLocksOfDecidedStreamsReadAsRecords(t *testing.T) {
	for range 60 {
		seed := rand.Uint64()
		for _, e := range []kv.Engine{memkv.New(memkv.Options{}),
			memkv.New(memkv.Options{HashGroups: 3}), openPebble(t)} {
			decidedStreams(t, seed, e)
		}
	}
}

func decidedStreams(t *testing.T, seed uint64, e kv.Engine) {
	ctx := context.Background()
	dice := rand.New(rand.NewPCG(seed, 1))
	stop := false // the dice are not the background's
	s, err := openTxn(ctx, e, txn.Options{StreamBytes: 1, BatchKeys: 2,
		CrashPoint: func(p txn.CrashPoint) bool {
			return stop && p == txn.AfterSecondaryBatch
		}})
	require.NoError(t, err)
	defer func() {
		_, err := s.SettleLocks(ctx)
		require.NoError(t, err)
		require.NoError(t, s.Close())
		checkStore(t, e, fmt.Sprintf("seed %d", seed))
		require.NoError(t, e.Close())
	}()
	versions := map[tso.Timestamp]map[string]string{0: {}}
	history := []tso.Timestamp{0}
	for range 25 {
		stop = dice.IntN(3) > 0
		last := versions[history[len(history)-1]]
		next := maps.Clone(last)
		tx := begin(t, s)
		for range 1 + dice.IntN(6) {
			key := fmt.Sprintf("k%d\x00%d", dice.IntN(4), dice.IntN(3))
			switch dice.IntN(4) {
			case 0:
				require.NoError(t, tx.Delete([]byte(key)))
				delete(next, key)
			default:
				value := strings.Repeat("v", []int{0, 1, 5, mvcc.ShortValueMax + 1}[dice.IntN(4)]) +
					fmt.Sprint(tx.StartTS())
				require.NoError(t, tx.Set([]byte(key), []byte(value)))
				next[key] = value
			}
		}
		if dice.IntN(4) == 0 {
			require.NoError(t, tx.Rollback(ctx))
		} else {
			require.NoError(t, tx.Commit(ctx))
			history = append(history, tx.CommitTS())
			versions[tx.CommitTS()] = next
		}
		at := 1 + dice.IntN(len(history))
		readDecided(t, s, 0, versions[history[len(history)-1]], seed)
		if at < len(history) {
			readDecided(t, s, history[at], versions[history[at]], seed)
			readDecided(t, s, history[at]-1, versions[history[at-1]], seed)
		}
	}
}

// readDecided reads everything in each way at a timestamp, or now, and wants the given content.
func readDecided(t *testing.T, s *txn.Store, at tso.Timestamp, content map[string]string,
	seed uint64) {
	ctx := context.Background()
	tx, err := s.Begin(ctx, txn.BeginOptions{StartTS: at})
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback(ctx)) }()
	for _, span := range []kv.Span{{}, {Start: []byte("k1"), End: []byte("k2\x001")}} {
		var want []string
		for _, key := range slices.Sorted(maps.Keys(content)) {
			if span.Contains([]byte(key)) {
				want = append(want, key+"="+content[key])
			}
		}
		require.Equal(t, want, scan(t, tx, span, txn.ScanOptions{}), "seed %d", seed)
		slices.Reverse(want)
		require.Equal(t, want, scan(t, tx, span, txn.ScanOptions{Reverse: true}), "seed %d", seed)
	}
	for i := range 12 {
		key := fmt.Sprintf("k%d\x00%d", i/3, i%3)
		value, err := tx.Get(ctx, []byte(key))
		require.NoError(t, err)
		want, there := content[key]
		require.Equal(t, there, value != nil, "seed %d: %q", seed, key)
		require.True(t, bytes.Equal([]byte(want), value), "seed %d: %q", seed, key)
	}
}

// TestAnUndoneLongValueIsDropped: what a stream knew of its lock before it wrote a long value is
// not what it finds when that is taken back.
func TestAnUndoneLongValueIsDropped(t *testing.T) {
	ctx := context.Background()
	e := memkv.New(memkv.Options{})
	s, err := openTxn(ctx, e, txn.Options{StreamBytes: 1})
	require.NoError(t, err)
	tx := begin(t, s)
	long := bytes.Repeat([]byte("v"), mvcc.ShortValueMax+1)
	for _, key := range []string{"a", "k"} {
		require.NoError(t, tx.Set([]byte(key), []byte("short")))
	}
	sp := tx.Savepoint()
	require.NoError(t, tx.Set([]byte("k"), long))
	tx.RollbackTo(sp)
	require.NoError(t, tx.Commit(ctx))
	require.Equal(t, []string{"a=short", "k=short"},
		scan(t, begin(t, s), kv.Span{}, txn.ScanOptions{}))
	require.NoError(t, s.Close())
	checkStore(t, e, "after Close")
}

// TestACancelledLongValueIsDropped: a stream of long values over short ones ends in the middle, so
// that the locks are partly those that it knew and partly those that it was about to write.
func TestACancelledLongValueIsDropped(t *testing.T) {
	ended := 0
	for round := 0; ended <= 4; round++ { // how many a moment ends varies
		require.Less(t, round, 100)
		for at := 1; at < 12; at++ {
			ended += cancelledLongValues(t, int64(at))
		}
	}
}

// cancelledLongValues ends a statement at a moment of its updates and returns how many writes that
// ended.
func cancelledLongValues(t *testing.T, at int64) (ended int) {
	ctx := context.Background()
	statement, cancel := context.WithCancel(ctx)
	defer cancel()
	var moment atomic.Int64
	armed := false
	e := &moments{
		Engine: memkv.New(memkv.Options{}),
		at: func() {
			if armed && moment.Add(1) == at {
				cancel()
			}
		},
		lose: func() (bool, bool) { return false, false },
	}
	s, err := openTxn(ctx, e, txn.Options{StreamBytes: 1600, BatchKeys: 1})
	require.NoError(t, err)
	tx := begin(t, s)
	keys := []string{"k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8"}
	for _, key := range keys { // the last one streams them out
		require.NoError(t, tx.Set([]byte(key), []byte("1")))
	}
	tx.SetStatement(statement, "")
	armed = true
	for _, key := range keys[1:5] { // the last one streams them out, if nothing ends it
		err := tx.Set([]byte(key), bytes.Repeat([]byte("v"), mvcc.ShortValueMax+1))
		if err != nil {
			require.ErrorIs(t, err, context.Canceled)
			ended++
		}
	}
	armed = false
	tx.SetStatement(ctx, "")
	var want []string
	// k1 makes room, so it goes out with the others only
	for _, key := range append(keys[1:len(keys):len(keys)], keys[0]) {
		require.NoError(t, tx.Set([]byte(key), []byte("2")))
	}
	for _, key := range keys {
		want = append(want, key+"=2")
	}
	require.NoError(t, tx.Commit(ctx))
	require.Equal(t, want, scan(t, begin(t, s), kv.Span{}, txn.ScanOptions{}))
	s.AwaitSecondaries()
	require.NoError(t, s.Close())
	checkStore(t, e.Engine, fmt.Sprintf("ended at moment %d", at))
	return ended
}
