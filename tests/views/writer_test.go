package views

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/minidb/minidb"
)

// writer is a session that changes the tables, at the handle or over the wire.
type writer struct {
	size
	who  int
	dice *rand.Rand
	conn *minidb.Conn   // of the handle,
	wire *pgconn.PgConn // or this one
	bulk int            // rows of the last large insert, which are still there
	// done counts what was committed, by the names of statements; refused what failed.
	done    map[string]int
	refused map[string]int
}

func newWriter(z size, who int, seed uint64) *writer {
	return &writer{size: z, who: who, dice: rand.New(rand.NewPCG(seed, uint64(who))),
		done: map[string]int{}, refused: map[string]int{}}
}

// statement is one that a writer may run.
type statement struct {
	name   string
	weight int
	text   func(w *writer) string
}

var statements = []statement{
	{"upsert", 6, func(w *writer) string {
		return w.docsOfOne(1+w.dice.IntN(4), "ON CONFLICT (id) DO UPDATE SET host = "+
			"excluded.host, length = excluded.length, ok = excluded.ok")
	}},
	{"insert", 5, func(w *writer) string { return w.docsOfOne(20, "ON CONFLICT DO NOTHING") }},
	{"update", 6, func(w *writer) string {
		return fmt.Sprintf("UPDATE doc SET length = (length * 7 + %d) %% 200, ok = NOT ok WHERE %s",
			w.dice.IntN(200), w.ids(3))
	}},
	{"move", 6, func(w *writer) string {
		return fmt.Sprintf("UPDATE doc SET kind = %d, host = coalesce((SELECT min(id) FROM host "+
			"WHERE id >= %d), host) WHERE %s", w.dice.IntN(w.kinds), w.host(), w.ids(3))
	}},
	{"score", 3, func(w *writer) string {
		return fmt.Sprintf("UPDATE doc SET score = CASE WHEN score > 1e200 THEN NULL ELSE %d / "+
			"8.0 END, price = coalesce(price, 0) + %d.%d WHERE host = %d", w.dice.IntN(800),
			w.dice.IntN(9), w.dice.IntN(900), w.host())
	}},
	{"delete", 5, func(w *writer) string { return "DELETE FROM doc WHERE " + w.ids(12) }},
	{"delete a host", 2, func(w *writer) string {
		return fmt.Sprintf("DELETE FROM host WHERE id = %d", w.host())
	}},
	{"hosts", 3, func(w *writer) string {
		return fmt.Sprintf("INSERT INTO host SELECT i, 'host ' || i %% 100, (i + %d) %% 5 FROM "+
			"generate_series(%d, %[2]d + 1) i ON CONFLICT (id) DO UPDATE SET tier = excluded.tier",
			w.dice.IntN(5), w.host())
	}},
	{"renumber a host", 1, func(w *writer) string {
		return fmt.Sprintf("UPDATE host SET id = %d WHERE id = %d", w.host(), w.host())
	}},
	{"words", 4, func(w *writer) string {
		return fmt.Sprintf("INSERT INTO word SELECT %d, 'word ' || i %% 3, i %% 4 FROM "+
			"generate_series(1, %d) i", w.id(), 1+w.dice.IntN(6))
	}},
	{"update words", 2, func(w *writer) string {
		return fmt.Sprintf("UPDATE word SET n = (n + 1) %% 7, word = word || 's' WHERE doc = %d "+
			"AND char_length(word) < 20", w.id())
	}},
	{"delete words", 2, func(w *writer) string {
		d := w.id()
		return fmt.Sprintf("DELETE FROM word WHERE doc BETWEEN %d AND %d", d, d+5)
	}},
}

// rare are those that take long, and come by order. Rows are more than fit into one batch, or into
// one commit in one phase.
var rare = []statement{
	{name: "insert many", text: func(w *writer) string {
		w.bulk = []int{1500, 5000}[w.dice.IntN(2)]
		from := w.bulkFrom()
		return fmt.Sprintf("INSERT INTO doc SELECT i, h.id, %s FROM generate_series(%d, %d) i "+
			"JOIN (SELECT id, row_number() OVER () AS nr, count(*) OVER () AS n FROM host) h ON "+
			"h.nr = i %% h.n + 1 ON CONFLICT DO NOTHING", w.docOf("i"), from, from+w.bulk-1)
	}},
	{name: "truncate", text: func(w *writer) string { return "TRUNCATE word" }},
	{name: "update many", text: func(w *writer) string {
		return fmt.Sprintf("UPDATE doc SET length = length + 1 WHERE id %% 6 = %d", w.dice.IntN(6))
	}},
	{name: "insert many words", text: func(w *writer) string {
		return fmt.Sprintf("INSERT INTO word SELECT i, 'word ' || i %% 50, i %% 7 FROM "+
			"generate_series(1, %d) i", min(w.words, 5000))
	}},
	{name: "update most", text: func(w *writer) string {
		return "UPDATE doc SET kind = (kind + 1) % " + fmt.Sprint(w.kinds) + " WHERE id < 8000"
	}},
	{name: "delete many", text: func(w *writer) string {
		return fmt.Sprintf("DELETE FROM doc WHERE id >= %d", 3*w.docs)
	}},
}

func (w *writer) host() int { return w.dice.IntN(2 * w.hosts) }

func (w *writer) id() int { return w.dice.IntN(2 * w.docs) }

