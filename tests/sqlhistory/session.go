package sqlhistory

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/tests/history"
	"github.com/minidb/minidb/txn/tso"
)

// session is a client. It belongs to its goroutine.
type session struct {
	r     *run
	who   int
	conn  *minidb.Conn
	dice  *rand.Rand
	level string
	// locks: blocks lock what they write.
	locks bool
	// guest: the session has taken the role guest, to which policies apply.
	guest bool
	last  tso.Timestamp // commit_ts of its last transaction that wrote

	rec   *history.Record // of the running transaction
	block bool            // it was begun by BEGIN
	count int             // transactions
	stmts int             // of the running one
	// touched: it has changed families, which are not in its record.
	touched bool
}

var (
	// errOver ends the sessions of an epoch: the power or the disk has failed.
	errOver = errors.New("the epoch is over")
	// errGone means that the session has ended with its transaction.
	errGone = errors.New("the session is gone")
	// errChangedMind is the reason of a rollback that was asked for.
	errChangedMind = errors.New("rolled back")
)

// connect opens the session: at first, and after its death.
func (s *session) connect(ctx context.Context) (err error) {
	if s.conn, err = s.r.db.Conn(ctx); err != nil {
		return err
	}
	s.last = 0
	s.level = s.r.config.Level
	if s.level == "" {
		s.level = levels[s.dice.IntN(len(levels))]
	}
	s.locks = s.dice.IntN(4) > 0
	text := fmt.Sprintf("SET default_transaction_isolation = '%s'", s.level)
	if !s.locks {
		text += "; SET minidb.write_locks = off"
	}
	if s.guest = s.dice.IntN(2) == 0; s.guest {
		text += "; SET ROLE guest"
	}
	if s.dice.IntN(4) > 0 {
		text += "; " + byIndexes
	}
	_, err = s.conn.Exec(ctx, text)
	return err
}

// live is the session's life in an epoch.
func (s *session) live(transactions int) {
	ctx := context.Background()
	if err := s.connect(ctx); err != nil {
		if s.r.awaitEnd(err); !s.r.isOver() {
			s.r.unexpected("session %d: %v", s.who, err)
		}
		return
	}
	defer func() { _ = s.conn.Close() }()
	for range transactions {
		s.count++
		err := s.transact(ctx)
		if errors.Is(err, errGone) {
			_ = s.conn.Close()
			err = s.connect(ctx)
		}
		s.r.awaitEnd(err)
		switch {
		case s.r.isOver():
			return
		case err != nil:
			s.r.unexpected("session %d: %v", s.who, err)
			return
		}
		s.r.t.Pass(s.who)
	}
}

// transact runs one transaction and writes it down.
func (s *session) transact(ctx context.Context) error {
	s.rec = &history.Record{Name: fmt.Sprintf("t%d.%d.%d", s.r.epoch, s.who, s.count),
		Began: s.r.tick()}
	s.rec.ReadCommitted = s.level == "read committed"
	s.stmts, s.touched = 0, false
	s.r.add(s.rec)
	if s.block = s.dice.IntN(3) > 0; s.block {
		return s.runBlock(ctx)
	}
	// A statement that is a transaction reads at its own timestamp, at each level.
	s.rec.ReadCommitted = true
	err := s.single(ctx)
	if isOver(err) {
		return err
	}
	if err == nil && (len(s.rec.Writes) > 0 || s.touched) {
		return s.acknowledged(ctx)
	}
	return s.answer(err)
}

func isOver(err error) bool { return errors.Is(err, errOver) }

// runBlock runs a transaction between BEGIN and its end.
func (s *session) runBlock(ctx context.Context) error {
	begin := "BEGIN"
	var past tso.Timestamp
	if s.dice.IntN(12) == 0 {
		if past = s.r.somePast(s.dice); past != 0 {
			begin = fmt.Sprintf("BEGIN AS OF SYSTEM TIME %d", past)
			s.rec.Historical, s.rec.ReadCommitted = true, false
		}
	}
	if _, err := s.exec(ctx, begin); err != nil {
		return s.failed(ctx, err)
	}
	began := s.r.tick()
	a, err := s.ask(ctx, "SELECT NULL::int, NULL, NULL, txid_current(), "+
		"minidb_snapshot_timestamp()")
	if err != nil {
		return s.failed(ctx, err)
	}
	s.rec.StartTS = a.rows[0].start
	if s.rec.ReadCommitted {
		s.rec.Statements = append(s.rec.Statements,
			history.Statement{Began: began, TS: a.rows[0].snapshot})
	}
	s.r.remember(s.rec.StartTS)
	for range 1 + s.dice.IntN(4) {
		s.stroll()
		if err = s.step(ctx); err != nil {
			break
		}
	}
	s.stroll()
	switch {
	case isOver(err):
		return err
	case s.dice.IntN(15) == 0:
		return errors.Join(errGone, s.answer(errChangedMind)) // its connection is dropped
	case err != nil:
		return s.failed(ctx, err)
	case s.dice.IntN(10) == 0:
		return s.failed(ctx, errChangedMind)
	}
	return s.commit(ctx)
}

