package sql

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql/pgcatalog"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
)

// conflictsKept is how many conflicts the log holds.
const conflictsKept = 256

// toSQL is the function toSQL with what the session adds: it puts the statements of a deadlock into
// the detail, and records conflicts in the log.
func (s *client) toSQL(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	out := toSQL(ctx, err)
	c := pgcatalog.Conflict{At: time.Now(), PID: s.pid, Statement: s.text, Role: s.identity.login}
	var (
		deadlock *rowlock.DeadlockError
		late     *rowlock.TimeoutError
		conflict *txn.WriteConflictError
		exists   *txn.AlreadyExistsError
		read     *txn.ReadConflictError
		pair     *txn.SerializationError
		stale    *txn.StaleError
		se       *sqlerr.Error
	)
	switch {
	case errors.As(err, &deadlock):
		c.Kind, c.Key = "deadlock", deadlock.Cycle[0].Key
		c.Detail, c.Sent = s.waitDetails(ctx, deadlock.Cycle...)
		if errors.As(out, &se) {
			out = se.WithDetail("%s", c.Sent).WithHint("See minidb_conflicts for the last " +
				"deadlocks.")
		}
	case errors.As(err, &conflict) && conflict.Deleted:
		c.Kind, c.Key = "delete", conflict.Key
	case errors.As(err, &conflict):
		c.Kind, c.Key = "update", conflict.Key
	case errors.As(err, &stale):
		c.Kind, c.Key = "update", stale.Key
	case errors.As(err, &exists):
		c.Kind, c.Key = "insert", exists.Key
	case errors.As(err, &read):
		c.Kind, c.Key = "read", read.Key
	case errors.As(err, &pair):
		c.Kind, c.Key, c.Detail, c.Sent = "read", pair.Key, pair.Reason, pair.Reason
	case errors.As(err, &late):
		c.Kind, c.Key = "lock timeout", late.Wait.Key
		c.Detail, c.Sent = s.waitDetails(ctx, late.Wait)
	default:
		return out
	}
	if _, ok := advisoryOf(c.Key); ok {
		c.Key = nil // the detail names it
	}
	s.engine.conflicts.add(c)
	return out
}

// waitDetails is waitDetail with the statements of all sessions, and as it is sent to the client:
// without those of roles that the session has not the privileges of.
func (s *client) waitDetails(ctx context.Context, waits ...rowlock.Wait) (all, sent string) {
	roles := map[int64]acl.RoleID{}
	for _, a := range s.engine.Activities() {
		roles[int64(a.PID)] = a.Role
	}
	all = s.engine.waitDetail(ctx, func(int64, bool) bool { return true }, waits...)
	sent = s.engine.waitDetail(ctx, func(process int64, elsewhere bool) bool {
		a := s.identity.authority
		switch {
		case a != nil && a.Has(acl.ReadAllStats):
			return true
		case elsewhere:
			return false
		case process == int64(s.pid):
			return true
		}
		role, known := roles[process]
		return a != nil && known && a.Has(role)
	}, waits...)
	return all, sent
}

