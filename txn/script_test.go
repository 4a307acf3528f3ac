package txn_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cockroachdb/datadriven"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/kv/pebblekv/testfs"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/mvcc/mvcctest"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

// stepOracle counts, so that scripts show small timestamps. Its time moves only when a script says
// so.
type stepOracle struct {
	mu   sync.Mutex
	last tso.Timestamp
}

func (o *stepOracle) Next(context.Context) (tso.Timestamp, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last++
	return o.last, nil
}

func (o *stepOracle) TryNext() (tso.Timestamp, bool) {
	ts, _ := o.Next(context.Background())
	return ts, true
}

func (o *stepOracle) Extend(context.Context) error { return nil }

func (o *stepOracle) Now() tso.Timestamp {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last
}

func (o *stepOracle) set(ts tso.Timestamp) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = ts
}

// script interprets the scripts of testdata. One line is one command: an actor's, as in
// "t1: get a", or the test's own, as in "dump". Every line is answered by one or more lines.
type script struct {
	t      *testing.T
	config scriptConfig
	oracle *stepOracle
	fs     *testfs.CrashFS
	engine kv.Engine
	store  *txn.Store
	txns   map[string]*txn.Txn
	saves  map[string]txn.Savepoint

	crashAt txn.CrashPoint
	trace   bool
	out     *strings.Builder
}

type scriptConfig struct {
	name     string
	opts     txn.Options
	engine   func() kv.Engine // nil: Pebble on a crashable file system
	twoPhase bool             // whether commits leave locks on their way
	draws    bool             // a timestamp for each batch, so the numbers differ from the others'
}

var scriptConfigs = []scriptConfig{
	{name: "one phase"},
	{name: "two phases", opts: txn.Options{Protocol: txn.TwoPhase}, twoPhase: true},
	{name: "async", opts: txn.Options{Protocol: txn.Async}, twoPhase: true},
	{name: "async batches", opts: txn.Options{Protocol: txn.Async, BatchKeys: 1}, twoPhase: true,
		draws: true},
	{name: "memory in groups", twoPhase: true, engine: func() kv.Engine {
		return memkv.New(memkv.Options{HashGroups: 3})
	}},
	{name: "shared memory", twoPhase: true, engine: func() kv.Engine {
		return memkv.New(memkv.Options{Shared: true, Lost: 3})
	}, opts: txn.Options{BatchKeys: 1}},
}

func newScript(t *testing.T, c scriptConfig) *script {
	s := &script{t: t, config: c, oracle: &stepOracle{}, txns: map[string]*txn.Txn{},
		saves: map[string]txn.Savepoint{}}
	if c.engine != nil {
		s.engine = kvtest.NewPoison(c.engine())
	} else {
		s.fs = testfs.NewCrashFS()
		s.openEngine()
	}
	s.openStore()
	return s
}

func (s *script) openEngine() {
	e, err := pebblekv.Open("db",
		pebblekv.Options{FS: s.fs, MemTableBytes: 1 << 18, CacheBytes: 1 << 20})
	require.NoError(s.t, err)
	s.engine = kvtest.NewPoison(e)
}

func (s *script) openStore() {
	opts := s.config.opts
	opts.Oracle = s.oracle
	opts.LockWait = time.Millisecond
	opts.Lease, opts.LeaseRenewal = time.Hour, -1
	opts.CrashPoint = s.crashPoint
	opts.LeaveFoundLocks = true // a script decides which transaction meets a lock, and when
	before := s.oracle.Now()
	store, err := openTxn(context.Background(), s.engine, opts)
	require.NoError(s.t, err)
	s.store = store
	s.oracle.set(before) // the session's id is no number of the script's
}

func (s *script) crashPoint(p txn.CrashPoint) bool {
	if s.trace {
		fmt.Fprintf(s.out, "-- %s\n%s", p, s.dump())
	}
	if p == s.crashAt {
		s.crashAt = ""
		return true
	}
	return false
}

