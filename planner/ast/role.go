package ast

// RoleSpec names a role, or stands for one of the session: Keyword is "" or "current_user",
// "current_role", "session_user", "public".
type RoleSpec struct {
	Pos     Pos
	Keyword string
	Name    string // without Keyword
}

// RoleOption is an option of CREATE ROLE or ALTER ROLE.
type RoleOption struct {
	Pos Pos
	// Name is "superuser", "inherit", "createrole", "createdb", "login", "replication",
	// "bypassrls", "connection limit", "password", "valid until", "sysid", "in role", "role" or
	// "admin".
	Name  string
	On    bool   // of those that are on or off
	Text  string // of a password and a time
	Null  bool   // PASSWORD NULL
	Limit int64
	Roles []RoleSpec
}

// CreateRole is CREATE ROLE, CREATE USER and CREATE GROUP.
type CreateRole struct {
	Pos     Pos
	Kind    string // "role", "user" or "group"
	Role    RoleSpec
	Options []RoleOption
}

// AlterRole is ALTER ROLE with options, and ALTER GROUP … ADD or DROP USER.
type AlterRole struct {
	Pos     Pos
	Role    RoleSpec
	Options []RoleOption
	// Members are to be added to the group, or with Drop taken from it; nil: not ALTER GROUP.
	Members []RoleSpec
	Drop    bool
}

// RenameRole is ALTER ROLE name RENAME TO name.
type RenameRole struct {
	Pos     Pos
	Role    RoleSpec
	NewName RoleSpec
}

// AlterRoleSettings is ALTER ROLE … [IN DATABASE name] SET and RESET.
type AlterRoleSettings struct {
	Pos      Pos
	Role     *RoleSpec // nil: ALL
	Database string    // "": in every database
	Set      *Set      // nil: RESET ALL
	Current  bool      // SET name FROM CURRENT
}

// DropRole is DROP ROLE, DROP USER and DROP GROUP.
type DropRole struct {
	Pos      Pos
	Roles    []RoleSpec
	IfExists bool
}

// GrantRole is GRANT role TO role, and with Revoke REVOKE role FROM role.
type GrantRole struct {
	Pos     Pos
	Revoke  bool
	Roles   []Ident
	Members []RoleSpec
	Admin   bool // WITH ADMIN OPTION, ADMIN OPTION FOR
	By      *RoleSpec
	Cascade bool
}

// GrantedPrivilege is a privilege of GRANT and REVOKE, on the whole object or some columns. An
// empty name is ALL.
type GrantedPrivilege struct {
	Pos     Pos
	Name    string // in lower case
	Columns []Ident
}

// Grant is GRANT, and with Revoke REVOKE, of privileges on objects.
type Grant struct {
	Pos        Pos
	Revoke     bool
	Privileges []GrantedPrivilege
	// Kind is of the objects: "table" (also a view, a sequence), "sequence", "database", "schema",
	// "type", "domain", …; with InSchemas "tables" or "sequences" of them.
	Kind      string
	KindPos   Pos
	InSchemas bool // Names are schemas
	Names     []Name
	Routines  []Routine // in place of Names where Kind is "function", "procedure" or "routine"
	Roles     []RoleSpec
	Option    bool // WITH GRANT OPTION, GRANT OPTION FOR
	By        *RoleSpec
	Cascade   bool
}

// Routine names a function, procedure or aggregate. Without Given its arguments are not written.
type Routine struct {
	Name  Name
	Args  []TypeName
	Given bool
}

// AlterDefaultPrivileges is ALTER DEFAULT PRIVILEGES.
type AlterDefaultPrivileges struct {
	Pos     Pos
	Roles   []RoleSpec // nil: the current role
	Schemas []Ident    // nil: in all
	Grant   Grant      // Kind is "tables", "sequences", "types", "schemas" or "functions"
}

// ReassignOwned is REASSIGN OWNED BY roles TO role.
type ReassignOwned struct {
	Pos   Pos
	Roles []RoleSpec
	To    RoleSpec
}

// DropOwned is DROP OWNED BY roles.
type DropOwned struct {
	Pos     Pos
	Roles   []RoleSpec
	Cascade bool
}

// AlterOwner is ALTER DATABASE, SCHEMA or LARGE OBJECT name OWNER TO role. The name of a large
// object is its number.
type AlterOwner struct {
	Pos   Pos
	Kind  ObjectKind
	Name  Name
	Owner RoleSpec
}

func (*CreateRole) statement()             {}
func (*AlterRole) statement()              {}
func (*RenameRole) statement()             {}
func (*AlterRoleSettings) statement()      {}
func (*DropRole) statement()               {}
func (*GrantRole) statement()              {}
func (*Grant) statement()                  {}
func (*AlterDefaultPrivileges) statement() {}
func (*ReassignOwned) statement()          {}
func (*DropOwned) statement()              {}
func (*AlterOwner) statement()             {}
