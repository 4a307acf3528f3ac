package sql

import (
	"context"
	"errors"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
)

// conceal takes the values out of an error's detail that the current role may not read, as
// PostgreSQL does: all of a table whose policies bind the role; else those of columns that it may
// not read and that the statement, whose needs are given, did not write.
func (s *transactor) conceal(ctx context.Context, needs []*opt.Need, err error) error {
	var shown *table.Disclosure
	e, ok := err.(*sqlerr.Error)
	if !ok || !errors.As(err, &shown) || s.tx.view == nil {
		return err
	}
	open, hidden := *e, *e
	open.Cause, hidden.Cause, hidden.Detail = nil, nil, shown.Otherwise
	a, failed := s.authority(ctx)
	if failed != nil {
		return &hidden
	}
	d, failed := s.presentTable(ctx, shown.Desc)
	if failed != nil {
		return &hidden
	}
	if r, failed := s.policiesFor(a, d, true); failed != nil || r != nil && r.Bound {
		return &hidden
	}
	if a.Granted(d.Class(), d.OwnedBy(), d.ACL, acl.Select) != 0 {
		return &open
	}
	if shown.Row == nil {
		if mayColumns(a, d, acl.Select, shown.Key) {
			return &open
		}
		return &hidden
	}
	text, any := shown.FormatColumns(func(c *table.Column) bool {
		return mayColumns(a, d, acl.Select, []table.ColumnID{c.ID}) ||
			slices.ContainsFunc(needs, func(n *opt.Need) bool {
				return n.Relation == d.ID && (slices.Contains(n.Inserted, c.ID) ||
					slices.Contains(n.Updated, c.ID))
			})
	})
	if any {
		hidden.Detail = "Failing row contains " + text + "."
	}
	return &hidden
}

// printed prints the row of an error's detail by the settings of the session, and objects in it by
// their names. Below the session they are numbers.
func (s *planRunner) printed(ctx context.Context, err error) error {
	var shown *table.Disclosure
	e, ok := err.(*sqlerr.Error)
	if !ok || !errors.As(err, &shown) || shown.Row == nil || s.tx.view == nil {
		return err
	}
	next := *e
	next.Cause, next.Detail = shown.PrintedBy(&s.runtime(ctx).Format)
	return &next
}
