package sqlhistory

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// tables are those of the workloads: k names a row, v is its value, and the last column its writer.
var tables = []struct{ name, definition string }{
	{"list", "(k int PRIMARY KEY, v text NOT NULL, who text NOT NULL)"},
	{"reg", "(k int PRIMARY KEY, v int NOT NULL, who text NOT NULL, pad text); CREATE INDEX " +
		"reg_v ON reg (v) INCLUDE (who); CREATE INDEX reg_low ON reg ((v * 2), who) WHERE v < 4; " +
		"CREATE INDEX reg_keys ON reg USING gin ((ARRAY[v]))"},
	{"bank", "(k int PRIMARY KEY, v int NOT NULL, who text NOT NULL)"},
	{"uniq", "(k int PRIMARY KEY, v int NOT NULL UNIQUE, who text NOT NULL)"},
	{"part", "(k int PRIMARY KEY, v int NOT NULL, who text NOT NULL); CREATE UNIQUE INDEX " +
		"part_v ON part ((v + 0)) WHERE v <> " + anyNumber},
	{"sole", "(k int PRIMARY KEY, v int NOT NULL, who text NOT NULL); CREATE UNIQUE INDEX " +
		"sole_v ON sole (" + orNull + ") NULLS NOT DISTINCT"},
	{"pair", "(k int PRIMARY KEY, v int NOT NULL, who text NOT NULL)"},
	{"item", itemColumns + itemIndexes},
	{"plot", "(k int PRIMARY KEY, v int NOT NULL, who text NOT NULL); CREATE INDEX plot_v ON " +
		"plot (v)" + plotPolicies},
}

const (
	listKeys  = 4
	regKeys   = 6
	regValues = 8
	accounts  = 5
	opening   = 100
	uniqKeys  = 5
	pairs4    = 4 // two pairs
	firstRows = "setup"
	anyNumber = "4" // the value outside of the partial index of part
	orNull    = "(nullif(v, 4))"
)

// statement is one statement of a workload, or a few that belong together.
type statement func(s *session, ctx context.Context) error

// workload is a kind of transaction, on a table of its own, or on families. A statement that
// deletes belongs to blocks: rows that are gone do not name their statement.
type workload struct {
	name, table string
	any, blocks []statement
	past        statement // of a transaction in the past; nil: the whole table is read
}

// workloads are the statements that a transaction may consist of, and those that need a block.
var workloads = []workload{
	{name: "list-append", table: "list", any: []statement{listGet, listUpsert, listUpsert,
		listUpdate,
		scanOf("list")}, blocks: []statement{lockAndLook("list", listKeys)}},
	{name: "register", table: "reg", any: []statement{regGet, scanOf("reg"), regRange,
		regKeysScan, regSet, regBump, regBumpByKeys, regInsert},
		blocks: []statement{regDelete, lockAndLook("reg", regKeys)}},
	{name: "bank", table: "bank", any: []statement{scanOf("bank"), transferByCase, transferByJoin},
		blocks: []statement{transferByTwo, transferLocked}},
	{name: "indexed", table: "item", any: []statement{scanOf("item"), itemScan, itemScan,
		itemInsert, itemInsert, itemUpsert, itemBump, itemBump, brightBump, itemPush},
		blocks: []statement{itemDelete, itemMerge, itemMergeLow, lockAndLook("item", itemKeys)}},
	{name: "policed", table: "plot", any: []statement{plotScan, plotRange, plotInsert, plotInsert,
		plotSet, plotSet, plotBump, plotUpsert},
		blocks: []statement{plotDelete, plotMerge, plotLock},
		past:   plotScan},
	unique("nulls-not-distinct", uniques{table: "sole", target: "(" + orNull + ")"}),
	unique("unique-insert", uniques{table: "uniq", target: "(v)"}),
	unique("partial-unique", uniques{table: "part", free: anyNumber,
		target: "((v + 0)) WHERE v <> " + anyNumber}),
	{name: "skew", table: "pair", any: []statement{scanOf("pair")},
		blocks: []statement{skew, skew}},
	{name: "family", past: orphans, any: []statement{
		parentInsert, parentInsert, parentDelete, parentRename, parentTouch, childInsert,
		childInsert, childMove, childDelete, orphans,
	}, blocks: []statement{orphans}},
	{name: "booking", past: orphans, any: []statement{turnTaken, turnTaken, turnsMoved,
		turnGiven, booked, booked, booked, rebooked, cancelled},
		blocks: []statement{turnsMoved, checkedNow}},
}

