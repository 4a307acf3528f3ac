// Package planner turns a statement tree and the schema into a physical plan. It is three
// functions, one after the other, and what they pass on is data:
//
//	ast.Statement
//	   │  bind.Statement     names, types, scopes; PostgreSQL's errors with their positions
//	   ▼
//	logical plan             which rows: columns have IDs that stay the same wherever a node moves
//	   │  rule.Apply         a list of equivalences, each in a file of its own
//	   ▼
//	logical plan
//	   │  choose.Plan        access paths, join methods, orders; by cost
//	   ▼
//	*physical.Plan           how to make the rows; package sql/exec runs it
//
// Around them: ast is what the parser makes; expr is bound expressions, which both kinds of plan
// hold; builtin is the catalogue of functions and the rules by which a call chooses one; eval
// compiles expressions and folds constants; opt is what the three functions share, with the model
// of costs. bind, rule and choose do not import each other.
//
// Take SELECT name FROM users WHERE id = $1. The binder finds the table, gives its columns the IDs
// 1 and 2, learns from `=` that $1 is an int4, and builds Filter(#1 = $1) over Scan. Of the rules
// only PruneColumns changes it. The chooser finds that the condition equates the whole row key with
// a value: it makes a Scan with Point set and one range, and a Project of the name.
//
// The planner reads the schema through the interface Catalog, which its caller implements. It knows
// nothing of transactions, sessions or rows, keeps no state between calls, and may be called from
// several goroutines at once.
//
// Package estimate estimates numbers of rows, from the statistics of ANALYZE or by guesses.
//
// What is simple on purpose: without statistics join orders are chosen greedily, with statistics
// all left-deep orders of up to nine tables are searched (Selinger et al., "Access path selection
// in a relational database management system", 1979); a WITH query that is read twice is
// materialised.
package planner
