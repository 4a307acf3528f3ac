package sql_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
)

// hookedStreams is an engine whose transactions stream out what is more than a few kilobytes and
// call hook at each crash point; faults makes its updates fail.
type hookedStreams struct {
	*sql.Engine
	store  *txn.Store
	faults *kvtest.Fault
	hook   atomic.Pointer[func(txn.CrashPoint)]
}

func newHookedStreams(t *testing.T, e kv.Engine, ttl time.Duration) *hookedStreams {
	h := &hookedStreams{faults: kvtest.NewFault(e)}
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	h.Engine, h.store = openEngine(t, h.faults,
		txn.Options{StreamBytes: 6 << 10, BatchKeys: 16, LockTTL: ttl,
			CrashPoint: func(p txn.CrashPoint) bool {
				if hook := h.hook.Load(); hook != nil {
					(*hook)(p)
				}
				return false
			}}, sql.Options{})
	s := newSession(t, h.Engine)
	mustQuery(t, s, "CREATE TABLE t (id int PRIMARY KEY, v text, n int)")
	mustQuery(t, s, "CREATE INDEX ON t (n)")
	mustQuery(t, s, "INSERT INTO t SELECT g, 'old', g FROM generate_series(1, 40) g")
	return h
}

// changes are ways to change every row, of which the last statement is cancelled.
var changes = map[string][]string{
	"implicit": {changeAll},
	"block":    {"BEGIN", changeAll},
	"commit":   {"BEGIN", changeAll, "COMMIT"},
	"commit in order": {"BEGIN ISOLATION LEVEL SERIALIZABLE", "SELECT sum(n) FROM t", changeAll,
		"COMMIT"},
	"optimistic": {"SET minidb.write_locks = off", "BEGIN", changeAll, "COMMIT"},
}

const changeAll = "UPDATE t SET v = repeat('new', 20), n = n + 100"

// change lets a session change all rows, with the hook in the last statement, and returns what its
// client received at last.
func (h *hookedStreams) change(t *testing.T, a *sql.Session, texts []string,
	hook func(txn.CrashPoint)) (told string) {
	last := len(texts) - 1
	if last > 0 {
		mustQuery(t, a, strings.Join(texts[:last], "; "))
	}
	h.hook.Store(&hook)
	err := query(a, texts[last])
	h.hook.Store(nil)
	h.faults.Plan(kvtest.FaultPlan{})
	switch {
	case err != nil && a.Status() == 'E':
		mustQuery(t, a, "ROLLBACK")
	case err == nil && a.Status() == 'T':
		mustQuery(t, a, "COMMIT")
	}
	mustQuery(t, a, "RESET ALL")
	return codeOf(err)
}

// judge holds what is there to what the client received, and looks for what was left behind.
func (h *hookedStreams) judge(t *testing.T, a, other *sql.Session, told, what string) {
	require.Equal(t, byte('I'), a.Status(), what)
	require.True(t, h.store.RowLocks().Empty(), what)
	require.Zero(t, h.store.Active(), what)
	got := mustQuery(t, other, "SELECT (SELECT count(*) FROM t WHERE v = 'old'), (SELECT "+
		"count(*) FROM t WHERE n > 100)")
	before, after := "[count count]\n40|0\nSELECT 1\n", "[count count]\n0|40\nSELECT 1\n"
	switch told {
	case "":
		require.Equal(t, after, got, "%s: told that it is committed", what)
	case sqlerr.QueryCanceled:
		require.Equal(t, before, got, "%s: told that it is cancelled", what)
	case sqlerr.StatementCompletionUnknown:
		require.Contains(t, []string{before, after}, got, what)
	default:
		t.Errorf("%s: told %s", what, told)
	}
	mustQuery(t, other, "UPDATE t SET v = 'old', n = id")
	require.NoError(t, catalog.Check(context.Background(), h.store,
		func(p catalog.Problem) { t.Errorf("%s: %s", what, p) }))
}

