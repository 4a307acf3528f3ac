package sqlhistory

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// item is a table whose columns all follow from v, by types of users, with an index of each kind
// over them. So any index must find the rows of a range of v.
const (
	itemTypes = "CREATE TYPE hue AS ENUM ('red', 'ochre', 'yellow', 'lime', 'green', 'cyan', " +
		"'blue', 'anil'); CREATE DOMAIN small AS int CHECK (VALUE BETWEEN 0 AND 7); " +
		"CREATE TYPE spot AS (half small, hue hue)"
	itemColumns = "(k int PRIMARY KEY, v small NOT NULL, who text NOT NULL" +
		", hue hue GENERATED ALWAYS AS (" + hueOfV + ") STORED" +
		", spot spot GENERATED ALWAYS AS (ROW(v / 2, " + hueOfV + ")::spot) STORED" +
		", span int4range GENERATED ALWAYS AS (int4range(v, v + 3)) STORED" +
		", tags text[] GENERATED ALWAYS AS (ARRAY['all', 't' || v::text]) STORED" +
		", doc jsonb GENERATED ALWAYS AS (('{\"n\": ' || v::text || ', \"k' || v::text || " +
		"'\": [1]}')::jsonb) STORED" +
		", facts jsonb GENERATED ALWAYS AS (('[{\"n\": ' || v::text || '}]')::jsonb) STORED" +
		", note text GENERATED ALWAYS AS ('a note ' || " + nameOfV + ") STORED)"
	itemIndexes = "; CREATE INDEX item_hue ON item (hue); CREATE INDEX item_spot ON item (spot)" +
		"; CREATE INDEX item_span ON item (span); CREATE INDEX item_tags ON item USING gin (tags)" +
		"; CREATE INDEX item_doc ON item USING gin (doc)" +
		"; CREATE INDEX item_facts ON item USING gin (facts jsonb_path_ops)" +
		"; CREATE INDEX item_note ON item USING gin (note gin_trgm_ops)" +
		"; CREATE INDEX item_late ON item ((v + 1)) WHERE hue >= 'green'" +
		"; CREATE VIEW bright AS SELECT k, v, who, hue, note FROM item WHERE hue >= 'yellow' " +
		"WITH CHECK OPTION"

	hueOfV = "(ARRAY['red', 'ochre', 'yellow', 'lime', 'green', 'cyan', 'blue', 'anil']::hue[])" +
		"[v + 1]"
	nameOfV = "(ARRAY['zero', 'unity', 'twosome', 'threefold', 'fourth', 'fifth', 'sixth', " +
		"'seventh'])[v + 1]"

	itemKeys   = 6
	itemValues = 8 // of the domain
	late       = 4 // the first value in the partial index
	brightest  = 2 // the first value in the view
)

var (
	hues = []string{"red", "ochre", "yellow", "lime", "green", "cyan", "blue", "anil"}
	// noteParts are parts of the notes of the values.
	noteParts = []string{"zero", "unit", "twosome", "eefol", "fourth", "fift", "xth", "sevent"}
)

// path is a way to the rows of item whose v is between low and high.
type path struct {
	index string
	cond  func(low, high int) string
	first int // the lowest value that the index has
}

var paths = []path{
	{index: "item_hue", cond: func(low, high int) string {
		return fmt.Sprintf("hue BETWEEN '%s' AND '%s'", hues[low], hues[high])
	}},
	{index: "item_spot", cond: func(low, high int) string {
		return fmt.Sprintf("spot BETWEEN '(%d,%s)'::spot AND '(%d,%s)'::spot", low/2, hues[low],
			high/2, hues[high])
	}},
	{index: "item_span", cond: func(low, high int) string {
		return fmt.Sprintf("span BETWEEN int4range(%d, %d) AND int4range(%d, %d)", low, low+3,
			high, high+3)
	}},
	{index: "item_tags", cond: func(low, high int) string {
		return "tags && '{" + each(low, high, ",", func(n int) string {
			return fmt.Sprint("t", n)
		}) + "}'"
	}},
	{index: "item_doc", cond: func(low, high int) string {
		return "doc ?| '{" + each(low, high, ",", func(n int) string {
			return fmt.Sprint("k", n)
		}) + "}'"
	}},
	{index: "item_facts", cond: func(low, high int) string {
		return "facts @? '$[*].n ? (" + each(low, high, " || ", func(n int) string {
			return fmt.Sprint("@ == ", n)
		}) + ")'"
	}},
	{index: "item_note", cond: func(low, high int) string {
		return "(" + each(low, high, " OR ", func(n int) string {
			return "note LIKE '%" + noteParts[n] + "%'"
		}) + ")"
	}},
	{index: "item_late", first: late, cond: func(low, high int) string {
		return fmt.Sprintf("v + 1 BETWEEN %d AND %d AND hue >= 'green'", low+1, high+1)
	}},
}

// each joins what f makes of the numbers from low to high.
func each(low, high int, separator string, f func(int) string) string {
	var parts []string
	for n := low; n <= high; n++ {
		parts = append(parts, f(n))
	}
	return strings.Join(parts, separator)
}

// somePath is a condition on item and the range of v that satisfies it.
func (s *session) somePath() (cond string, low, high int) {
	p := paths[s.dice.IntN(len(paths))]
	low = p.first + s.dice.IntN(itemValues-p.first)
	high = min(low+s.dice.IntN(3), itemValues-1)
	return p.cond(low, high), low, high
}