// single runs a transaction of one statement.
func (s *session) single(ctx context.Context) error {
	w := s.r.works[s.dice.IntN(len(s.r.works))]
	return w.any[s.dice.IntN(len(w.any))](s, ctx)
}

// step runs a part of a block, perhaps under a savepoint.
func (s *session) step(ctx context.Context) error {
	w := s.r.works[s.dice.IntN(len(s.r.works))]
	all := append(w.any[:len(w.any):len(w.any)], w.blocks...)
	do := all[s.dice.IntN(len(all))]
	switch {
	case s.rec.Historical && w.past != nil:
		do = w.past
	case s.rec.Historical:
		do = scanOf(w.table)
	}
	if s.rec.Historical || s.dice.IntN(4) > 0 {
		return do(s, ctx)
	}
	if _, err := s.exec(ctx, "SAVEPOINT p"); err != nil {
		return err
	}
	n := len(s.rec.Writes)
	err := do(s, ctx)
	switch {
	case isOver(err):
		return err
	case err == nil && s.dice.IntN(2) == 0:
		_, err = s.exec(ctx, "RELEASE p")
		return err
	}
	if _, rerr := s.exec(ctx, "ROLLBACK TO p"); rerr != nil {
		return rerr
	}
	s.rollbackTo(n)
	if err != nil && !s.mayGoOn(codeOf(err)) {
		return err
	}
	return nil
}

// mayGoOn reports whether a block may go on behind a savepoint after an error: it would not
// conflict again.
func (s *session) mayGoOn(code string) bool {
	switch code {
	case "23503", "23514", "44000", "42501":
		return true
	case "23505", "23P01":
		return s.rec.ReadCommitted
	}
	return false
}

func number(v string) int {
	n, err := strconv.Atoi(v)
	if err != nil {
		return -1
	}
	return n
}

func scanOf(table string) statement {
	return func(s *session, ctx context.Context) error { return s.scan(ctx, table) }
}

func lockAndLook(table string, keys int) statement {
	clauses := []string{"FOR UPDATE", "FOR NO KEY UPDATE", "FOR SHARE", "FOR KEY SHARE",
		"FOR UPDATE NOWAIT"}
	return func(s *session, ctx context.Context) error {
		// A key share lock lets the row change.
		clause := clauses[s.dice.IntN(len(clauses))]
		if s.rec.ReadCommitted && clause == "FOR KEY SHARE" {
			clause = "FOR SHARE"
		}
		_, err := s.lock(ctx, table, s.dice.IntN(keys), clause)
		return err
	}
}

func listGet(s *session, ctx context.Context) error {
	return s.get(ctx, "list", s.dice.IntN(listKeys))
}

// listUpsert appends its name to a list, or begins one.
func listUpsert(s *session, ctx context.Context) error {
	who := s.label()
	to := func(_ int, v string, _ bool) (string, bool) { return v + " " + who, true }
	_, err := s.write(ctx, "list", who, to, false, "INSERT INTO list VALUES ($1, $2, $3) "+
		"ON CONFLICT (k) DO UPDATE SET v = list.v || excluded.v, who = excluded.who",
		s.dice.IntN(listKeys), " "+who, who)
	return err
}