func (s *script) close() {
	for _, tx := range s.txns {
		require.NoError(s.t, tx.Rollback(context.Background()))
	}
	require.NoError(s.t, s.store.Close())
	require.NoError(s.t, s.engine.Close())
}

// run answers the lines of one block.
func (s *script) run(d *datadriven.TestData) string {
	var out strings.Builder
	s.out = &out
	for line := range strings.SplitSeq(d.Input, "\n") {
		actor, rest, isActor := strings.Cut(line, ": ")
		if !isActor {
			out.WriteString(s.own(strings.Fields(line)))
			continue
		}
		answer := s.actor(actor, strings.Fields(rest))
		fmt.Fprintf(&out, "%s: %s\n", actor, answer)
	}
	return out.String()
}

// own runs one of the test's own commands.
func (s *script) own(args []string) string {
	switch args[0] {
	case "dump":
		return s.dump()
	case "ts":
		s.oracle.set(tso.Timestamp(atoi(s.t, args[1]) - 1))
	case "advance":
		d, err := time.ParseDuration(args[1])
		require.NoError(s.t, err)
		s.oracle.set(tso.New(s.oracle.Now().Physical()+d.Milliseconds(), 0))
	case "crash-at":
		require.Contains(s.t, txn.CrashPoints, txn.CrashPoint(args[1]))
		s.crashAt = txn.CrashPoint(args[1])
	case "settle":
		n, err := s.store.SettleLocks(context.Background())
		if err != nil {
			return describe(err) + "\n"
		}
		return fmt.Sprintf("%d locks settled\n", n)
	case "trace":
		s.trace = args[1] == "on"
	case "gc":
		st, err := s.store.CollectGarbage(context.Background())
		if err != nil {
			return err.Error() + "\n"
		}
		return fmt.Sprintf("safepoint %s: %d locks settled, %d versions dropped\n", st.Safepoint,
			st.Locks, st.Versions)
	case "power-failure":
		s.powerFailure()
	default:
		s.t.Fatalf("unknown command %q", args)
	}
	return ""
}

// powerFailure reopens everything from what was synced.
func (s *script) powerFailure() {
	after := s.fs.Crash(0, nil)
	s.close()
	s.fs, s.txns = after, map[string]*txn.Txn{}
	s.openEngine()
	s.openStore()
}

func atoi(t *testing.T, v string) (n int) {
	_, err := fmt.Sscan(v, &n)
	require.NoError(t, err)
	return n
}

// actor runs a command of a transaction.
func (s *script) actor(name string, args []string) string {
	ctx := context.Background()
	if args[0] == "begin" {
		var opts txn.BeginOptions
		if len(args) == 3 && args[1] == "at" {
			opts.StartTS = tso.Timestamp(atoi(s.t, args[2]))
		}
		tx, err := s.store.Begin(ctx, opts)
		if err != nil {
			return err.Error()
		}
		s.txns[name] = tx
		return "start_ts " + tx.StartTS().String()
	}
	tx := s.txns[name]
	require.NotNil(s.t, tx, "%s has not begun", name)
	switch args[0] {
	case "get":
		var out []string
		for _, k := range args[1:] {
			v, err := tx.Get(ctx, []byte(k))
			switch {
			case err != nil:
				out = append(out, describe(err))
			case v == nil:
				out = append(out, k+" is absent")
			default:
				out = append(out, k+" = "+string(v))
			}
		}
		return strings.Join(out, ", ")
	case "scan":
		span := kv.Span{}
		if len(args) > 2 {
			span = kv.Span{Start: []byte(args[1]), End: []byte(args[2])}
		}
		it, err := tx.Scan(ctx, span, txn.ScanOptions{Reverse: args[len(args)-1] == "reverse"})
		require.NoError(s.t, err)
		out := []string{}
		for it.Next() {
			out = append(out, fmt.Sprintf("%s = %s", it.Key(), it.Value()))
		}
		if err := it.Err(); err != nil {
			out = append(out, describe(err))
		}
		require.NoError(s.t, it.Close())
		return "{" + strings.Join(out, ", ") + "}"
	case "set":
		return done(tx.Set([]byte(args[1]), []byte(args[2])))
	case "insert":
		return done(tx.Insert([]byte(args[1]), []byte(args[2])))
	case "delete":
		return done(tx.Delete([]byte(args[1])))
	case "freeze":
		tx.Freeze()
		return "ok"
	case "thaw":
		tx.Thaw()
		return "ok"
	case "savepoint":
		s.saves[name+args[1]] = tx.Savepoint()
		return "ok"
	case "rollback-to":
		tx.RollbackTo(s.saves[name+args[1]])
		return "ok"
	case "forget-after":
		tx.ForgetSavepointsAfter(s.saves[name+args[1]])
		return "ok"
	case "forget":
		tx.ForgetSavepoints()
		return "ok"
	case "rollback":
		return done(tx.Rollback(ctx))
	case "commit":
		if err := tx.Commit(ctx); err != nil {
			return describe(err)
		}
		if tx.CommitTS() == 0 {
			return "nothing to commit"
		}
		return "commit_ts " + tx.CommitTS().String()
	}
	s.t.Fatalf("unknown command %q", args)
	return ""
}

