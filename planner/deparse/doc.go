// Package deparse prints the expressions and queries of the catalog as PostgreSQL 15 prints them:
// in pg_get_expr, pg_get_constraintdef, pg_get_viewdef and everything that shows the same texts.
//
//	text ─ parse ─▶ ast ─ bind (Notes) ─▶ resolver ─▶ tree of this package ─▶ printer ─▶ text
//
// PostgreSQL prints the result of its parse analysis: names are resolved and qualified, stars
// expanded, the types of constants shown, and coercions added where operands need them. minidb's
// binder transforms a statement further, a query into a plan, so its result cannot be printed. It
// takes notes instead: the type of each expression, and what each name refers to. From the
// statement's tree and the notes the resolver builds a tree with PostgreSQL's nodes (node.go), and
// adds coercions by PostgreSQL's rules (coerce.go). The printer prints that tree with PostgreSQL's
// rules for parentheses and line breaks.
//
// ALTER … RENAME uses the same steps: a stored text is resolved in the catalog before the change,
// and printed with the new names, from Options.
//
// Invariant: the printed text parses and binds to the same meaning as the original, and printing it
// again gives the same text. A test checks this for every query of the sqllogic scripts.
package deparse