// listUpdate appends its name to two lists, as far as they are there.
func listUpdate(s *session, ctx context.Context) error {
	who, a := s.label(), s.dice.IntN(listKeys)
	b := (a + 1) % listKeys
	to := func(_ int, v string, ok bool) (string, bool) { return v + " " + who, ok }
	_, err := s.write(ctx, "list", who, to, false,
		fmt.Sprintf("UPDATE list SET v = v || $1, who = $2 WHERE k IN (%d, %d)", a, b), " "+
			who, who)
	return err
}

func regGet(s *session, ctx context.Context) error {
	return s.get(ctx, "reg", s.dice.IntN(regKeys))
}

func regRange(s *session, ctx context.Context) error {
	low := s.dice.IntN(regValues)
	return s.indexScan(ctx, "reg", low, low+s.dice.IntN(3))
}

func regKeysScan(s *session, ctx context.Context) error {
	low := s.dice.IntN(regValues)
	return s.keyScan(ctx, low, low+s.dice.IntN(3))
}

func regSet(s *session, ctx context.Context) error {
	who, k, v := s.label(), s.dice.IntN(regKeys), strconv.Itoa(s.dice.IntN(regValues))
	to := func(_ int, _ string, ok bool) (string, bool) { return v, ok }
	a, err := s.write(ctx, "reg", who, to, false, fmt.Sprintf("UPDATE reg SET v = %s, who = $1, "+
		"pad = $2 WHERE k = %d", v, k),
		who, strings.Repeat("-", 400*s.dice.IntN(2)))
	if err == nil && len(a.rows) == 0 {
		s.claim(&a, "reg", func(have int, _, _ string) bool { return have == k }, false)
	}
	return err
}

// regBump moves the rows of a range, found by the index on the column that it changes.
func regBump(s *session, ctx context.Context) error {
	return s.bumpReg(ctx, func(low, high int) string {
		return fmt.Sprintf("v BETWEEN %d AND %d", low, high)
	})
}

// regBumpByKeys is regBump by the GIN index.
func regBumpByKeys(s *session, ctx context.Context) error { return s.bumpReg(ctx, oneOf) }

func (s *session) bumpReg(ctx context.Context, within func(low, high int) string) error {
	low := s.dice.IntN(regValues)
	high := low + 1 + s.dice.IntN(3)
	return s.bump(ctx, bump{target: "reg", table: "reg", values: regValues, low: low, high: high,
		cond: within(low, high)})
}

// bump adds one, modulo values, to the rows with a value between low and high, which satisfy cond.
type bump struct {
	target, table string // what the statement names, and where its rows are
	values        int
	low, high     int
	cond          string
	becomes       func(int) bool // whether a value is not refused; nil: none is
}

func (s *session) bump(ctx context.Context, b bump) error {
	who := s.label()
	to := func(_ int, v string, ok bool) (string, bool) {
		n, after := number(v), (number(v)+1)%b.values
		return strconv.Itoa(after), ok && n >= b.low && n <= b.high &&
			(b.becomes == nil || b.becomes(after))
	}
	_, err := s.write(ctx, b.table, who, to, false,
		fmt.Sprintf("UPDATE %s AS %s SET v = (v + 1) %% %d, who = $1 WHERE %s", b.target, b.table,
			b.values, b.cond), who)
	return err
}

func regInsert(s *session, ctx context.Context) error {
	who, k, v := s.label(), s.dice.IntN(regKeys), strconv.Itoa(s.dice.IntN(regValues))
	to := func(_ int, _ string, ok bool) (string, bool) { return v, !ok }
	a, err := s.write(ctx, "reg", who, to, false, fmt.Sprintf("INSERT INTO reg VALUES (%d, %s, "+
		"$1)", k, v), who)
	if codeOf(err) == "23505" {
		s.claim(&a, "reg", func(have int, _, _ string) bool { return have == k }, true)
	}
	return err
}

func regDelete(s *session, ctx context.Context) error {
	k := s.dice.IntN(regKeys)
	to := func(_ int, _ string, ok bool) (string, bool) { return "", ok }
	a, err := s.write(ctx, "reg", s.label(), to, true,
		fmt.Sprintf("DELETE FROM reg WHERE k = %d", k))
	if err == nil && len(a.rows) == 0 {
		s.claim(&a, "reg", func(have int, _, _ string) bool { return have == k }, false)
	}
	return err
}

