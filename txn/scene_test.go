package txn_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// scene is the stage of one check of the checklist: a clock that moves when the check says so, the
// stores and transactions that it opened, and the steps of the protocol by name. A check fails by
// fail, which leaves it; prove turns that into an error.
type scene struct {
	ctx   context.Context
	clock int64 // milliseconds, of every store's oracle

	stores  []*txn.Store
	txns    []*txn.Txn
	engines []kv.Engine // to be closed after the stores
}

// failed is what a check panics with.
type failed struct{ error }

// prove plays a check and returns what it found wrong.
func prove(check func(sc *scene)) (err error) {
	sc := &scene{ctx: context.Background(), clock: 1000}
	defer func() {
		if p := recover(); p != nil {
			f, ok := p.(failed)
			if !ok {
				panic(p)
			}
			err = f.error
		}
		for _, tx := range sc.txns {
			_ = tx.Rollback(sc.ctx)
		}
		for _, s := range sc.stores {
			_ = s.Close() // closed by the check, perhaps
		}
		for _, e := range sc.engines {
			_ = e.Close()
		}
	}()
	check(sc)
	return nil
}

func (sc *scene) fail(format string, args ...any) { panic(failed{fmt.Errorf(format, args...)}) }

// must fails on an error.
func (sc *scene) must(err error, what string) {
	if err != nil {
		sc.fail("%s: %w", what, err)
	}
}

// want fails unless got is as it must be.
func (sc *scene) want(what string, got, want any) {
	if fmt.Sprint(got) != fmt.Sprint(want) {
		sc.fail("%s: %v, and not %v", what, got, want)
	}
}

// wantError fails unless err is of type E.
func wantError[E error](sc *scene, what string, err error) E {
	var e E
	if !errors.As(err, &e) {
		sc.fail("%s: %v, and not a %T", what, err, e)
	}
	return e
}

// split returns an engine of two groups: keys below "m", and the others.
func split() kv.Engine { return memkv.New(memkv.Options{Splits: [][]byte{[]byte("m")}}) }

func single() kv.Engine { return memkv.New(memkv.Options{}) }

// shared returns an engine that others may write to, so that a store on it believes nothing that it
// did not read: the checks' single steps go past the store.
func shared() kv.Engine { return memkv.New(memkv.Options{Shared: true}) }

// sharedSplit returns a shared engine of two groups, as split does.
func sharedSplit() kv.Engine {
	return memkv.New(memkv.Options{Shared: true, Splits: [][]byte{[]byte("m")}})
}

// pebble returns an engine that serves snapshots while an update holds its latches.
func (sc *scene) pebble() kv.Engine {
	e, err := pebblekv.Open("",
		pebblekv.Options{InMemory: true, MemTableBytes: 1 << 20, CacheBytes: 1 << 20})
	sc.must(err, "open pebble")
	sc.engines = append(sc.engines, e)
	return e
}

// open opens a store whose waits for locks are over at once.
func (sc *scene) open(e kv.Engine, opts txn.Options) *txn.Store {
	if opts.Oracle == nil && opts.Clock == nil {
		opts.Clock = func() int64 { return sc.clock }
	}
	if opts.LockWait == 0 {
		opts.LockWait = time.Millisecond
	}
	opts.LeaseRenewal = -1 // the clock does not move by itself either
	opts.Logger = slog.New(slog.DiscardHandler)
	s, err := openTxn(sc.ctx, e, opts)
	sc.must(err, "open")
	sc.stores = append(sc.stores, s)
	return s
}

// openWith is open with a function that runs the first time a commit passes the crash point, and
// reports whether the coordinator dies there.
func (sc *scene) openWith(e kv.Engine, opts txn.Options, at txn.CrashPoint,
	run func(s *txn.Store) (die bool)) *txn.Store {
	var s *txn.Store
	opts.CrashPoint = func(p txn.CrashPoint) bool {
		if p != at || run == nil {
			return false
		}
		f := run
		run = nil
		return f(s)
	}
	s = sc.open(e, opts)
	return s
}

func (sc *scene) begin(s *txn.Store) *txn.Txn { return sc.beginAt(s, 0) }

// beginAt begins a reader of the past, if ts is not zero.
func (sc *scene) beginAt(s *txn.Store, ts tso.Timestamp) *txn.Txn {
	return sc.beginIn(s, txn.BeginOptions{StartTS: ts})
}

