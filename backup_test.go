package minidb_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/minidb/minidb"
	"github.com/stretchr/testify/require"
)

// TestBackupsOfAStoreInUse: a full backup and an incremental one of a store that is written to
// meanwhile, of an open handle. Restored, each shows what the store showed at its timestamp; what
// observers had to see then they see; views and sequences go on.
func TestBackupsOfAStoreInUse(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) *minidb.DB{
		"directory": func(t *testing.T) *minidb.DB {
			db, err := minidb.Open(filepath.Join(t.TempDir(), "data"), quiet)
			require.NoError(t, err)
			return db
		},
		"shared": func(t *testing.T) *minidb.DB { return joinStore(t) },
	} {
		t.Run(name, func(t *testing.T) { backupsOf(t, open(t)) })
	}
}

func backupsOf(t *testing.T, db *minidb.DB) {
	ctx := context.Background()
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	for _, q := range []string{
		"CREATE TABLE doc (id serial PRIMARY KEY, hash text UNIQUE, body text)",
		"CREATE INDEX ON doc (body, id)",
		"CREATE TABLE attached (loid oid PRIMARY KEY)",
		"CREATE MATERIALIZED VIEW lengths WITH (incremental) AS " +
			"SELECT length(body) AS len, count(*) AS n FROM doc GROUP BY length(body)",
		"INSERT INTO doc (hash, body) SELECT 'h' || g, repeat('text ', g) " +
			"FROM generate_series(1, 80) g",
		"CREATE TABLE gone (id int PRIMARY KEY, n int UNIQUE)",
		"INSERT INTO gone SELECT g, g FROM generate_series(1, 500) g",
		"CREATE TABLE emptied (id int PRIMARY KEY, n int UNIQUE)",
		"INSERT INTO emptied SELECT g, g FROM generate_series(1, 500) g",
		"CREATE ROLE writer",
	} {
		exec(t, db, q)
	}
	o := minidb.Observer{Name: "o", Table: "doc"}
	w := watch(t, db, o)
	exec(t, db, "UPDATE doc SET body = 'seen' WHERE id = 1")
	require.NoError(t, db.Settle(ctx, 0))
	w.stop()
	exec(t, db, "UPDATE doc SET body = 'pending' WHERE id = 2")

	place := filepath.Join(t.TempDir(), "backups")
	backUp := func() minidb.BackedUp {
		b, err := db.Backup(ctx, place, minidb.BackupOptions{
			Progress: func(string, int64, int64) {
				exec(t, db, "INSERT INTO doc (hash, body) VALUES (gen_random_uuid(), 'after')")
				exec(t, db, "UPDATE doc SET body = 'after' WHERE id = 4")
			}})
		require.NoError(t, err)
		return b
	}
	full := backUp()
	require.Empty(t, full.Base)
	for _, q := range []string{
		"DELETE FROM doc WHERE id = 3",
		"UPDATE doc SET body = 'pending too' WHERE id = 5",
		"DROP TABLE gone",
		"TRUNCATE emptied",
		"INSERT INTO emptied VALUES (1, 7)",
		"CREATE TABLE made (id int PRIMARY KEY, t text)",
		"INSERT INTO made SELECT g, repeat('row ', 50) FROM generate_series(1, 20000) g",
		"CREATE UNIQUE INDEX ON made (t, id)",
		"ALTER TABLE doc ADD COLUMN extra int DEFAULT 4",
	} {
		exec(t, db, q)
	}
	next := backUp()
	require.Equal(t, full.Name, next.Base)
	all, err := minidb.Backups(ctx, place)
	require.NoError(t, err)
	require.Equal(t, []minidb.BackupInfo{full.BackupInfo, next.BackupInfo}, all)
	exec(t, db, "DELETE FROM doc")

	for _, b := range []minidb.BackedUp{full, next} {
		dir := filepath.Join(t.TempDir(), "restored")
		_, err := minidb.Restore(ctx, place, dir, minidb.RestoreOptions{
			BackupChoice: minidb.BackupChoice{Timestamp: b.Timestamp}}, quiet)
		require.NoError(t, err)
		here, err := minidb.Open(dir, quiet)
		require.NoError(t, err)
		mustBeSound(t, here)
		require.Equal(t, copyState(t, db, b.Timestamp), copyState(t, here, b.Timestamp))
		require.Equal(t, copyState(t, db, full.Timestamp), copyState(t, here, full.Timestamp))
		watched := watch(t, here, o)
		if b.Name == full.Name {
			watched.settles("[2] (2,h2," + strings.Repeat("text ", 2) + ")>(2,h2,pending)")
			require.Equal(t, []string{"500"}, column(t, here, "SELECT count(*)::text FROM gone"))
		} else {
			require.NoError(t, here.Settle(ctx, 0))
			require.Equal(t, 1, watched.count("[5] "))
			require.Equal(t, []string{"7"}, column(t, here, "SELECT n::text FROM emptied"))
			require.Equal(t, []string{"20000"}, column(t, here,
				"SELECT count(*)::text FROM made WHERE t LIKE 'row%'"))
		}
		exec(t, here, "INSERT INTO doc (hash, body) VALUES ('n', 'n')") // the sequence goes on
		exec(t, here, "SET ROLE writer")
		require.NoError(t, here.Settle(ctx, 0))
		watched.stop()
		mustBeSound(t, here)
		require.NoError(t, here.Close())
	}
}

