package pgcatalog

import (
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
)

// concealed stands for a statement of a role whose statements the session may not see.
const concealed = "<insufficient privilege>"

// authority is what the session is allowed; nil after an error.
func (r *reader) authority() *acl.Authority {
	a, err := r.env.Authority(r.ctx)
	if r.fail(err); err != nil {
		return nil
	}
	return a
}

// sees reports whether the session may see what the sessions of a role do.
func sees(a *acl.Authority, role acl.RoleID) bool {
	return a.Has(role) || a.Has(acl.ReadAllStats)
}

// present is the descriptor by which rights on a relation are judged; nil after an error.
func (r *reader) present(d *table.Desc) *table.Desc {
	now, err := r.env.Present(r.ctx, d)
	if r.fail(err); err != nil {
		return nil
	}
	return now
}

// opens reports whether the session may read all of a table, and so the keys of its rows.
func (r *reader) opens(d *table.Desc) bool {
	a, now := r.authority(), r.present(d)
	return a != nil && now != nil && now.Open(a)
}