func done(err error) string {
	if err != nil {
		return err.Error()
	}
	return "ok"
}

// describe prints an error so that it is the same whichever way a transaction commits.
func describe(err error) string {
	var conflict *txn.WriteConflictError
	switch {
	case errors.As(err, &conflict):
		return fmt.Sprintf("write conflict on %s", conflict.Key)
	case errors.Is(err, txn.ErrAbandoned):
		return "coordinator died"
	case errors.Is(err, txn.ErrAmbiguous):
		return "ambiguous"
	}
	return err.Error()
}

// dump prints the store as the paper's figure 4.
func (s *script) dump() string {
	snap, err := kv.Latest(s.engine)
	require.NoError(s.t, err)
	table := [][]string{{"key", "data", "lock", "write"}}
	show := func(b []byte) string { return string(b) }
	err = mvcc.Keys(context.Background(), snap, kv.Span{},
		func(key []byte, cells []mvcc.Cell) error {
			name := string(key)
			for _, l := range mvcctest.Figure(cells, show) {
				at := l.TS.String() + ":"
				row := []string{name, at, at, at}
				for i, text := range []string{l.Data, l.Lock, l.Write} {
					if text != "" {
						row[i+1] += " " + text
					}
				}
				table = append(table, row)
				name = ""
			}
			return nil
		})
	require.NoError(s.t, err)
	require.NoError(s.t, snap.Close())
	return align(table)
}

func align(table [][]string) string {
	widths := make([]int, 4)
	for _, row := range table {
		for i, c := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	var out strings.Builder
	for _, row := range table {
		line := ""
		for i, c := range row {
			line += fmt.Sprintf("%-*s  ", widths[i], c)
		}
		out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return out.String()
}

// TestAnomalies runs the scripts that must give the same answers whichever way transactions commit.
func TestAnomalies(t *testing.T) {
	for _, c := range scriptConfigs {
		if c.draws {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			datadriven.Walk(t, "testdata/anomalies", func(t *testing.T, path string) {
				s := newScript(t, c)
				defer s.close()
				datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
					s.t = t
					return s.run(d)
				})
			})
		})
	}
}

// TestSteps runs the scripts that look at the columns. Each begins with a block "config NAME".
func TestSteps(t *testing.T) {
	datadriven.Walk(t, "testdata/steps", func(t *testing.T, path string) {
		var s *script
		defer func() {
			if s != nil {
				s.close()
			}
		}()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "config" {
				if s != nil {
					s.close()
				}
				name := strings.ReplaceAll(d.CmdArgs[0].Key, "-", " ")
				i := slices.IndexFunc(scriptConfigs,
					func(c scriptConfig) bool { return c.name == name })
				require.GreaterOrEqual(t, i, 0, "no config %q", name)
				s = newScript(t, scriptConfigs[i])
				return ""
			}
			s.t = t
			return s.run(d)
		})
	})
}
