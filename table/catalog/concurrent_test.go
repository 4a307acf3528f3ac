package catalog

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
)

// A schema is not made in a database that another transaction drops, whichever commits first: a
// session that enters the database just before it is dropped would leave a schema that belongs to
// nothing.
func TestNoSchemaIsMadeInADroppedDatabase(t *testing.T) {
	for _, dropFirst := range []bool{true, false} {
		f := memory(t)
		var db Database
		f.must(func(_ *txn.Txn, v *View) (err error) {
			db, err = v.CreateDatabase(f.ctx, Database{Name: "d"})
			return err
		})
		drop, create := f.begin(), f.begin()
		dv, cv := f.cat.View(drop), f.cat.View(create)
		require.NoError(t, dv.DropDatabase(f.ctx, db))
		_, err := cv.CreateSchema(f.ctx, Schema{Database: db.ID, Name: "x"})
		require.NoError(t, err)
		commitDrop := func() error {
			return dv.Commit(f.ctx, true,
				func() error { return drop.Commit(f.ctx) })
		}
		commitCreate := func() error {
			return cv.Commit(f.ctx, true,
				func() error { return create.Commit(f.ctx) })
		}
		first, second := commitCreate, commitDrop
		if dropFirst {
			first, second = commitDrop, commitCreate
		}
		require.NoError(t, first())
		var conflict *txn.WriteConflictError
		require.ErrorAs(t, second(), &conflict)
		require.NoError(t, drop.Rollback(f.ctx))
		require.NoError(t, create.Rollback(f.ctx))
		if !dropFirst {
			continue
		}
		late := f.begin()
		_, err = f.cat.View(late).CreateSchema(f.ctx, Schema{Database: db.ID, Name: "y"})
		var gone *sqlerr.Error
		require.ErrorAs(t, err, &gone)
		require.Equal(t, sqlerr.InvalidCatalogName, gone.Code)
		require.NoError(t, late.Rollback(f.ctx))
	}
}

// A transaction that streams its version out, and began before another change of the schema was
// committed, leaves a version above that one's: caches keep the newest version only.
func TestAStreamedVersionIsAboveThoseBefore(t *testing.T) {
	f := newFixture(t, memkv.New(memkv.Options{}), txn.Options{StreamBytes: 1 << 10})
	version := func() (n uint64) {
		f.must(func(_ *txn.Txn, v *View) (err error) {
			n, _, err = v.Version(f.ctx)
			return err
		})
		return n
	}
	early := f.begin()
	f.must(func(_ *txn.Txn, v *View) error {
		_, err := v.CreateSchema(f.ctx, Schema{Database: PostgresID, Name: "between"})
		return err
	})
	before := version()
	require.NoError(t, early.Advance(f.ctx))
	v := f.cat.View(early)
	for i := range 50 {
		_, err := v.CreateSchema(f.ctx, Schema{Database: PostgresID, Name: fmt.Sprintf("s%d", i)})
		require.NoError(t, err)
	}
	require.False(t, early.Buffered(versionKey), "it is streamed out")
	require.NoError(t, v.Commit(f.ctx, true, func() error { return early.Commit(f.ctx) }))
	require.Greater(t, version(), before)
	require.NoError(t, early.Rollback(f.ctx))
}