func (sc *scene) beginIn(s *txn.Store, opts txn.BeginOptions) *txn.Txn {
	tx, err := s.Begin(sc.ctx, opts)
	sc.must(err, "begin")
	sc.txns = append(sc.txns, tx)
	return tx
}

// set writes pairs of key and value.
func (sc *scene) set(tx *txn.Txn, pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		sc.must(tx.Set([]byte(pairs[i]), []byte(pairs[i+1])), "set "+pairs[i])
	}
}

// writer begins a transaction and writes.
func (sc *scene) writer(s *txn.Store, pairs ...string) *txn.Txn {
	tx := sc.begin(s)
	sc.set(tx, pairs...)
	return tx
}

// commit writes pairs in a transaction of their own.
func (sc *scene) commit(s *txn.Store, pairs ...string) *txn.Txn {
	tx := sc.writer(s, pairs...)
	sc.must(tx.Commit(sc.ctx), "commit")
	return tx
}

// get reads a key; "-" means that it is absent.
func (sc *scene) get(tx *txn.Txn, key string) string {
	v, err := tx.Get(sc.ctx, []byte(key))
	sc.must(err, "get "+key)
	if v == nil {
		return "-"
	}
	return string(v)
}

// read reads keys in a transaction of their own.
func (sc *scene) read(s *txn.Store, keys ...string) string {
	tx := sc.begin(s)
	defer func() { _ = tx.Rollback(sc.ctx) }()
	out := ""
	for _, k := range keys {
		out += k + "=" + sc.get(tx, k) + " "
	}
	return out
}

// steps runs single steps of one transaction on an engine, as messages of its coordinator that come
// when the check lets them.
type steps struct {
	sc      *scene
	e       kv.Engine
	startTS tso.Timestamp
	primary string
	ttl     uint64
}

// coordinator begins a transaction of which only single steps are seen.
func (sc *scene) coordinator(s *txn.Store, primary string) steps {
	return steps{sc, s.Engine(), sc.begin(s).StartTS(), primary, 3000}
}

func (st steps) update(key string, step func(r kv.Reader, b *kv.Batch, row []byte) error) error {
	row := mvcc.Row([]byte(key))
	return st.e.Update(st.sc.ctx, [][]byte{row},
		func(r kv.Reader, b *kv.Batch) error { return step(r, b, row) })
}

func (st steps) prewriteKind(key string, kind mvcc.Kind, value string) error {
	p := mvcc.PrewriteParams{StartTS: st.startTS, Primary: []byte(st.primary), TTLMillis: st.ttl}
	return st.update(key, func(r kv.Reader, b *kv.Batch, row []byte) error {
		m := mvcc.Mutation{Key: []byte(key), Row: row, Kind: kind}
		if kind == mvcc.KindPut {
			m.Value = []byte(value)
		}
		return mvcc.Prewrite(st.sc.ctx, r, b, p, []mvcc.Mutation{m})
	})
}

func (st steps) prewrite(key, value string) error {
	return st.prewriteKind(key, mvcc.KindPut, value)
}

func (st steps) commit(commitTS tso.Timestamp, key string) error {
	return st.update(key, func(r kv.Reader, b *kv.Batch, row []byte) error {
		return mvcc.Commit(st.sc.ctx, r, b, st.startTS, commitTS, [][]byte{row})
	})
}

func (st steps) rollback(key string, protected bool) error {
	return st.update(key, func(r kv.Reader, b *kv.Batch, row []byte) error {
		return mvcc.Rollback(st.sc.ctx, r, b, st.startTS, [][]byte{row}, protected)
	})
}

func (st steps) heartbeat(ttl uint64) error {
	return st.update(st.primary, func(r kv.Reader, b *kv.Batch, _ []byte) error {
		p := mvcc.PrewriteParams{Primary: []byte(st.primary), StartTS: st.startTS, TTLMillis: ttl}
		return mvcc.Heartbeat(st.sc.ctx, r, b, p)
	})
}

// now draws a timestamp.
func (sc *scene) now(s *txn.Store) tso.Timestamp {
	ts, err := s.Now(sc.ctx)
	sc.must(err, "draw")
	return ts
}
