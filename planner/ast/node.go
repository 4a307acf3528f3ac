package ast

// Pos is a byte offset into the statement's text, counted from 1; 0 means that it is not known.
type Pos int32

// Statement is any node that a client can send as a whole.
type Statement interface{ statement() }

// Expr is any scalar expression.
type Expr interface {
	// At returns the position for error messages: as in PostgreSQL, that of the operator of a
	// binary expression, and of the first character of any other.
	At() Pos
	expr()
}

// Name is a possibly qualified name of a relation, type, function or sequence: database and schema
// are empty where the user left them out.
type Name struct {
	Pos      Pos
	Database string
	Schema   string
	Name     string
}

// Ident is an identifier and its position.
type Ident struct {
	Pos  Pos
	Name string
}

// TypeName is a type as written: `numeric(10,2)[]`, `timestamp(3) with time zone`, `serial`.
// Aliases are already mapped to PostgreSQL's internal names (int → int4, character varying →
// varchar, char → bpchar, decimal → numeric, float(n) → float4/float8, timestamp with time zone →
// timestamptz); `serial` and its like stay as they are and only CREATE/ALTER TABLE take them.
type TypeName struct {
	Pos       Pos
	Schema    string
	Name      string
	Mods      []int  // precision, scale, length
	ArrayDims int    // 0: not an array
	Fields    string // interval's field restriction ("day to second"), or ""
}
