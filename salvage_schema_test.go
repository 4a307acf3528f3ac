package minidb_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
)

// mark is a comment that makes the descriptor of a relation fill a block of a table file by itself,
// and that is found in the file.
func mark(name string) string {
	r := rand.New(rand.NewChaCha8(sha256.Sum256([]byte(name))))
	var b strings.Builder
	for b.Len() < 17_000 {
		fmt.Fprintf(&b, "%c", rune('#'+r.IntN(57)))
	}
	return strings.NewReplacer(`\`, "a", "'", "b", "<", "c", ">", "d", "&", "e").Replace(b.String())
}

// flipMark damages the descriptor of a relation that has a mark.
func flipMark(t *testing.T, dir, name string) {
	text := []byte(mark(name))
	files, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	require.NoError(t, err)
	found := 0
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		for at := 4_000; at < 8_000; at += 16 {
			if i := bytes.Index(b, text[at:at+32]); i >= 0 {
				flip(t, f, int64(i))
				found++
				break
			}
		}
	}
	require.Positive(t, found, "the descriptor of %s is not found", name)
}

// manyRelations makes a directory with relations of every kind, which refer to each other.
func manyRelations(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "data")
	db, err := minidb.Open(dir, quiet, minidb.GCInterval(-1))
	require.NoError(t, err)
	exec(t, db, `
		CREATE TABLE parent(id serial PRIMARY KEY, v text UNIQUE);
		CREATE TABLE child(id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
			p int REFERENCES parent, v text);
		CREATE INDEX child_v ON child(v);
		CREATE SEQUENCE free;
		CREATE TABLE drawing(n int DEFAULT nextval('free'), m int DEFAULT 7);
		CREATE VIEW over_parent AS SELECT v FROM parent;
		CREATE VIEW over_view AS SELECT upper(v) u FROM over_parent;
		CREATE VIEW over_child AS SELECT v FROM child;
		CREATE SCHEMA other; CREATE TABLE other.moved(id int PRIMARY KEY);
		INSERT INTO other.moved VALUES (1); TRUNCATE other.moved;
		INSERT INTO other.moved SELECT generate_series(1, 300);
		INSERT INTO parent(v) SELECT 'v' || i FROM generate_series(1, 500) i;
		INSERT INTO child(p, v) SELECT i, 'v' || i FROM generate_series(1, 500) i;
		INSERT INTO drawing SELECT FROM generate_series(1, 200);
		CREATE MATERIALIZED VIEW kept AS SELECT * FROM over_view;
		CREATE UNIQUE INDEX kept_u ON kept(u); REFRESH MATERIALIZED VIEW kept`)
	for _, r := range []string{"TABLE parent", "TABLE child", "TABLE drawing", "TABLE other.moved",
		"SEQUENCE free",
		"SEQUENCE parent_id_seq", "SEQUENCE child_id_seq", "VIEW over_parent", "VIEW over_child",
		"MATERIALIZED VIEW kept"} {
		name := r[strings.LastIndex(r, " ")+1:]
		exec(t, db, fmt.Sprintf("COMMENT ON %s IS '%s'", r, mark(name)))
	}
	exec(t, db, "CHECKPOINT")
	require.NoError(t, db.Close())
	return dir
}

// TestSalvageOfADamagedSchema loses the descriptor of one relation, each in turn. Everything else
// is there in full, and what referred to the relation is listed and gone.
func TestSalvageOfADamagedSchema(t *testing.T) {
	dir := manyRelations(t)
	full := map[string]string{ // what is there, with the relation that it goes with
		"SELECT count(*) FROM parent WHERE v = 'v' || id":                  "parent 500",
		"SELECT count(*) FROM child WHERE v = 'v' || p":                    "child 500",
		"SELECT count(*) FROM child WHERE v > 'v' AND v < 'w'":             "child 500",
		"SELECT count(*) FROM drawing WHERE m = 7 AND n BETWEEN 1 AND 200": "drawing 200",
		"SELECT count(*) FROM other.moved":                                 "other.moved 300",
		"SELECT count(*) FROM kept WHERE u > 'V' AND u < 'W'":              "kept 500",
	}
	for lost, listed := range map[string][]string{
		"parent": {"postgres.public.parent", "500 rows under storage ID",
			"postgres.public.child: foreign key child_p_fkey is left out",
			"postgres.public.over_parent: the view is lost",
			"postgres.public.over_view: the view is lost",
			"postgres.public.kept: the materialized view is a table now: it reads " +
				"postgres.public.over_view, which is lost",
			"postgres.public.parent_id_seq: no column owns the sequence any more"},
		"child": {"postgres.public.child", "500 rows under storage ID",
			"postgres.public.over_child: the view is lost"},
		"drawing":       {"postgres.public.drawing", "200 rows under storage ID"},
		"other.moved":   {"postgres.other.moved", "300 rows under storage ID"},
		"free":          {"postgres.public.drawing: the default of column n is left out"},
		"parent_id_seq": {"postgres.public.parent: the default of column id is left out"},
		"child_id_seq":  {"postgres.public.child: column id is no identity column any more"},
		"over_parent": {"postgres.public.over_view: the view is lost: it reads " +
			"postgres.public.over_parent"},
		"over_child": {"postgres.public.over_child"},
		"kept":       {"postgres.public.kept", "500 rows under storage ID"},
	} {
		t.Run(lost, func(t *testing.T) {
			dir := copied(t, dir)
			flipMark(t, dir, lost)
			db, lines := salvaged(t, dir)
			for _, part := range listed {
				require.Contains(t, strings.Join(lines, "\n"), part)
			}
			for query, want := range full {
				of, n, _ := strings.Cut(want, " ")
				if of == lost {
					_, err := db.Exec(context.Background(), query)
					require.ErrorContains(t, err, "does not exist")
					continue
				}
				require.Equal(t, n, fmt.Sprint(scalar[int64](t, db, query)), query)
			}
			if strings.Contains(strings.Join(lines, "\n"), "rows under storage ID") {
				// the name is free
				exec(t, db, fmt.Sprintf("CREATE TABLE %s(id int, v text)", lost))
			}
			exec(t, db, "CREATE TABLE new(id serial PRIMARY KEY); INSERT INTO new DEFAULT VALUES")
			exec(t, db, "DROP SCHEMA public, other CASCADE")
			problems, err := db.Check(context.Background())
			require.NoError(t, err)
			require.Empty(t, problems)
		})
	}
}
