// Package plpgsql reads PL/pgSQL: the body of DO, and of functions once there are any. It turns the
// text into a tree ([Program]) whose names are resolved: variables are numbered, labels are found,
// types are those of the catalog.
//
// It relies on sql/parse for tokens, and for the SQL in the text: every expression and statement is
// cut out of the body at its delimiters, as PostgreSQL does, and parsed as a text of its own
// ([Query]). Running a program is sql/interpreter's.
//
// The grammar is PostgreSQL 15's, with the same errors at the same positions. A body with these
// statements is refused with 0A000 by name: CALL, COMMIT and ROLLBACK.
//
// Invariants:
//
//   - plpgsql I1: the position of an error is the byte offset in the body, counted from 1.
//   - plpgsql I2: nesting of blocks and statements is bounded by maxDepth, and the context is
//     looked at with every statement.
//   - plpgsql I3: a Query sees exactly the variables that were declared before it in its block and
//     in those around it.
package plpgsql
