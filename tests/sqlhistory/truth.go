package sqlhistory

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/tests/history"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// commit is a commit timestamp at which the store has records of the workloads' tables.
type commit struct {
	ts, start tso.Timestamp
	tables    map[string]bool
}

// commits lists them from the write records, which hold each transaction's name as well.
func (r *run) commits(ctx context.Context) ([]commit, error) {
	names := map[table.StorageID]string{}
	for _, t := range slices.Concat(tables, families, bookings) {
		var id int64
		if err := r.db.QueryRow(ctx,
			fmt.Sprintf("SELECT '%s'::regclass::oid::bigint", t.name)).Scan(&id); err != nil {
			return nil, err
		}
		names[table.StorageID(id)] = t.name
	}
	if _, err := r.db.Store().SettleLocks(ctx); err != nil {
		return nil, err
	}
	snap, err := r.db.Store().Engine().Snapshot()
	if err != nil {
		return nil, err
	}
	defer func() { _ = snap.Close() }()
	at, times := map[tso.Timestamp]*commit{}, map[tso.Timestamp]tso.Timestamp{}
	err = mvcc.Cells(ctx, snap, func(c mvcc.Cell) error {
		k, ok := table.DecodeKey(c.Key)
		name := names[k.Storage]
		if !ok || name == "" {
			return nil
		}
		if c.Column == mvcc.ColumnLock {
			r.found(history.Leftover, "%s is still locked by %s", k, c.Lock.StartTS)
		}
		if c.Column != mvcc.ColumnWrite || c.Write.Kind != mvcc.KindPut &&
			c.Write.Kind != mvcc.KindDelete {
			return nil
		}
		if other, ok := times[c.Write.StartTS]; ok && other != c.TS {
			r.found(history.DuplicateCommit, "transaction %s has records at %s and at %s",
				c.Write.StartTS, other, c.TS)
		}
		times[c.Write.StartTS] = c.TS
		if at[c.TS] == nil {
			at[c.TS] = &commit{ts: c.TS, start: c.Write.StartTS, tables: map[string]bool{}}
		}
		at[c.TS].tables[name] = true
		return nil
	})
	var out []commit
	for _, c := range at {
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b commit) int {
		if a.ts < b.ts {
			return -1
		}
		return 1
	})
	return out, err
}

