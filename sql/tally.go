package sql

import (
	"errors"
	"strings"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
)

// tally counts the statements of a session, as its client sees them: a statement ends when its
// client can have the outcome, its implicit commit included, and what runs again after a conflict
// is one statement. So a statement that has run is kept until the next one begins, or the session
// waits for its client:
//
//	Parse      Execute                  Sync     ReadyForQuery
//	begins     runs, ran                failed   idle            the error is the commit's
//	begins     runs, ran, again, ran             idle            one statement, that ran twice
//
// It belongs to the session's goroutine, and reads no clock: pg_stat_activity has done that.
type tally struct {
	counts *statementCounts
	shard  *tallyShard

	began   time.Time // of the statement, or of the message that it is parsed from; zero: none
	pending bool      // a statement has run, and is not counted yet
	// mayAgain: the pending statement belongs to an implicit transaction that is open.
	mayAgain bool
	kind     statementKind
	code     string // of its outcome; "" is success
	rows     int64

	// counted is how many statements of the open implicit transaction were counted. When the
	// transaction runs again, so many of them are skipped.
	counted, skip int
	skipping      bool
}

// begins is called when the session begins to parse or to run something.
func (t *tally) begins(now time.Time) {
	if t.pending {
		t.sent(now)
		t.began = now
	} else if t.began.IsZero() {
		t.began = now
	}
}

// runs is called when a statement begins to run.
func (t *tally) runs(now time.Time, kind statementKind) {
	t.begins(now)
	t.kind, t.rows = kind, 0
	if t.skipping = t.skip > 0; t.skipping {
		t.skip--
	}
}

// ran is called when it has run. mayAgain: it belongs to an implicit transaction that is still
// open. errNotServed means that it did not run.
func (t *tally) ran(err error, mayAgain bool) {
	if err == errNotServed || t.kind == noStatement || t.skipping && err == nil {
		return
	}
	t.pending, t.mayAgain, t.code = true, mayAgain, codeOf(err)
}

// failed is called when the commit of the statement that ran last fails.
func (t *tally) failed(err error) {
	if err != nil && t.pending {
		t.code = codeOf(err)
	}
}

// sent counts the pending statement: its client can have the outcome.
func (t *tally) sent(now time.Time) {
	if !t.pending {
		return
	}
	t.pending = false
	t.counts.add(t.shard, t.kind, t.code, t.rows, now.Sub(t.began))
	if t.mayAgain {
		t.counted++
	}
}

// idle is called when the session begins to wait for its client.
func (t *tally) idle(now time.Time) {
	t.sent(now)
	t.began, t.counted, t.skip, t.skipping = time.Time{}, 0, 0, false
}

// again is called when the implicit transaction is run again.
func (t *tally) again() { t.pending, t.skip = false, t.counted }

// committed is called when a transaction has been committed: what was counted will not run again.
// wrote reports that it wrote anything.
func (t *tally) committed(wrote bool) {
	t.counted, t.mayAgain = 0, false
	if !wrote {
		t.shard.readOnly.Add(1)
	}
}

// codeOf returns the SQLSTATE of an error, "" of none.
func codeOf(err error) string {
	if err == nil {
		return ""
	}
	var e *sqlerr.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return sqlerr.InternalError
}

// rowsOf returns the number at the end of a command tag, 0 without one.
func rowsOf(tag string) (n int64) {
	for _, digit := range []byte(tag[strings.LastIndexByte(tag, ' ')+1:]) {
		if digit < '0' || digit > '9' {
			return 0
		}
		n = 10*n + int64(digit-'0')
	}
	return n
}