func (w *writer) bulkFrom() int { return 3*w.docs + w.who*10_000 }

// ids is a condition for a few documents.
func (w *writer) ids(most int) string {
	id := w.id()
	return fmt.Sprintf("id BETWEEN %d AND %d", id, id+w.dice.IntN(most))
}

// docsOfOne inserts documents of one host.
func (w *writer) docsOfOne(n int, conflict string) string {
	id := w.id()
	return fmt.Sprintf("INSERT INTO doc SELECT i, h.id, %s FROM generate_series(%d, %d) i, "+
		"(SELECT min(id) AS id FROM host WHERE id >= %d HAVING count(*) > 0) h %s",
		w.docOf(fmt.Sprintf("(i + %d)", w.dice.IntN(1000))), id, id+n-1, w.host(), conflict)
}

func (w *writer) draw() statement {
	all := 0
	for _, s := range statements {
		all += s.weight
	}
	n := w.dice.IntN(all)
	for _, s := range statements {
		if n -= s.weight; n < 0 {
			return s
		}
	}
	panic("weights")
}

func (w *writer) exec(ctx context.Context, text string) (err error) {
	if w.wire != nil {
		_, err = w.wire.Exec(ctx, text).ReadAll()
	} else {
		_, err = w.conn.Exec(ctx, text)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	return nil
}

// copy adds words, or documents, by COPY.
func (w *writer) copy(ctx context.Context) (name string, err error) {
	if w.dice.IntN(2) == 0 {
		var in strings.Builder
		for range 1 + w.dice.IntN(40) {
			fmt.Fprintf(&in, "%d\tword %d\t%d\n", w.id(), w.dice.IntN(5), w.dice.IntN(7))
		}
		_, err = w.wire.CopyFrom(ctx, strings.NewReader(in.String()), "COPY word FROM STDIN")
		return "copy words", err
	}
	host := w.host()
	if err := w.exec(ctx, fmt.Sprintf("INSERT INTO host VALUES (%d, 'host copied', 1) ON CONFLICT "+
		"DO NOTHING", host)); err != nil {
		return "copy", err
	}
	var in strings.Builder
	from := w.id()
	for i := range 1 + w.dice.IntN(10) {
		fmt.Fprintf(&in, "%d\t%d\t%d\t%d\t%d.50\t0.125\tt\tcopied\n", from+i, host,
			w.dice.IntN(w.kinds), w.dice.IntN(200), w.dice.IntN(9))
	}
	_, err = w.wire.CopyFrom(ctx, strings.NewReader(in.String()), "COPY doc FROM STDIN")
	return "copy", err
}

// work does one thing: a statement, a COPY, a block, or what is ordered. An error is one that a
// writer must not get.
func (w *writer) work(ctx context.Context, order *statement) error {
	var err error
	var names []string
	switch {
	case order != nil:
		names = []string{order.name}
		for err = w.exec(ctx, order.text(w)); repeated(err); {
			w.refused[stateOf(err)]++
			err = w.exec(ctx, order.text(w))
		}
	case w.wire != nil && w.dice.IntN(4) == 0:
		var name string
		name, err = w.copy(ctx)
		names = []string{name}
	case w.dice.IntN(3) == 0:
		names, err = w.block(ctx)
	default:
		s := w.draw()
		names = []string{s.name}
		err = w.exec(ctx, s.text(w))
	}
	if err == nil {
		for _, name := range names {
			w.done[name]++
		}
		return nil
	}
	w.refused[stateOf(err)]++
	if repeated(err) {
		return nil
	}
	return fmt.Errorf("writer %d: %w", w.who, err)
}

// expected are the errors that writers get of each other: conflicts, deadlocks, a parent that is
// gone, a key that is taken.
var expected = []string{"40001", "40P01", "23503", "23505"}

func repeated(err error) bool { return slices.Contains(expected, stateOf(err)) }

func stateOf(err error) string {
	var mine *minidb.Error
	var theirs *pgconn.PgError
	switch {
	case errors.As(err, &mine):
		return mine.Code
	case errors.As(err, &theirs):
		return theirs.Code
	}
	return ""
}

// block runs a transaction of several statements, some of them rolled back to a savepoint.
func (w *writer) block(ctx context.Context) (names []string, err error) {
	level := []string{"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"}[w.dice.IntN(3)]
	if err := w.exec(ctx, "BEGIN ISOLATION LEVEL "+level); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.exec(ctx, "ROLLBACK"))
		}
	}()
	names = []string{"block"}
	for range 1 + w.dice.IntN(4) {
		save := w.dice.IntN(3) == 0
		if save {
			err = w.exec(ctx, "SAVEPOINT a")
		}
		s := w.draw()
		if err == nil {
			err = w.exec(ctx, s.text(w))
		}
		switch {
		case err != nil:
			return nil, err
		case save && w.dice.IntN(2) == 0:
			err = w.exec(ctx, "ROLLBACK TO a")
			s.name = "rollback to a savepoint"
		case save:
			err = w.exec(ctx, "RELEASE a")
		}
		if err != nil {
			return nil, err
		}
		names = append(names, s.name)
	}
	if w.dice.IntN(8) == 0 {
		return []string{"rollback"}, w.exec(ctx, "ROLLBACK")
	}
	return names, w.exec(ctx, "COMMIT")
}
