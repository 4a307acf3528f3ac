package differential

import (
	"fmt"
	"strings"
)

// setup makes the tables: all has a column of each type, and few has what joins and MERGE need.
func (g *generator) setup() []string {
	columns := []string{"id integer PRIMARY KEY"}
	for _, t := range g.types {
		columns = append(columns, columnOf(t)+" "+t)
	}
	return []string{
		"ROLLBACK", "RESET ROLE", "CREATE ROLE ann", "CREATE ROLE bob", "CREATE ROLE eve",
		"DROP OWNED BY ann CASCADE", "DROP OWNED BY bob CASCADE",
		"DROP OWNED BY eve CASCADE",
		"DROP SCHEMA public CASCADE", "CREATE SCHEMA public", "DROP TABLE IF EXISTS pg_temp.kept",
		"CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')",
		"CREATE TABLE many (" + strings.Join(columns, ", ") + ")",
		"CREATE TABLE few (id integer PRIMARY KEY, c_integer integer UNIQUE, c_text text, " +
			"c_mood mood)",
		"CREATE TEMPORARY TABLE kept (id integer, c_text text)",
	}
}

// index returns a statement that makes or drops an index of some kind.
func (g *generator) index(n int) string {
	t := g.types[g.rng.IntN(len(g.types))]
	switch g.rng.IntN(6) {
	case 0:
		return fmt.Sprintf("CREATE INDEX x%d ON many (%s) WHERE %s", n, columnOf(t), g.inColumns(
			func() string { return g.expression("boolean", 1) }))
	case 1:
		return fmt.Sprintf("CREATE INDEX x%d ON many ((%s))", n, g.inColumns(
			func() string { return g.expression(t, 1) }))
	case 2:
		return fmt.Sprintf("CREATE INDEX x%d ON many USING gin (%s)", n,
			[]string{"c_jsonb", "c_integer_array", "c_text_array"}[g.rng.IntN(3)])
	case 3:
		return fmt.Sprintf("CREATE INDEX x%d ON many (%s DESC NULLS LAST, c_integer)", n,
			columnOf(t))
	case 4:
		return fmt.Sprintf("DROP INDEX IF EXISTS x%d", g.rng.IntN(n+1))
	}
	return fmt.Sprintf("CREATE INDEX x%d ON many (%s)", n, columnOf(t))
}

// inColumns makes expressions over the columns of many.
func (g *generator) inColumns(text func() string) string {
	names := g.names
	g.names = map[string]string{}
	for _, t := range g.types {
		g.names[t] = columnOf(t)
	}
	defer func() { g.names = names }()
	return text()
}

func (g *generator) anyType() string { return g.types[g.rng.IntN(len(g.types))] }

// statement returns the next statement; n is its number. strict asks for equal messages too.
func (g *generator) next(n int) (text string, strict bool) {
	if len(g.coming) == 0 && g.rng.IntN(60) == 0 {
		g.coming = g.sequence(g.scenes[g.rng.IntN(len(g.scenes))])
	}
	if len(g.coming) > 0 {
		text, g.coming = g.coming[0], g.coming[1:]
		return text, true
	}
	return g.statement(n), false
}

// statement returns a statement that needs nothing but the tables of setup.
func (g *generator) statement(n int) string {
	switch k := g.rng.IntN(100); {
	case k < 50:
		return "SELECT " + g.expression(g.anyType(), 1+g.rng.IntN(3))
	case k < 62:
		return g.query()
	case k < 68:
		return g.aggregate()
	case k < 70:
		return g.window()
	case k < 71:
		return g.index(n)
	case k < 84:
		return g.insert(n)
	case k < 90:
		return g.update()
	case k < 93:
		return g.merge()
	case k < 95:
		return fmt.Sprintf("DELETE FROM many WHERE CASE WHEN id %% 7 = %d THEN %s END RETURNING id",
			g.rng.IntN(7), g.inColumns(func() string { return g.expression("boolean", 2) }))
	case k < 97:
		return fmt.Sprintf("INSERT INTO kept SELECT id, c_text FROM many WHERE %s RETURNING *",
			g.inColumns(func() string { return g.expression("boolean", 2) }))
	}
	return g.join()
}

