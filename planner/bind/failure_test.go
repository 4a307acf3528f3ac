package bind_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/bind"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/sql/parse"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// catalog answers every name by its function.
type catalog func() (*table.Desc, error)

func (c catalog) Relation(context.Context, ast.Name) (*table.Desc, error)     { return c() }
func (c catalog) RelationByID(context.Context, table.ID) (*table.Desc, error) { return c() }

func (c catalog) Type(context.Context, ast.Name) (*types.Type, error) {
	_, err := c()
	return nil, err
}

func (catalog) TypeByOID(_ context.Context, oid types.OID) (*types.Type, error) {
	t, _ := types.ByOID(oid)
	return t, nil
}

func bindSelect(t *testing.T, c catalog) error {
	t.Helper()
	p, err := parse.ParseOne(t.Context(), "SELECT (SELECT a FROM (SELECT 1 AS a FROM t) s)")
	require.NoError(t, err)
	_, err = bind.Statement(t.Context(), &opt.Env{Catalog: c}, p.Stmt, nil)
	return err
}

// An error from below comes out of the binder as it went in.
func TestErrorsOfTheCatalogPassThroughTheBinder(t *testing.T) {
	lost := errors.New("the disk is gone")
	err := bindSelect(t, func() (*table.Desc, error) { return nil, lost })
	require.Same(t, lost, err)
}

// A defect is not taken for an error of the statement.
func TestTheBinderCatchesNoForeignPanic(t *testing.T) {
	defect := errors.New("a defect")
	require.PanicsWithValue(t, defect, func() {
		_ = bindSelect(t, func() (*table.Desc, error) { panic(defect) })
	})
}
