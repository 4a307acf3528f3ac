package ast

// CreatePolicy is CREATE POLICY.
type CreatePolicy struct {
	Pos         Pos
	Name        Ident
	Table       Name
	Restrictive bool
	Command     string     // "select", "insert", "update", "delete"; "": all
	Roles       []RoleSpec // nil: PUBLIC
	Using       Expr
	Check       Expr
}

// AlterPolicy is ALTER POLICY: what is nil stays as it is.
type AlterPolicy struct {
	Pos   Pos
	Name  Ident
	Table Name
	Roles []RoleSpec
	Using Expr
	Check Expr
}

// RenamePolicy is ALTER POLICY … RENAME TO.
type RenamePolicy struct {
	Pos      Pos
	Name     Ident
	Table    Name
	IfExists bool
	NewName  Ident
}

// DropPolicy is DROP POLICY.
type DropPolicy struct {
	Pos      Pos
	Name     Ident
	Table    Name
	IfExists bool
}

func (*CreatePolicy) statement() {}
func (*AlterPolicy) statement()  {}
func (*RenamePolicy) statement() {}
func (*DropPolicy) statement()   {}
