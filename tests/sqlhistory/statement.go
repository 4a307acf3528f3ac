package sqlhistory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/tests/history"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
)

// A statement goes through ask, which returns its rows and between which timestamps it ran. What it
// gave becomes reads and writes of the transaction's record, and claims and effects (check.go).

// row is a row of an answer. start and snapshot are txid_current() and minidb_snapshot_timestamp().
type row struct {
	found           bool
	k               int
	v, who          string
	start, snapshot tso.Timestamp
}

// value is the text that identifies a row in the history.
func (w row) value() string { return w.v + "|" + w.who }

// answer is what a statement gave. It ran between lo and hi.
type answer struct {
	rows   []row
	began  int
	lo, hi tso.Timestamp
}

// tail is what every statement returns behind its row.
const tail = "txid_current(), minidb_snapshot_timestamp()"

// exec runs a statement without rows.
func (s *session) exec(ctx context.Context, text string) (answer, error) {
	return s.run(ctx, text, func(ctx context.Context, a *answer) error {
		_, err := s.conn.Exec(ctx, text)
		return err
	})
}

// ask runs a statement that returns key, value, writer and tail.
func (s *session) ask(ctx context.Context, text string, args ...any) (answer, error) {
	return s.run(ctx, fmt.Sprint(text, args), func(ctx context.Context, a *answer) error {
		rows, err := s.conn.Query(ctx, text, args...)
		if err != nil {
			return err
		}
		for rows.Next() {
			var (
				k               *int
				v, who          *string
				start, snapshot int64
			)
			if err := rows.Scan(&k, &v, &who, &start, &snapshot); err != nil {
				return errors.Join(err, rows.Close())
			}
			w := row{start: tso.Timestamp(start), snapshot: tso.Timestamp(snapshot)}
			if k != nil {
				w.found, w.k, w.v, w.who = true, *k, *v, *who
			}
			a.rows = append(a.rows, w)
		}
		return errors.Join(rows.Err(), rows.Close())
	})
}

func (s *session) run(ctx context.Context, text string,
	do func(context.Context, *answer) error) (a answer, err error) {
	s.r.t.Pass(s.who)
	ctx, done := s.r.cancellable(ctx, s.who)
	defer done()
	a.began = s.r.tick()
	var before, after error
	a.lo, before = s.r.db.Store().Now(context.Background())
	err = do(ctx, &a)
	a.hi, after = s.r.db.Store().Now(context.Background())
	if err == nil {
		err = errors.Join(before, after)
	}
	if s.r.config.Trace != nil {
		s.r.config.Trace(fmt.Sprintf("%s (%s, locks %v): %s: %v %v", s.rec.Name, s.level, s.locks,
			text, a, err))
	}
	s.r.awaitEnd(err)
	if s.r.isOver() {
		return a, errOver
	}
	return a, err
}

// statement notes the read timestamp of a statement of READ COMMITTED, and the name of a
// transaction that is this one statement.
func (s *session) statement(a *answer) {
	if len(a.rows) == 0 {
		return
	}
	w := a.rows[0]
	if !s.block {
		s.rec.StartTS = w.start
	}
	if s.rec.ReadCommitted && w.snapshot != s.rec.StartTS {
		s.rec.Statements = append(s.rec.Statements,
			history.Statement{Began: a.began, TS: w.snapshot})
	}
}

// label names the next statement in the rows that it writes.
func (s *session) label() string {
	s.stmts++
	return fmt.Sprintf("%s.%d", s.rec.Name, s.stmts)
}

func key(table string, k int) string { return fmt.Sprintf("%s/%d", table, k) }

func span(table string) *kv.Span {
	return &kv.Span{Start: []byte(table + "/"), End: []byte(table + "0")}
}