// column returns the texts of a query's only column.
func column(t *testing.T, db *minidb.DB, query string) (out []string) {
	t.Helper()
	rows, err := db.Query(context.Background(), query)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var text string
		require.NoError(t, rows.Scan(&text))
		out = append(out, text)
	}
	require.NoError(t, rows.Err())
	return out
}

// TestRestoreChooses the backup that was asked for, and says what there is otherwise.
func TestRestoreChooses(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	place, data := filepath.Join(dir, "backups"), filepath.Join(dir, "data")
	_, err := minidb.Backups(ctx, place)
	require.ErrorContains(t, err, "no such file")
	db, err := minidb.Open(data, quiet)
	require.NoError(t, err)
	exec(t, db, "CREATE TABLE t (id int)")
	_, err = minidb.Backup(ctx, data, place, minidb.BackupOptions{}, quiet)
	require.ErrorContains(t, err, "stop it first")
	require.NoError(t, db.Close())
	b, err := minidb.Backup(ctx, data, place, minidb.BackupOptions{}, quiet)
	require.NoError(t, err)
	restore := func(c minidb.BackupChoice) error {
		_, err := minidb.Restore(ctx, place, filepath.Join(dir, "new"),
			minidb.RestoreOptions{BackupChoice: c}, quiet)
		return err
	}
	require.ErrorContains(t, restore(minidb.BackupChoice{Name: "other"}), `no backup "other"`)
	require.ErrorContains(t, restore(minidb.BackupChoice{Time: b.At.Add(-time.Second)}),
		"the first is of "+b.At.UTC().Format(time.RFC3339Nano))
	require.NoDirExists(t, filepath.Join(dir, "new"))
	second, err := minidb.Open(filepath.Join(dir, "second"), quiet)
	require.NoError(t, err)
	_, err = second.Backup(ctx, place, minidb.BackupOptions{})
	require.NoError(t, err)
	require.NoError(t, second.Close())
	require.ErrorContains(t, restore(minidb.BackupChoice{}), "several databases")
	require.NoError(t, restore(minidb.BackupChoice{Name: b.Name}))
	require.ErrorContains(t, restore(minidb.BackupChoice{Name: b.Name}), "not empty")
	db, err = minidb.Open(filepath.Join(dir, "new"), minidb.Logger(slog.New(slog.DiscardHandler)))
	require.NoError(t, err)
	exec(t, db, "INSERT INTO t VALUES (1)")
	require.NoError(t, errors.Join(db.Close()))
}
