package sql

import (
	"context"
	"errors"

	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
)

// copied is a COPY FROM whose transaction is about to be committed; nil is any other statement.
//
// Outside of a block COPY locks no rows, since a lock for each row would double the cost of a load.
// So its commit may find that another transaction has taken a key meanwhile. COPY cannot run again,
// because its client sends the data once. But it has done nothing but insert rows, so in READ
// COMMITTED the conflict is what PostgreSQL finds when it inserts the row: a duplicate key.
type copied struct{ e *Engine }

// copiedInto returns what conflict needs to know, before the commit ends the transaction.
func (s *transactor) copiedInto(stmt ast.Statement) *copied {
	if c, ok := stmt.(*ast.Copy); ok && c.From && s.tx.optimistic && s.tx.perStatement() {
		return &copied{e: s.engine}
	}
	return nil
}

// conflict returns the error of a commit as the client is to see it.
func (c *copied) conflict(ctx context.Context, err error) error {
	var exists *txn.AlreadyExistsError
	var write *txn.WriteConflictError
	var key []byte
	switch {
	case c == nil || errors.Is(err, txn.ErrAmbiguous):
		return err
	case errors.As(err, &exists):
		key = exists.Key
	case errors.As(err, &write) && !write.Deleted:
		key = write.Key
	}
	k, ok := table.DecodeKey(key)
	if !ok {
		return err
	}
	taken := err
	cerr := c.e.inCatalog(ctx, func(v *catalog.View) error {
		d, derr := v.RelationByStorage(ctx, k.Storage)
		if derr == nil && d != nil {
			if e := table.TakenKey(d, k); e != nil {
				taken = e
			}
		}
		return derr
	})
	if cerr != nil {
		return err
	}
	return taken
}
