package table

import "github.com/minidb/minidb/table/acl"

// OwnedBy returns the role that owns the relation.
func (d *Desc) OwnedBy() acl.RoleID {
	return d.Owner.Or(acl.Postgres)
}

// Secured reports whether row level security binds the current role of a: whether policies, or
// their lack, may hide rows of the table from it.
func (d *Desc) Secured(a *acl.Authority) bool {
	if r := a.Roles.ByID(a.Current); !d.RowSecurity || r != nil && (r.Superuser || r.BypassRLS) {
		return false
	}
	return d.ForceRowSecurity || !a.Has(d.OwnedBy())
}

// Readable reports whether the current role of a may read a column, by a privilege on the relation
// or on the column.
func (d *Desc) Readable(a *acl.Authority, c *Column) bool {
	return a.Granted(d.Class(), d.OwnedBy(), d.ACL, acl.Select) != 0 ||
		c.ACL != nil && a.Granted(acl.Column, d.OwnedBy(), c.ACL, acl.Select) != 0
}

// Open reports whether the current role of a may read all columns of all rows.
func (d *Desc) Open(a *acl.Authority) bool {
	if d.Secured(a) {
		return false
	}
	for i := range d.Columns {
		if c := &d.Columns[i]; !c.Hidden && !d.Readable(a, c) {
			return false
		}
	}
	return true
}

// Class returns the class of the relation's privileges.
func (d *Desc) Class() acl.Class {
	if d.Kind == KindSequence {
		return acl.Sequence
	}
	return acl.Relation
}