func (g *generator) query() string {
	return g.inColumns(func() string {
		return fmt.Sprintf("SELECT id, %s, %s FROM many WHERE %s", g.expression(g.anyType(), 2),
			g.leaf(g.anyType()), g.expression("boolean", 1+g.rng.IntN(3)))
	})
}

func (g *generator) aggregate() string {
	return g.inColumns(func() string {
		c := g.lib.aggregates[g.rng.IntN(len(g.lib.aggregates))]
		args, ok := c.bind(g.rng, "")
		if !ok {
			return "SELECT count(*) FROM many WHERE " + g.expression("boolean", 2)
		}
		text := g.call(c, args, 1)
		// A total order makes what depends on the order the same.
		text = strings.TrimSuffix(text, ")") + " ORDER BY id)"
		if g.rng.IntN(3) == 0 {
			text += " FILTER (WHERE " + g.expression("boolean", 1) + ")"
		}
		return fmt.Sprintf("SELECT id %% 3, %s, count(*) FROM many GROUP BY 1 HAVING %s", text,
			[]string{"true", "count(*) > 1"}[g.rng.IntN(2)])
	})
}

func (g *generator) window() string {
	return g.inColumns(func() string {
		t := g.anyType()
		f := []string{"row_number()", "rank()", "lag(" + columnOf(t) + ")",
			"first_value(" + columnOf(t) + ")", "ntile(3)", "count(*)"}[g.rng.IntN(6)]
		return fmt.Sprintf("SELECT id, %s OVER (PARTITION BY id %% 2 ORDER BY id) FROM many", f)
	})
}

func (g *generator) insert(n int) string {
	if g.rng.IntN(4) == 0 {
		action := []string{"DO NOTHING",
			"(id) DO UPDATE SET c_text = excluded.c_text || few.c_text",
			"(c_integer) DO UPDATE SET c_mood = excluded.c_mood WHERE few.id > 5"}[g.rng.IntN(3)]
		return fmt.Sprintf("INSERT INTO few VALUES (%d, %s, %s, %s) ON CONFLICT %s RETURNING *",
			g.rng.IntN(30), g.literal("integer"), g.literal("text"), g.literal("mood"), action)
	}
	names, list := []string{"id"}, []string{fmt.Sprint(n)}
	for _, t := range g.types {
		if g.rng.IntN(4) > 0 {
			names, list = append(names, columnOf(t)), append(list, g.literal(t))
		}
	}
	return fmt.Sprintf("INSERT INTO many (%s) VALUES (%s)", strings.Join(names, ", "),
		strings.Join(list, ", "))
}

func (g *generator) update() string {
	return g.inColumns(func() string {
		t := g.anyType()
		return fmt.Sprintf("UPDATE many SET %s = %s WHERE CASE WHEN id %% 5 = %d THEN %s END "+
			"RETURNING id, %[1]s", columnOf(t), g.expression(t, 2), g.rng.IntN(5),
			g.expression("boolean", 1))
	})
}

func (g *generator) merge() string {
	return fmt.Sprintf("MERGE INTO few USING (VALUES (%d, %s), (%d, %s)) AS s (id, t) "+
		"ON few.id = s.id WHEN MATCHED AND few.c_integer > 3 THEN DELETE "+
		"WHEN MATCHED THEN UPDATE SET c_text = s.t "+
		"WHEN NOT MATCHED THEN INSERT (id, c_text) VALUES (s.id, s.t)",
		g.rng.IntN(30), g.literal("text"), 30+g.rng.IntN(30), g.literal("text"))
}

func (g *generator) join() string {
	kind := []string{"JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"}[g.rng.IntN(4)]
	if g.rng.IntN(2) == 0 {
		return fmt.Sprintf("SELECT m.id, f.id, f.c_mood FROM many m %s few f "+
			"ON m.c_integer = f.c_integer", kind)
	}
	return "SELECT id, c_mood FROM few f " +
		"WHERE EXISTS (SELECT FROM many m WHERE m.c_text = f.c_text) OR " +
		"c_mood < ALL (SELECT c_mood FROM many WHERE c_mood IS NOT NULL AND id % 9 = 0)"
}