// commit ends a block, and records the result.
func (s *session) commit(ctx context.Context) error {
	if _, err := s.exec(ctx, "COMMIT"); err != nil {
		// A deferred check may meet at COMMIT what another statement would have met.
		if s.locks && !s.touched && !isOver(err) && codeOf(err) == "40001" &&
			!isSerialization(err) {
			s.r.found(history.StolenLock, "%s had locked what it wrote: %v", s.rec, err)
		}
		return s.answer(err)
	}
	if len(s.rec.Own(len(s.rec.Writes))) == 0 && !s.touched {
		return s.answer(nil)
	}
	return s.acknowledged(ctx)
}

// acknowledged asks for the timestamp of a commit that was just acknowledged.
func (s *session) acknowledged(ctx context.Context) error {
	if err := s.answer(nil); err != nil {
		return err
	}
	var ts *int64 // null as long as the session has left nothing
	err := s.conn.QueryRow(ctx, "SELECT minidb_last_commit_timestamp()").Scan(&ts)
	s.r.awaitEnd(err)
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if s.r.over {
		return errOver
	}
	if err == nil && ts != nil && tso.Timestamp(*ts) != s.last {
		s.last = tso.Timestamp(*ts)
		s.rec.CommitTS = s.last
		s.r.seen = append(s.r.seen, s.last)
	}
	return err
}

// failed rolls a block back.
func (s *session) failed(ctx context.Context, reason error) error {
	if isOver(reason) {
		return reason
	}
	if _, err := s.exec(ctx, "ROLLBACK"); err != nil && !isOver(err) {
		s.r.unexpected("%s: ROLLBACK: %v", s.rec, err)
	}
	return s.answer(reason)
}

// answer records the result that the transaction received.
func (s *session) answer(err error) error {
	r := s.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return errOver
	}
	r.clockwork++
	s.rec.Ended, s.rec.Err = r.clockwork, err
	switch {
	case err == nil:
		s.rec.Outcome = history.Committed
	case codeOf(err) == "40003":
		s.rec.Outcome = history.Unknown
	default:
		s.rec.Outcome = history.Aborted
		if !errors.Is(err, errChangedMind) && !expected[codeOf(err)] {
			r.history.Found = append(r.history.Found, history.Violation{
				Verdict: history.Unexpected, Text: fmt.Sprintf("%s (%s): %v", s.rec, s.level, err)})
		}
	}
	return nil
}

// byIndexes makes a session read small tables through their indexes, byRows without them.
const (
	byIndexes = "SET enable_seqscan = off"
	byRows    = "SET enable_indexscan = off; SET enable_indexonlyscan = off; " +
		"SET enable_bitmapscan = off"
)

// expected are the errors that a transaction may end with: conflicts, deadlocks, a key that is
// there, a parent that is not, NOWAIT, a cancelled statement, a value that is none of its domain, a
// row that a view or a policy refuses.
var expected = map[string]bool{"40001": true, "40P01": true, "23505": true, "23503": true,
	"23P01": true, "55P03": true, "57014": true,
	"23514": true, "44000": true, "42501": true}

func codeOf(err error) string {
	var coded interface{ SQLState() string }
	if errors.As(err, &coded) {
		return coded.SQLState()
	}
	return ""
}

// stroll passes the scheduler a few times now and then, or many times: a session that pauses.
func (s *session) stroll() {
	turns := 0
	switch s.dice.IntN(15) {
	case 0:
		turns = 5 + s.dice.IntN(30)
	case 1, 2, 3:
		turns = 1 + s.dice.IntN(3)
	}
	for range turns {
		s.r.t.Pass(s.who)
	}
}