// TestALargeTransactionIsCancelledAtEachCrashPoint cancels the statement, as the protocol's
// CancelRequest does, wherever it may die.
func TestALargeTransactionIsCancelledAtEachCrashPoint(t *testing.T) {
	for name, texts := range changes {
		t.Run(name, func(t *testing.T) {
			h := newHookedStreams(t, memkv.New(memkv.Options{HashGroups: 2}), 0)
			a, other := newSession(t, h.Engine), newSession(t, h.Engine)
			told := map[string]int{}
			for n := 1; ; n++ {
				passed, at := 0, txn.CrashPoint("none")
				code := h.change(t, a, texts, func(p txn.CrashPoint) {
					if passed++; passed == n {
						at = p
						h.Cancel(a.PID(), a.Secret())
					}
				})
				told[code]++
				h.judge(t, a, other, code, string(at))
				if at == "none" {
					break
				}
			}
			require.Greater(t, told[sqlerr.QueryCanceled], 0)
			if name != "block" {
				require.Greater(t, told[""], 1, "some were cancelled too late")
			}
			require.Len(t, told, 2)
			t.Logf("%v", told)
		})
	}
}

// TestALargeCommitTimesOut: statement_timeout passes at each crash point of COMMIT. A machine on
// which it passes between them gets a longer one.
func TestALargeCommitTimesOut(t *testing.T) {
	h := newHookedStreams(t, memkv.New(memkv.Options{}), 0)
	a, other := newSession(t, h.Engine), newSession(t, h.Engine)
	seen := map[txn.CrashPoint]string{}
	timeout := 10
	for again := true; again; {
		again = false
		texts := []string{"SET statement_timeout = 0", "BEGIN", changeAll,
			fmt.Sprintf("SET statement_timeout = %d", timeout), "COMMIT"}
		var at txn.CrashPoint
		code := h.change(t, a, texts, func(p txn.CrashPoint) {
			if _, done := seen[p]; !done && at == "" {
				at, again = p, true
				for range 3 { // one after the other, so that the statement's timer is served
					<-time.After(time.Duration(5*timeout) * time.Millisecond)
				}
			}
		})
		switch {
		case again:
			seen[at] = code
		case code == sqlerr.QueryCanceled:
			timeout, again = 2*timeout, true
		}
		h.judge(t, a, other, code, string(at))
	}
	t.Logf("%v", seen)
	require.Equal(t, sqlerr.QueryCanceled, seen[txn.AfterStreamed])
	require.Contains(t, seen, txn.AfterCommitPoint)
	require.Contains(t, seen, txn.AfterSecondaryBatch)
}

// TestALargeCommitIsCancelledAndItsAnswerIsLost: then the result is unknown, and the client does
// not learn that the statement was cancelled. One that is cancelled before the commit was sent
// knows that there was none.
func TestALargeCommitIsCancelledAndItsAnswerIsLost(t *testing.T) {
	for _, plan := range []kvtest.FaultPlan{
		{Applied: false}, {Applied: true}, {Err: context.DeadlineExceeded}, {Applied: true,
			Err: context.Canceled},
	} {
		for _, before := range []bool{false, true} {
			h := newHookedStreams(t, memkv.New(memkv.Options{}), 5*time.Millisecond)
			a, other := newSession(t, h.Engine), newSession(t, h.Engine)
			plan.At, plan.Times = 1, 1000
			plan.Then = func() { h.Cancel(a.PID(), a.Secret()) }
			code := h.change(t, a, changes["commit"], func(p txn.CrashPoint) {
				if p != txn.AfterCommitTS {
					return
				}
				if before {
					h.Cancel(a.PID(), a.Secret())
				}
				h.faults.Plan(plan)
			})
			if before && plan.Applied {
				require.Equal(t, sqlerr.QueryCanceled, code, "%+v", plan)
				h.judge(t, a, other, code, "cancelled")
				continue
			}
			require.Equal(t, sqlerr.StatementCompletionUnknown, code, "%+v", plan)
			h.judge(t, a, other, code, "unknown")
		}
	}
}