// transfer chooses two accounts and an amount.
func (s *session) transfer() (from, to, amount int) {
	from = s.dice.IntN(accounts)
	return from, (from + 1 + s.dice.IntN(accounts-1)) % accounts, 1 + s.dice.IntN(9)
}

// moved is what a transfer makes of its accounts.
func moved(from, to, amount int) change {
	return func(k int, v string, ok bool) (string, bool) {
		if k == from {
			return strconv.Itoa(number(v) - amount), ok
		}
		return strconv.Itoa(number(v) + amount), ok && k == to
	}
}

func transferByCase(s *session, ctx context.Context) error {
	who := s.label()
	from, to, amount := s.transfer()
	_, err := s.write(ctx, "bank", who, moved(from, to, amount), false, fmt.Sprintf(
		"UPDATE bank SET v = v + CASE k WHEN %d THEN -%d ELSE %[2]d END, who = $1 WHERE k IN "+
			"(%[1]d, %[3]d)", from, amount, to), who)
	return err
}

// transferByJoin is a statement that READ COMMITTED runs again as a whole.
func transferByJoin(s *session, ctx context.Context) error {
	who := s.label()
	from, to, amount := s.transfer()
	_, err := s.write(ctx, "bank", who, moved(from, to, amount), false, fmt.Sprintf(
		"UPDATE bank SET v = bank.v + m.d, who = $1 FROM (VALUES (%d, -%d), (%d, %[2]d)) AS m "+
			"(id, d) WHERE bank.k = m.id", from, amount, to), who)
	return err
}

// transferByTwo takes money in one statement and gives it in another.
func transferByTwo(s *session, ctx context.Context) error {
	from, to, amount := s.transfer()
	both := moved(from, to, amount)
	n := len(s.rec.Writes)
	for _, m := range []struct{ k, by int }{{from, -amount}, {to, amount}} {
		who := s.label()
		if _, err := s.write(ctx, "bank", who, both, false,
			fmt.Sprintf("UPDATE bank SET v = v + %d, who = $1 WHERE k = %d", m.by,
				m.k), who); err != nil {
			return err
		}
		s.stroll()
	}
	if len(s.rec.Writes) != n+2 {
		s.r.unexpected("%s: an account is missing", s.rec)
	}
	return nil
}

// transferLocked reads both accounts FOR UPDATE, or in a snapshot plainly, and writes what the
// client has added up.
func transferLocked(s *session, ctx context.Context) error {
	from, to, amount := s.transfer()
	both := moved(from, to, amount)
	clause := "FOR UPDATE"
	if !s.rec.ReadCommitted && s.dice.IntN(2) == 0 {
		clause = ""
	}
	for _, k := range []int{from, to} {
		have, err := s.lock(ctx, "bank", k, clause)
		if err != nil {
			return err
		}
		s.stroll()
		who := s.label()
		after, _ := both(k, have.v, true)
		if _, err := s.write(ctx, "bank", who, both, false,
			fmt.Sprintf("UPDATE bank SET v = %s, who = $1 WHERE k = %d", after,
				k), who); err != nil {
			return err
		}
	}
	return nil
}

// uniques is a table whose values are unique, but for the value free.
type uniques struct {
	table, free string
	target      string // of ON CONFLICT
}

// unique is the workload of unique values, which rows take, give up, and move.
func unique(name string, u uniques) workload {
	return workload{name: name, table: u.table, any: []statement{scanOf(u.table), u.get, u.insert,
		u.insert, u.nothing, u.upsert, u.move}, blocks: []statement{u.delete}}
}

func (u uniques) get(s *session, ctx context.Context) error {
	v := s.dice.IntN(uniqKeys)
	return s.indexScan(ctx, u.table, v, v)
}