// pairs are the rows of an answer in the order of their keys.
func pairs(table string, rows []row) (out []history.Pair) {
	for _, w := range rows {
		if w.found {
			out = append(out, history.Pair{Key: key(table, w.k), Value: w.value()})
		}
	}
	slices.SortFunc(out, func(a, b history.Pair) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// get reads one row, or its absence.
func (s *session) get(ctx context.Context, table string, k int) error {
	a, err := s.ask(ctx, fmt.Sprintf("SELECT t.k, t.v::text, t.who, %s FROM (SELECT 1) AS s LEFT "+
		"JOIN %s t ON t.k = $1", tail, table), k)
	if err != nil {
		return err
	}
	s.statement(&a)
	s.read(history.Read{Key: key(table, k), Got: pairs(table, a.rows), TS: a.rows[0].snapshot})
	return nil
}

// scan reads a whole table.
func (s *session) scan(ctx context.Context, table string) error {
	a, err := s.ask(ctx, fmt.Sprintf("SELECT t.k, t.v::text, t.who, %s FROM (SELECT 1) AS s LEFT "+
		"JOIN %s t ON true", tail, table))
	if err != nil {
		return err
	}
	s.statement(&a)
	s.read(history.Read{Span: span(table), Got: pairs(table, a.rows), TS: a.rows[0].snapshot})
	return nil
}

func (s *session) read(r history.Read) {
	r.Own = len(s.rec.Writes)
	s.rec.Reads = append(s.rec.Reads, r)
}

// indexScan reads the rows whose v lies between two bounds, through the index on v.
func (s *session) indexScan(ctx context.Context, table string, low, high int) error {
	return s.rangeScan(ctx, table, fmt.Sprintf("v BETWEEN %d AND %d", low, high), low, high)
}

// keyScan is indexScan by the GIN index of reg.
func (s *session) keyScan(ctx context.Context, low, high int) error {
	return s.rangeScan(ctx, "reg", oneOf(low, high), low, high)
}

// oneOf is the condition that v is between low and high, as a GIN index over ARRAY[v] serves it.
func oneOf(low, high int) string {
	var list []string
	for n := low; n <= high; n++ {
		list = append(list, strconv.Itoa(n))
	}
	return "ARRAY[v] && '{" + strings.Join(list, ",") + "}'"
}

// rangeScan reads the rows of a condition, which is that v is between low and high.
func (s *session) rangeScan(ctx context.Context, table, cond string, low, high int) error {
	a, err := s.ask(ctx, fmt.Sprintf("SELECT k, v::text, who, %s FROM %s WHERE %s ORDER BY v", tail,
		table, cond))
	if err != nil {
		return err
	}
	s.statement(&a)
	within := func(_ int, v, _ string) bool { n := number(v); return n >= low && n <= high }
	if len(a.rows) == 0 {
		s.claim(&a, table, within, false)
		return nil
	}
	ts := a.rows[0].snapshot
	s.r.addRange(rangeRead{rec: s.rec, table: table, own: len(s.rec.Writes), ts: ts,
		got: pairs(table, a.rows), within: within})
	for _, p := range pairs(table, a.rows) {
		s.read(history.Read{Key: p.Key, Got: []history.Pair{p}, TS: ts})
	}
	return nil
}

// lock reads one row with a row lock, in a block. In READ COMMITTED the row is the newest one when
// the statement ends, whatever the statement's own timestamp was.
func (s *session) lock(ctx context.Context, table string, k int, clause string) (row, error) {
	return s.lockIf(ctx, table, k, clause, func(string) bool { return true })
}

// lockIf is lock where policies let the session lock rows with some values only.
func (s *session) lockIf(ctx context.Context, table string, k int, clause string,
	may func(v string) bool) (row, error) {
	a, err := s.ask(ctx, fmt.Sprintf("SELECT k, v::text, who, %s FROM %s WHERE k = $1 %s", tail,
		table, clause), k)
	if err != nil {
		return row{}, err
	}
	s.statement(&a)
	if len(a.rows) == 0 {
		s.claim(&a, table, func(have int, v, _ string) bool { return have == k && may(v) }, false)
		return row{}, nil
	}
	if !may(a.rows[0].v) {
		s.r.found(WrongClaim, "%s has locked %v of %s, which policies hide", s.rec, a.rows[0],
			table)
	}
	ts := a.rows[0].snapshot
	if s.rec.ReadCommitted {
		ts = a.hi
	}
	s.read(history.Read{Key: key(table, k), Got: pairs(table, a.rows), TS: ts})
	return a.rows[0], nil
}

// change is a statement that writes: what it makes of the version of a row that is there (ok), and
// whether it wants the row at all.
type change func(k int, v string, ok bool) (after string, stays bool)

// write runs a statement that writes rows of a table and returns them; the rows of a DELETE as they
// were. label is the statement's.
func (s *session) write(ctx context.Context, table, label string, to change, deletes bool,
	text string, args ...any) (answer, error) {
	s.r.sent(label, sent{rec: s.rec, table: table, to: to})
	a, err := s.ask(ctx, fmt.Sprintf("%s RETURNING %s.k, %[2]s.v::text, %[2]s.who, %s", text, table,
		tail), args...)
	if err != nil {
		return a, err
	}
	s.statement(&a)
	s.wrote(&a, table, to, deletes)
	return a, nil
}

// merge runs a MERGE of a block, and reads the rows that carry its label afterwards.
func (s *session) merge(ctx context.Context, table, label string, to change, text string) (answer,
	error) {
	s.r.sent(label, sent{rec: s.rec, table: table, to: to})
	a, err := s.exec(ctx, text)
	if err != nil {
		return a, err
	}
	wrote, err := s.ask(ctx, fmt.Sprintf("SELECT k, v::text, who, %s FROM %s WHERE who = $1", tail,
		table), label)
	if err != nil {
		return wrote, err
	}
	s.statement(&wrote)
	wrote.hi = a.hi
	s.wrote(&wrote, table, to, false)
	return a, nil
}

// wrote notes the rows of an answer as written by its statement.
func (s *session) wrote(a *answer, table string, to change, deletes bool) {
	for _, w := range a.rows {
		own := len(s.rec.Writes)
		if deletes {
			s.r.addEffect(effect{rec: s.rec, table: table, k: w.k, own: own, to: to,
				gone: w.value()})
			s.rec.Writes = append(s.rec.Writes,
				history.Write{Key: key(table, w.k), Delete: true, Base: a.hi})
			continue
		}
		s.r.addEffect(effect{rec: s.rec, table: table, k: w.k, own: own, to: to})
		s.rec.Writes = append(s.rec.Writes,
			history.Write{Key: key(table, w.k), Value: w.value(), Base: a.hi})
	}
}

// rollbackTo takes back what was written since there were n writes.
func (s *session) rollbackTo(n int) {
	s.r.dropEffects(s.rec, n)
	before, since := s.rec.Own(n), s.rec.Writes[n:]
	seen := map[string]bool{}
	for _, w := range slices.Clone(since) {
		if seen[w.Key] {
			continue
		}
		seen[w.Key] = true
		s.rec.Writes = append(s.rec.Writes, history.Write{Key: w.Key, Undone: true})
		if old, ok := before[w.Key]; ok {
			s.rec.Writes = append(s.rec.Writes, old)
		}
	}
}

// isSerialization reports whether an error is a refusal for serializability alone.
func isSerialization(err error) bool {
	var read *txn.ReadConflictError
	return errors.As(err, &read) || strings.Contains(err.Error(), "read/write dependencies")
}
