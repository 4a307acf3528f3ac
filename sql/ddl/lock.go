package ddl

import (
	"context"
	"errors"

	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn/rowlock"
)

// ErrLockedAnew ends an attempt at a schema change that has got a new lock: the change is undone
// and begins again on a snapshot that shows what the lock protects.
var ErrLockedAnew = errors.New("a table was locked")

// gathered says how locks are taken by [together].
type gathered struct {
	on     bool
	anew   bool  // some lock is new
	failed error // the lock that could not be had
}

// take locks a relation, or what is locked for a type, until the transaction's end.
func (env *Env) take(ctx context.Context, id table.ID, mode rowlock.Mode) error {
	if env.Lock == nil {
		return nil
	}
	err := env.Lock(ctx, id, mode)
	switch {
	case !env.gathered.on || err == nil:
	case errors.Is(err, ErrLockedAnew):
		env.gathered.anew = true
		return nil
	default:
		env.gathered.failed = err
	}
	return err
}

// together runs a statement to its end, or to a call of [Env.lockedAnew], though it gets new locks:
// it begins again once for all of them, and not once for each. Requires: what f does up to there is
// nothing but reading and changing the catalog.
func together[S ast.Statement](ctx context.Context, env *Env, f func(context.Context, S) error,
	stmt S) error {
	env.gathered.on = true
	err := f(ctx, stmt)
	env.gathered.on = false
	if env.gathered.anew && env.gathered.failed == nil && ctx.Err() == nil {
		return ErrLockedAnew // err may come from what the snapshot does not show
	}
	return err
}

// lockedAnew returns ErrLockedAnew if a lock is new.
func (env *Env) lockedAnew() error {
	if env.gathered.anew {
		return ErrLockedAnew
	}
	return nil
}
