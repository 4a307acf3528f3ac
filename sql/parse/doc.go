// Package parse turns PostgreSQL text into minidb's statement tree (planner/ast). It owns the text:
// no other package reads SQL or depends on the TiDB parser.
//
// Three layers:
//
//  1. lexer.go, literal.go: PostgreSQL's scanner. Strings in all their forms, dollar quotes, nested
//     comments, operators by the longest match, $n, folding, byte offsets.
//  2. the front, a recursive descent over tokens: statements, DDL and its types, sessions, COPY,
//     cursors, and the skeleton of queries (WITH, set operations, VALUES, clauses, FROM items).
//  3. the carrier: every SELECT core and every expression is rewritten token by token into a small
//     subset of what the TiDB parser reads, with operators put at the level of its grammar that is
//     PostgreSQL's level (carrier.go, expr.go). The TiDB parser does precedence, associativity and
//     join nesting; walk.go turns its tree back into ast nodes.
//
// The text that the TiDB parser sees is made of its own key words, punctuation, and names that this
// package numbers: q0, q1, …. A name leads to its mark, which holds what the name stands for: a
// finished leaf (column, literal, parameter, subquery, table) or the shape of a call. No letter
// that a user wrote reaches that parser, so it cannot misread one:
//
//	select a || b::text, f(c) from t where not x between 1 and $1 + 2
//	SELECT q0 | q1 COLLATE BINARY , q2 ( q3 ) FROM q4 WHERE q5 ( q6 LIKE q7 ( q8 , q9 + q10 ) )
//
// Carriers: PostgreSQL's "other operators" ride on |, AT TIME ZONE on ^, the IS family on <=>,
// LIKE, BETWEEN and IN on LIKE, every postfix (::, [ ], .field, COLLATE) on COLLATE, and
// whatever has words inside (CASE, CAST, FILTER, OVER, …) on a call whose arguments are the parts.
//
// Invariants:
//   - an ast position is the byte offset in the text given to Parse, counted from 1;
//   - the first error wins, and it is a *sqlerr.Error with a position, or the error of the context;
//   - at most stepsPerLook tokens or nodes pass between two looks at the context, and one TiDB
//     parse, which of a list of expressions is at most maxListUnit long;
//   - nesting is bounded by maxDepth and operators in one expression by maxChain (54001), the text
//     by MaxTextBytes (54000): no input can exhaust the stack;
//   - what the tree cannot say is answered with 0A000, never dropped.
package parse
