// Package are translates PostgreSQL's regular expressions, which it calls advanced regular
// expressions, into the syntax of package regexp.
//
// It translates texts and checks them; planner/builtin compiles, keeps and searches with them. The
// errors are PostgreSQL's.
package are