// waitDetail describes waits, which may form a deadlock cycle, in PostgreSQL's words. It adds the
// statements of those among them that are shown, which PostgreSQL writes to its log only.
func (e *Engine) waitDetail(ctx context.Context, shown func(process int64, elsewhere bool) bool,
	waits ...rowlock.Wait) string {
	statements := map[int64]string{}
	for _, a := range e.Activities() {
		statements[int64(a.PID)] = a.Query
	}
	var b strings.Builder
	line := func(process int64, elsewhere bool, text string) {
		if !shown(process, elsewhere) {
			return
		}
		if text == "" && !elsewhere {
			text = statements[process]
		}
		fmt.Fprintf(&b, "Process %d%s: %s\n", process, serverSuffix(elsewhere), text)
	}
	for _, w := range waits {
		fmt.Fprintf(&b, "Process %d%s waits for %s; blocked by process %d%s.\n",
			w.Owner, serverSuffix(w.Elsewhere), e.waitWords(ctx, &w), w.Blocker,
			serverSuffix(w.BlockerElsewhere))
	}
	for _, w := range waits {
		line(w.Owner, w.Elsewhere, w.Statement)
	}
	if last := waits[len(waits)-1]; last.Blocker != waits[0].Owner ||
		last.BlockerElsewhere != waits[0].Elsewhere {
		line(last.Blocker, last.BlockerElsewhere, last.BlockerStatement)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// serverSuffix follows the number of a process that belongs to another server.
func serverSuffix(elsewhere bool) string {
	if elsewhere {
		return " of another server"
	}
	return ""
}

func (e *Engine) waitWords(ctx context.Context, w *rowlock.Wait) string {
	if a, ok := advisoryOf(w.Key); ok {
		return fmt.Sprintf("%s on advisory lock [%d,%d,%d,%d]", namedMode(w.Mode), a.database,
			a.class, a.object, a.sub)
	}
	if id, ok := rowlock.DecodeRelationKey(w.Key); ok {
		return fmt.Sprintf("%s on relation %d", namedMode(w.Mode), id)
	}
	if k, ok := table.DecodeKey(w.Key); ok && w.BlockerTransaction == 0 {
		return fmt.Sprintf("%s on tuple of relation %d", tupleMode(w.Mode),
			e.tableOf(ctx, k.Storage))
	}
	return fmt.Sprintf("ShareLock on transaction %d", w.BlockerTransaction)
}

// tableOf returns the table whose rows have a storage ID, zero if there is none any more.
func (e *Engine) tableOf(ctx context.Context, id table.StorageID) table.ID {
	// The context may have ended: that may be the error to describe.
	ctx = context.WithoutCancel(ctx)
	tx, err := e.store.Begin(ctx, beginReadOnly)
	if err != nil {
		return 0
	}
	defer func() { _ = tx.Rollback(ctx) }()
	d, err := e.catalog.View(tx).RelationByStorage(ctx, id)
	if err != nil || d == nil {
		return 0
	}
	return d.ID
}

// NameConflict adds the row that was in conflict to an error with code 40001. It is for errors that
// are sent to the client: it reads the schema, which would delay a statement that is run again.
func (s *Session) NameConflict(ctx context.Context, err error) error {
	var e *sqlerr.Error
	var c *conflict
	if !errors.As(err, &e) || e.Code != sqlerr.SerializationFailure || e.Detail != "" ||
		!errors.As(err, &c) {
		return err
	}
	k, ok := table.DecodeKey(c.key)
	if !ok {
		if bytes.HasPrefix(c.key, []byte{table.PrefixCatalog}) {
			e.Detail = "The schema was changed by a transaction that committed first."
		}
		return err
	}
	tx, terr := s.engine.store.Begin(ctx, beginReadOnly)
	if terr != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	view := s.engine.catalog.View(tx)
	d, terr := view.RelationByStorage(ctx, k.Storage)
	if terr != nil || d == nil {
		return err
	}
	a, terr := s.authorityIn(ctx, view)
	if terr != nil || !d.Open(a) { // the key may be of a row that the role does not see
		return err
	}
	name := d.Name
	if ix := d.Index(k.Index); ix != nil && k.Index != table.RowIndexID {
		name = ix.Name
	}
	e.Schema, e.Table = d.Schema, d.Name
	e.Detail = fmt.Sprintf("Key %s of \"%s\" was written by a transaction that committed first.",
		table.DescribeKey(d, k), name)
	var locked *txn.LockedError
	if errors.As(c.cause, &locked) {
		e.Detail = fmt.Sprintf("Key %s of \"%s\" is locked by a transaction (%s).",
			table.DescribeKey(d, k), name, locked.Lock.Holder())
	}
	return err
}
