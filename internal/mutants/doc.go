// Package mutants takes single clauses away from the product and expects a named test to notice. A
// clause that no test misses is not tested.
//
// A mutant is a text file, testdata/mutants/NAME.patch of the package that it changes:
//
//	does:   A prewrite does not look for writes newer than start_ts.
//	breaks: txn I9, Percolator §2.2
//	killer: txn TestChecklist/updateIsNotLost
//	killer: tests/history TestHistories/memory,_groups MINIDB_HISTORIES=40000 says lost update
//
//	@@ txn/mvcc.checkConflict
//	-		case commitTS > base:
//	+		case false:
//
// A killer is a package, the full name of one of its tests, variables of its environment, and after
// "says" a regular expression that must match what the test prints. Each killer of a mutant must
// fail. "import: PATH" adds an import that the new lines need.
//
// A hunk names a function as package.function or package.type.method; the root package is ./minidb.
// Lines that begin with a blank or "-" are the old text, which must occur exactly once in the
// function's body. Lines that begin with a blank or "+" replace it. A mutant may have several
// hunks, in one function or in many packages.
//
// The product holds nothing of this. NewOverlay builds the files for `go test -overlay` in which
// every mutated function begins with a switch to its mutated copies:
//
//	func checkConflict(…) error { if chosenMutant == 17 { return checkConflictMutant17(…) }; …
//
// The variable exists only in the overlay and is set by MINIDB_MUTANT. So one build serves all
// mutants, and mutants of the same lines do not meet. TestMutants runs each killer in a process of
// its own, once without any mutant and once for each mutant:
//
//	MINIDB_MUTANTS=all go test -run TestMutants ./internal/mutants
//	MINIDB_MUTANTS=all go test -v -run TestMutants/txn/mvcc ./internal/mutants
//
// internal/lint checks at every run that each mutant still applies.
package mutants