// findTruth reads the tables AS OF each commit, checks what must hold there, and keeps the
// versions.
func (r *run) findTruth(ctx context.Context) (err error) {
	for _, reader := range []struct {
		conn **minidb.Conn
		by   string
	}{{&r.byIndexes, byIndexes}, {&r.byRows, byRows}} {
		if *reader.conn, err = r.db.Conn(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, (*reader.conn).Close()) }()
		if _, err = (*reader.conn).Exec(ctx, reader.by); err != nil {
			return err
		}
	}
	list, err := r.commits(ctx)
	if err != nil {
		return err
	}
	r.history.Truth = history.Truth{}
	last := map[string]map[string]string{}
	for i, c := range list {
		for _, t := range tables {
			if !c.tables[t.name] {
				continue
			}
			now, err := r.state(ctx, r.byRows, t.name, "", c.ts)
			if err != nil {
				return err
			}
			r.differ(c, last[t.name], now)
			last[t.name] = now
			if err := r.hold(ctx, t.name, c.ts, now); err != nil {
				return err
			}
		}
		if slices.ContainsFunc(families,
			func(t struct{ name, definition string }) bool { return c.tables[t.name] }) {
			if err := r.holdFamilies(ctx, c.ts); err != nil {
				return err
			}
		}
		if slices.ContainsFunc(bookings,
			func(t struct{ name, definition string }) bool { return c.tables[t.name] }) {
			if err := r.holdBookings(ctx, c.ts); err != nil {
				return err
			}
		}
		if i == 0 {
			r.addSetup(c, last)
		}
		if i%11 == 5 {
			err := catalog.CheckAt(ctx, r.db.Store(), c.ts,
				func(p catalog.Problem) { r.found(Disagreement, "as of %s: %s", c.ts, p) },
				catalog.WithPrograms(sql.Programs()))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// state reads the rows of a table at a timestamp.
func (r *run) state(ctx context.Context, reader *minidb.Conn, table, where string,
	ts tso.Timestamp) (map[string]string, error) {
	rows, err := reader.Query(ctx, fmt.Sprintf("SELECT k, v::text, who FROM %s AS OF SYSTEM TIME "+
		"%d %s", table, ts, where))
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for rows.Next() {
		var w row
		if err := rows.Scan(&w.k, &w.v, &w.who); err != nil {
			return nil, err
		}
		out[key(table, w.k)] = w.value()
	}
	return out, rows.Err()
}

// differ makes versions of what a commit has changed in a table.
func (r *run) differ(c commit, before, now map[string]string) {
	for k, v := range now {
		if old, ok := before[k]; !ok || old != v {
			r.history.Truth.Add(k, history.Version{CommitTS: c.ts, StartTS: c.start, Value: v})
		}
	}
	for k := range before {
		if _, ok := now[k]; !ok {
			r.history.Truth.Add(k, history.Version{CommitTS: c.ts, StartTS: c.start, Delete: true})
		}
	}
}

// hold checks what is true of a table at every commit.
func (r *run) hold(ctx context.Context, table string, ts tso.Timestamp,
	now map[string]string) error {
	switch table {
	case "bank":
		sum := 0
		for _, v := range now {
			balance, _, _ := strings.Cut(v, "|")
			sum += number(balance)
		}
		if sum != accounts*opening || len(now) != accounts {
			r.found(Disagreement, "as of %s the bank's %d accounts have %d: %v", ts, len(now), sum,
				now)
		}
		return nil
	case "uniq", "part", "sole":
		has := map[string]string{}
		for k, w := range now {
			v, _, _ := strings.Cut(w, "|")
			if table == "part" && v == anyNumber {
				continue
			}
			if other, taken := has[v]; taken {
				r.found(Disagreement, "as of %s both %s and %s have the unique value %s", ts, k,
					other, v)
			}
			has[v] = k
		}
	case "item":
		for k, w := range now {
			if v, _, _ := strings.Cut(w, "|"); number(v) >= itemValues {
				r.found(Disagreement, "as of %s %s is %s, which is not in its domain", ts, k, v)
			}
		}
	case "list", "pair":
		return nil
	}
	for _, p := range lookups[table] {
		within := maps.Clone(now)
		maps.DeleteFunc(within, func(_, w string) bool {
			v, _, _ := strings.Cut(w, "|")
			return p.lacks != nil && p.lacks(v)
		})
		if err := r.agree(ctx, table, "WHERE "+p.cond, ts, within); err != nil {
			return err
		}
	}
	return nil
}

// lookup is a condition on a table that an index serves, and that all rows satisfy but those whose
// value it lacks.
type lookup struct {
	index, cond string
	lacks       func(v string) bool
}

// lookups finds all that the indexes of tables have.
var lookups = func() map[string][]lookup {
	all := map[string][]lookup{
		"reg": {{index: "reg_v", cond: "v > -1000000"},
			{index: "reg_keys", cond: oneOf(0, regValues-1)},
			{index: "reg_low", cond: "v * 2 >= 0 AND v < 4",
				lacks: func(v string) bool { return number(v) >= 4 }}},
		"uniq": {{index: "uniq_v_key", cond: "v > -1000000"}},
		"part": {{index: "part_v", cond: "v + 0 > -1000000 AND v <> " + anyNumber,
			lacks: func(v string) bool { return v == anyNumber }}},
		"sole": {{index: "sole_v", cond: orNull + " > -1000000",
			lacks: func(v string) bool { return v == "4" }},
			{index: "sole_v", cond: orNull + " IS NULL",
				lacks: func(v string) bool { return v != "4" }}},
		"plot": {{index: "plot_v", cond: "v > -1000000"}},
	}
	for _, p := range paths {
		all["item"] = append(all["item"], lookup{index: p.index,
			cond:  p.cond(p.first, itemValues-1),
			lacks: func(v string) bool { return number(v) < p.first }})
	}
	return all
}()

// agree checks that a condition which an index serves finds all rows.
func (r *run) agree(ctx context.Context, table, where string, ts tso.Timestamp,
	now map[string]string) error {
	byIndex, err := r.state(ctx, r.byIndexes, table, where, ts)
	if err != nil {
		return err
	}
	if fmt.Sprint(byIndex) != fmt.Sprint(now) {
		r.found(Disagreement, "as of %s table %s has %v, its index %v", ts, table, now, byIndex)
	}
	return nil
}

// addSetup makes a record of the first rows.
func (r *run) addSetup(c commit, state map[string]map[string]string) {
	rec := &history.Record{Name: firstRows, StartTS: c.start, CommitTS: c.ts,
		Outcome: history.Committed, Ended: 1}
	for _, rows := range state {
		for k, v := range rows {
			rec.Writes = append(rec.Writes, history.Write{Key: k, Value: v, Base: c.start})
		}
	}
	r.history.Records = append(r.history.Records, rec)
}

// resolve finds the result of transactions whose clients do not know it: each row names the
// statement that wrote it.
func (r *run) resolve() {
	for _, list := range r.history.Truth {
		for _, v := range list {
			if v.Delete {
				continue
			}
			who := v.Value[strings.LastIndex(v.Value, "|")+1:]
			s, ok := r.statements[who]
			if !ok || s.rec.StartTS != 0 && s.rec.StartTS != v.StartTS {
				continue
			}
			// A single statement whose answer was lost or was an error.
			if s.rec.StartTS == 0 {
				s.rec.StartTS = v.StartTS
			}
			if len(s.rec.Writes) == 0 && s.rec.Outcome != history.Aborted {
				r.guess(s, v)
			}
		}
	}
	commitOf := map[tso.Timestamp]tso.Timestamp{}
	for _, list := range r.history.Truth {
		for _, v := range list {
			commitOf[v.StartTS] = v.CommitTS
		}
	}
	for _, rec := range r.history.Records {
		if rec.CommitTS == 0 && rec.Outcome != history.Aborted && !rec.Historical {
			rec.CommitTS = commitOf[rec.StartTS]
		}
		r.dropNothings(rec)
	}
}

// guess takes as written by a statement without an answer what carries its name.
func (r *run) guess(s sent, v history.Version) {
	for k, list := range r.history.Truth {
		for _, w := range list {
			if w.StartTS != v.StartTS || w.CommitTS != v.CommitTS {
				continue
			}
			n, _, _ := parts(k, w.Value+"|")
			r.effects = append(r.effects,
				effect{rec: s.rec, table: s.table, k: n, own: len(s.rec.Writes), to: s.to})
			s.rec.Writes = append(s.rec.Writes,
				history.Write{Key: k, Value: w.Value, Delete: w.Delete, Base: v.CommitTS})
		}
	}
}

// dropNothings takes back the deletions of rows that the transaction itself had made.
func (r *run) dropNothings(rec *history.Record) {
	for k, w := range rec.Own(len(rec.Writes)) {
		if !w.Delete {
			continue
		}
		ts := w.Base // of a transaction that left nothing at all
		if rec.CommitTS != 0 {
			ts = rec.CommitTS - 1
		}
		if before := r.history.Truth.At(k, ts); before == nil || before.Delete {
			rec.Writes = append(rec.Writes, history.Write{Key: k, Undone: true})
		}
	}
}
