package differential

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/pgtest"
	"github.com/minidb/minidb/tests/served"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// statements is how many a plain run makes.
const statements = 1500

// round is how many statements work on the same tables.
const round = 600

// before is what each session begins with.
const before = `
SET TimeZone = 'UTC'; SET statement_timeout = '20s'; SET extra_float_digits = 1;
SET IntervalStyle = 'postgres'; SET DateStyle = 'ISO, MDY';`

func fromEnv(t *testing.T, name string, or uint64) uint64 {
	v := os.Getenv(name)
	if v == "" {
		return or
	}
	n, err := strconv.ParseUint(v, 10, 64)
	require.NoError(t, err, name)
	return n
}

func TestStatementsAnswerAsPostgreSQL(t *testing.T) {
	postgres, own := postgresServer(t), dial(t, served.InMemory(t))
	seed := fromEnv(t, "MINIDB_DIFFERENTIAL_SEED", 1)
	n := int(fromEnv(t, "MINIDB_DIFFERENTIAL", statements))
	for _, s := range []*server{postgres, own} {
		require.NoError(t, s.Exec(t.Context(), before).Close())
	}
	scenes, err := loadScenes()
	require.NoError(t, err)
	lib := newLibrary(ask(t, postgres, listed), ask(t, own, listed))
	g := &generator{rng: rand.New(rand.NewPCG(seed, 1)), lib: lib, types: sortedKeys(values),
		scenes: scenes}
	c := &comparison{t: t, postgres: postgres, own: own, excused: make([]int, len(explained))}
	for i := range n {
		if i%round == 0 {
			c.anew = true
		}
		if c.anew {
			c.anew, c.made, g.coming = false, nil, nil
			for _, text := range g.setup() {
				c.compare(i, text, false)
			}
		}
		text, strict := g.next(i)
		c.compare(i, text, strict)
	}
	t.Logf("seed %d: %d statements, %d without an error; made of %d aggregates and of calls with "+
		"%d results", seed, n, c.answered, len(lib.aggregates), len(lib.scalars))
	for i, e := range explained {
		t.Logf("explained %d times: %s", c.excused[i], e.reason)
	}
	for _, d := range c.differences {
		t.Errorf("MINIDB_DIFFERENTIAL_SEED=%d, %s", seed, d)
	}
	require.Greater(t, c.answered, n/3, "most statements are to do something")
}

// comparison gives statements to both servers.
type comparison struct {
	t             *testing.T
	postgres, own *server
	answered      int   // without an error
	excused       []int // how many, by explanation
	differences   []string
	anew          bool     // the tables may differ
	sequence      []string // the statements before, of the same sequence
	made          []string // those that made something beside rows in the same tables
}

func (c *comparison) compare(i int, text string, strict bool) {
	want, got := c.postgres.answer(c.t, text), c.own.answer(c.t, text)
	if !strict {
		c.sequence = nil
	}
	defer func() {
		c.sequence = append(c.sequence, text)
		if strings.HasPrefix(text, "CREATE") {
			c.made = append(c.made, text)
		}
	}()
	if want.code == "" {
		c.answered++
	}
	how := difference(&want, &got, strict, placed.MatchString(text))
	if how == 0 {
		return
	}
	// What both refuse changes nothing.
	c.anew = c.anew || how&^refusal != 0 && !strings.HasPrefix(text, "SELECT")
	for i := range explained {
		if explained[i].holds(c, text, &want, &got, how) {
			c.excused[i]++
			return
		}
	}
	c.differences = append(c.differences, fmt.Sprintf(
		"statement %d:\n%s;\nPostgreSQL: %s\nminidb:     %s", i,
		strings.Join(append(c.sequence, text), ";\n"), want.without(&got), got.without(&want)))
}

// placed matches statements whose errors have positions. Those of schema changes that PostgreSQL
// makes of other statements, or that it parses again, have some that are none of the text.
var placed = regexp.MustCompile(`^(SELECT|INSERT|UPDATE|DELETE|MERGE|WITH|VALUES|CREATE)\b`)

// ask returns the rows of a query.
func ask(t *testing.T, conn *server, text string) (rows [][]string) {
	results, err := conn.Exec(t.Context(), text).ReadAll()
	require.NoError(t, err)
	for _, row := range results[0].Rows {
		fields := make([]string, len(row))
		for i, v := range row {
			fields[i] = string(v)
		}
		rows = append(rows, fields)
	}
	return rows
}
