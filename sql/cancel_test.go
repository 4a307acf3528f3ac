package sql_test

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/sql/copyfmt"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
)

// cancelRows is how many rows the tables have whose statements are cancelled, and keysPerLook how
// many keys a statement may still read or write when its context has ended.
const (
	cancelRows  = 6000
	keysPerLook = 4096
)

// cancelTables: t and p have rows, all those of dead are deleted.
const cancelTables = `
CREATE TABLE p (id int PRIMARY KEY, v text);
INSERT INTO p SELECT g, 'v' || g FROM generate_series(1, 6000) g;
CREATE TABLE t (id int PRIMARY KEY, a int, v text);
INSERT INTO t SELECT g, g, 'v' || g FROM generate_series(1, 6000) g;
CREATE TABLE dead (id int PRIMARY KEY, a int);
INSERT INTO dead SELECT g, g FROM generate_series(1, 6000) g;
CREATE INDEX p_v ON p (v);
CREATE VIEW w AS SELECT * FROM p`

// cancelled are statements of every kind that walks over many rows, and what undoes them. Each runs
// in a transaction of its own.
var cancelled = []struct{ text, undo string }{
	{"SELECT count(*) FROM t", ""},
	{"SELECT max(a) FROM dead", ""},
	{"SELECT a FROM dead ORDER BY id DESC LIMIT 1", ""},
	{"SELECT count(*) FROM t JOIN p ON p.id = t.a", ""},
	{"ANALYZE t", ""},
	{"ANALYZE dead", ""},
	{"CREATE INDEX i ON t (a)", "DROP INDEX i"},
	{"CREATE UNIQUE INDEX i ON t (a)", "DROP INDEX i"},
	{"CREATE INDEX i ON dead (a)", "DROP INDEX i"},
	{"ALTER TABLE t ADD UNIQUE (a)", "ALTER TABLE t DROP CONSTRAINT t_a_key"},
	{"ALTER TABLE t ALTER a TYPE bigint USING -a", "ALTER TABLE t ALTER a TYPE int USING -a"},
	{"ALTER TABLE t ADD n int DEFAULT random() * 10", "ALTER TABLE t DROP n"},
	{"ALTER TABLE t ADD n int GENERATED ALWAYS AS (a + 1) STORED", "ALTER TABLE t DROP n"},
	{"ALTER TABLE t ALTER a SET NOT NULL", "ALTER TABLE t ALTER a DROP NOT NULL"},
	{"ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0)", "ALTER TABLE t DROP CONSTRAINT c"},
	{"ALTER TABLE t ADD CONSTRAINT c FOREIGN KEY (a) REFERENCES p",
		"ALTER TABLE t DROP CONSTRAINT c"},
	{"CREATE TABLE n AS SELECT * FROM t", "DROP TABLE n"},
	{"SELECT * INTO n FROM t", "DROP TABLE n"},
	{"CREATE TABLE n AS SELECT * FROM dead", "DROP TABLE n"},
	{"REINDEX INDEX p_v", ""},
	{"INSERT INTO dead SELECT id, a FROM t", "DELETE FROM dead"},
	{"INSERT INTO t SELECT id, a, v FROM t ON CONFLICT DO NOTHING", ""},
	{"UPDATE t SET v = 'w'", ""},
	{"DELETE FROM t", "INSERT INTO t SELECT g, g, 'v' || g FROM generate_series(1, 6000) g"},
	{"COPY t TO STDOUT", ""},
	{"COPY (SELECT * FROM w ORDER BY v) TO STDOUT", ""},
	{"COPY dead FROM STDIN", "DELETE FROM dead"},
	{"DECLARE c CURSOR WITH HOLD FOR SELECT * FROM t", "CLOSE c"},
	{"SELECT * FROM t FOR UPDATE", ""},
	{"VACUUM ANALYZE t", ""},
	{"VACUUM FULL t", ""},
	{"VACUUM", ""},
}

// lines is a client that sends rows in one large piece and takes what is sent to it.
type lines struct {
	*transcript
	sent bool
}

func (l *lines) CopyIn(int, bool) (copyfmt.Source, error) { return l, nil }

func (l *lines) Next() ([]byte, error) {
	if l.sent {
		return nil, io.EOF
	}
	l.sent = true
	var b []byte
	for i := range cancelRows {
		b = fmt.Appendf(b, "%d\t%d\n", i, i)
	}
	return b, nil
}

func (l *lines) CopyData([]byte) error { return nil }

// TestEveryStatementEndsWithinBoundedWork: whenever a statement of any kind is cancelled, it ends
// before it has read or written more than a bounded number of keys.
func TestEveryStatementEndsWithinBoundedWork(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine at a time: the race detector, which runs short tests, sees nothing")
	}
	for name, opts := range map[string]txn.Options{"in memory": {BatchKeys: 512},
		"streamed": {StreamBytes: 64 << 10}} {
		t.Run(name, func(t *testing.T) {
			meter := kvtest.NewMeter(memkv.New(memkv.Options{}))
			t.Cleanup(func() { require.NoError(t, meter.Close()) })
			e, store := openEngine(t, meter, opts,
				sql.Options{Compact: func(context.Context) error { return nil }})
			s := newSession(t, e)
			mustQuery(t, s, cancelTables)
			// in a transaction of its own: the rows stay until VACUUM
			mustQuery(t, s, "DELETE FROM dead")
			for _, c := range cancelled {
				endsWithinBoundedWork(t, meter, e, s, c.text, c.undo)
			}
			require.NoError(t,
				catalog.Check(t.Context(), store, func(p catalog.Problem) { t.Error(p) }))
		})
	}
}

// endsWithinBoundedWork cancels a statement at every so many keys, until it succeeds.
func endsWithinBoundedWork(t *testing.T, meter *kvtest.Meter, e *sql.Engine, s *sql.Session, text,
	undo string) {
	cancels := 0
	for at := int64(100); ; at *= 4 {
		ctx := meter.Watch(t.Context(), at, func() { e.Cancel(s.PID(), s.Secret()) })
		err := s.Query(ctx, text, &lines{transcript: &transcript{s: s}})
		assert.LessOrEqual(t, meter.After(), int64(keysPerLook), "%s, cancelled at key %d", text,
			at)
		if err == nil {
			break
		}
		cancels++
		require.Equal(t, sqlerr.QueryCanceled, codeOf(err), "%s: %v", text, err)
	}
	assert.GreaterOrEqual(t, cancels, 2, text)
	if undo != "" {
		mustQuery(t, s, undo)
	}
}