func itemScan(s *session, ctx context.Context) error {
	cond, low, high := s.somePath()
	return s.rangeScan(ctx, "item", cond, low, high)
}

func itemInsert(s *session, ctx context.Context) error {
	who, k, v := s.label(), s.dice.IntN(itemKeys), s.dice.IntN(itemValues)
	to := func(_ int, _ string, ok bool) (string, bool) { return strconv.Itoa(v), !ok }
	a, err := s.write(ctx, "item", who, to, false,
		fmt.Sprintf("INSERT INTO item (k, v, who) VALUES (%d, %d, $1)", k, v), who)
	if codeOf(err) == "23505" {
		s.claim(&a, "item", func(have int, _, _ string) bool { return have == k }, true)
	}
	return err
}

// itemUpsert adds to the row that is there, or makes one.
func itemUpsert(s *session, ctx context.Context) error {
	who, k, v := s.label(), s.dice.IntN(itemKeys), s.dice.IntN(itemValues)
	_, err := s.write(ctx, "item", who, added(k, v), false, fmt.Sprintf("INSERT INTO item (k, v, "+
		"who) VALUES (%d, %d, $1) ON CONFLICT (k) DO UPDATE SET v = (item.v + excluded.v) %% %d, "+
		"who = excluded.who", k, v, itemValues), who)
	return err
}

// added is what a statement makes of row k that adds v to it, or makes it v.
func added(k, v int) change {
	return func(have int, old string, ok bool) (string, bool) {
		if ok {
			return strconv.Itoa((number(old) + v) % itemValues), have == k
		}
		return strconv.Itoa(v), have == k
	}
}

// itemMerge is itemUpsert by MERGE, which has no RETURNING: what it wrote is read back.
func itemMerge(s *session, ctx context.Context) error {
	who, k, v := s.label(), s.dice.IntN(itemKeys), s.dice.IntN(itemValues)
	a, err := s.merge(ctx, "item", who, added(k, v), fmt.Sprintf("MERGE INTO item USING (VALUES "+
		"(%d, %d)) AS m (k, v) ON item.k = m.k WHEN MATCHED THEN UPDATE SET v = (item.v + m.v) %% "+
		"%d, who = '%s' WHEN NOT MATCHED THEN INSERT (k, v, who) VALUES (m.k, m.v, '%[4]s')",
		k, v, itemValues, who))
	if codeOf(err) == "23505" {
		s.claim(&a, "item", func(have int, _, _ string) bool { return have == k }, true)
	}
	return err
}

// itemMergeLow adds to a row as long as its value is below another one.
func itemMergeLow(s *session, ctx context.Context) error {
	who, k, below := s.label(), s.dice.IntN(itemKeys), 1+s.dice.IntN(itemValues-1)
	to := func(_ int, old string, ok bool) (string, bool) {
		return strconv.Itoa(number(old) + 1), ok && number(old) < below
	}
	_, err := s.merge(ctx, "item", who, to, fmt.Sprintf("MERGE INTO item USING (VALUES (%d)) AS "+
		"m (k) ON item.k = m.k WHEN MATCHED AND item.hue < '%s' THEN UPDATE SET v = item.v + 1, "+
		"who = '%s' WHEN MATCHED THEN DO NOTHING", k, hues[below], who))
	return err
}

// itemBump moves the rows that an index finds, by columns that change with them.
func itemBump(s *session, ctx context.Context) error {
	cond, low, high := s.somePath()
	return s.bump(ctx, bump{target: "item", table: "item", values: itemValues, cond: cond, low: low,
		high: high})
}

// brightBump is itemBump through a view, which refuses rows that leave it.
func brightBump(s *session, ctx context.Context) error {
	p := paths[0]
	low := s.dice.IntN(itemValues)
	high := min(low+s.dice.IntN(3), itemValues-1)
	return s.bump(ctx, bump{target: "bright", table: "item", values: itemValues,
		cond: p.cond(low, high), low: max(low, brightest), high: high,
		becomes: func(v int) bool { return v >= brightest }})
}

// itemPush adds to the rows of a range, which the domain refuses when one becomes too large.
func itemPush(s *session, ctx context.Context) error {
	who, by := s.label(), 1+s.dice.IntN(3)
	cond, low, high := s.somePath()
	to := func(_ int, v string, ok bool) (string, bool) {
		n := number(v)
		return strconv.Itoa(n + by), ok && n >= low && n <= high
	}
	a, err := s.write(ctx, "item", who, to, false, fmt.Sprintf("UPDATE item SET v = v + %d, who = "+
		"$1 WHERE %s", by, cond), who)
	if codeOf(err) == "23514" {
		s.claim(&a, "item", func(_ int, v, _ string) bool {
			n := number(v)
			return n >= low && n <= high && n+by >= itemValues
		}, true)
	}
	return err
}

func itemDelete(s *session, ctx context.Context) error {
	cond, low, high := s.somePath()
	to := func(_ int, v string, ok bool) (string, bool) {
		n := number(v)
		return "", ok && n >= low && n <= high
	}
	_, err := s.write(ctx, "item", s.label(), to, true, "DELETE FROM item WHERE "+cond)
	return err
}
