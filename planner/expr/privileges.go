package expr

import "github.com/minidb/minidb/table/types"

// Privileges is an optional interface of a Session: what its roles are allowed.
type Privileges interface {
	// HasPrivilege reports whether a role has privileges on an object; found is false when there is
	// no such object. 42704 and the like are for what is given by a name, and 22023 for a privilege
	// that there is not.
	HasPrivilege(q PrivilegeQuestion) (has, found bool, err error)
	// RowSecurityActive reports whether policies of a table bind the current role; found is false
	// when there is no such table.
	RowSecurityActive(table types.OID) (active, found bool, err error)
	// MakeAccessItem makes an item of one privilege.
	MakeAccessItem(grantee, grantor types.OID, privilege string, option bool) (string, error)
	// ExplodeAccess returns the single privileges of an item: their names, and whether the grantee
	// may grant them.
	ExplodeAccess(item string) (grantor, grantee types.OID, names []string, options []bool,
		err error)
}

// PrivilegeQuestion asks for privileges on an object. What has a name is found by it, else by the
// number; a nil Role is the current one.
type PrivilegeQuestion struct {
	Kind       string // "table", "any_column", "column", "schema", "database", "role", …
	Role       *NameOrOID
	Object     NameOrOID
	Column     NameOrOID // by its number in OID; of kind "column"
	Privileges string    // separated by commas
}

// NameOrOID is a name or, when Named is false, a number.
type NameOrOID struct {
	Named bool
	Name  string
	OID   int64
}
