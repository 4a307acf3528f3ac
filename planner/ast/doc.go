// Package ast is minidb's statement tree: what sql/parse produces and the planner consumes.
//
// Nodes are data. They carry what the user wrote, with PostgreSQL's meaning, and the byte offset of
// each, so that every later error can point at it. Nothing here resolves a name or a type: that is
// the planner's bind phase. Identifiers are already folded (unquoted names are lower case); string
// literals are already unescaped.
//
// Files: node.go (what all nodes are), expr.go (expressions), query.go (SELECT and what it is made
// of), dml.go (INSERT, UPDATE, DELETE, COPY), ddl.go (schema), session.go (transactions, settings,
// prepared statements, cursors), inspect.go (a walk over expressions and queries).
package ast
