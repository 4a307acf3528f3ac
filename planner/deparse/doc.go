// Package deparse prints expressions and queries that the catalog keeps back as PostgreSQL 15
// prints them: pg_get_expr, pg_get_constraintdef, pg_get_viewdef and what shows the same texts.
//
//	text ─ parse ─▶ ast ─ bind (Notes) ─▶ resolver ─▶ tree of this package ─▶ printer ─▶ text
//
// PostgreSQL prints what its parser made of a statement: names resolved and qualified, stars
// written out, the types of constants shown, and the coercions that the types of operands ask for.
// The binder of this module goes further than that (BETWEEN is two comparisons there too, but a
// query is a plan), so its result cannot be printed. It leaves notes instead: the type of each
// expression, and what each name means. The resolver builds from the statement's tree and the notes
// a tree with the nodes of PostgreSQL's (node.go), adding coercions by PostgreSQL's rules
// (coerce.go); the printer writes that tree with PostgreSQL's rules for parentheses and line
// breaks.
//
// The same way serves ALTER … RENAME: a stored text is resolved as the catalog was before the
// change, and printed with the names that Options give.
//
// Invariant: what is printed parses and binds to what it was made of; printing it again gives the
// same text. A test holds this for every query of the sqllogic scripts.
package deparse