// row chooses a row, and returns what is in its way.
func (u uniques) row(s *session) (k int, v string, inTheWay func(int, string, string) bool) {
	k, v = s.dice.IntN(uniqKeys), strconv.Itoa(s.dice.IntN(uniqKeys))
	return k, v, func(have int, value, _ string) bool {
		return have == k || value == v && v != u.free
	}
}

func (u uniques) insert(s *session, ctx context.Context) error {
	who := s.label()
	k, v, inTheWay := u.row(s)
	to := func(_ int, _ string, ok bool) (string, bool) { return v, !ok }
	a, err := s.write(ctx, u.table, who, to, false,
		fmt.Sprintf("INSERT INTO %s VALUES (%d, %s, $1)", u.table, k, v), who)
	if codeOf(err) == "23505" {
		s.claim(&a, u.table, inTheWay, true)
	}
	return err
}

func (u uniques) nothing(s *session, ctx context.Context) error {
	who := s.label()
	k, v, inTheWay := u.row(s)
	to := func(_ int, _ string, ok bool) (string, bool) { return v, !ok }
	a, err := s.write(ctx, u.table, who, to, false,
		fmt.Sprintf("INSERT INTO %s VALUES (%d, %s, $1) ON CONFLICT DO NOTHING", u.table, k, v),
		who)
	if err == nil && len(a.rows) == 0 {
		s.claim(&a, u.table, inTheWay, true)
	}
	return err
}

// upsert puts its name into the row that has the unique value, or makes one.
func (u uniques) upsert(s *session, ctx context.Context) error {
	who := s.label()
	k, v, _ := u.row(s)
	to := func(_ int, have string, ok bool) (string, bool) {
		return v, !ok || have == v && v != u.free
	}
	a, err := s.write(ctx, u.table, who, to, false,
		fmt.Sprintf("INSERT INTO %s VALUES (%d, %s, $1) ON CONFLICT %s DO UPDATE SET who = "+
			"excluded.who", u.table, k, v, u.target), who)
	if codeOf(err) == "23505" {
		s.claim(&a, u.table, func(have int, _, _ string) bool { return have == k }, true)
	}
	return err
}

// move gives a row another unique value.
func (u uniques) move(s *session, ctx context.Context) error {
	who := s.label()
	k, v, _ := u.row(s)
	to := func(_ int, _ string, ok bool) (string, bool) { return v, ok }
	a, err := s.write(ctx, u.table, who, to, false,
		fmt.Sprintf("UPDATE %s SET v = %s, who = $1 WHERE k = %d", u.table, v, k), who)
	switch {
	case codeOf(err) == "23505":
		s.claim(&a, u.table,
			func(have int, value, _ string) bool { return have != k && value == v && v != u.free },
			true)
	case err == nil && len(a.rows) == 0:
		s.claim(&a, u.table, func(have int, _, _ string) bool { return have == k }, false)
	}
	return err
}

func (u uniques) delete(s *session, ctx context.Context) error {
	v := strconv.Itoa(s.dice.IntN(uniqKeys))
	to := func(_ int, have string, ok bool) (string, bool) { return "", ok && have == v }
	_, err := s.write(ctx, u.table, s.label(), to, true,
		fmt.Sprintf("DELETE FROM %s WHERE v = %s", u.table, v))
	return err
}

// skew reads a pair and writes one of it.
func skew(s *session, ctx context.Context) error {
	k, other := s.dice.IntN(pairs4), 0
	other = k ^ 1
	for _, read := range []int{k, other} {
		if s.dice.IntN(4) > 0 || read == other {
			if err := s.get(ctx, "pair", read); err != nil {
				return err
			}
		}
	}
	who, v := s.label(), strconv.Itoa(s.dice.IntN(10))
	to := func(_ int, _ string, ok bool) (string, bool) { return v, ok }
	_, err := s.write(ctx, "pair", who, to, false,
		fmt.Sprintf("UPDATE pair SET v = %s, who = $1 WHERE k = %d", v, k), who)
	return err
}
