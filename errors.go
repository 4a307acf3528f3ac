package minidb

import "github.com/minidb/minidb/internal/sqlerr"

// Error is what a statement or a transaction fails with: PostgreSQL's message fields. It is found
// with errors.As, also behind database/sql:
//
//	var e *minidb.Error
//	if errors.As(err, &e) && e.Code == "23505" && e.Constraint == "users_email_key" { … }
//
// Its fields are
//
//	Code        SQLSTATE, five characters; the method SQLState returns it too
//	Message     what Error() returns
//	Detail      more about it, or ""
//	Hint        what to do, or ""
//	Schema, Table, Column, DataType, Constraint
//	            the name of what it is about, where PostgreSQL reports it, or ""
//	Position    where in the statement, in bytes from 1, or 0
//	Cause       the error below, or nil; Unwrap returns it
//
// Errors that do not come from SQL are of other types: [ErrClosed], those of a context, and those
// of opening a directory.
type Error = sqlerr.Error
