// Package eval compiles bound expressions (planner/expr) into programs and runs them over batches
// of column vectors, or over single rows.
//
//	p, err := eval.Compile(e)                 // once per plan
//	p = p.Clone()                             // per execution, when the plan is shared
//	err = p.Eval(ctx, batch, sel, out)        // a column of results for the rows sel
//	sel, err = p.EvalBool(ctx, batch, sel, dst) // a filter: the rows that are TRUE
//	d, err := p.EvalRow(ctx, row)             // one row, without vectors
//
// A Program consists of code, which is immutable and shared by clones, and of scratch memory, which
// is not shared: a Program belongs to one goroutine at a time. Clone costs one small allocation;
// scratch memory grows on first use and is kept.
//
// A program is a tree of nodes. Each node can compute a set of rows of a vector (into) and one row
// (one). Columns and constants are passed to their parents without copying. AND, OR, CASE and
// COALESCE pass on to each argument only the rows that the arguments before left undecided, as
// selection vectors, so that CASE WHEN x = 0 THEN 0 ELSE 1/x END never divides by zero.
//
// Invariants:
//
//  1. sel holds ascending row indexes of the batch; entries of out that sel does not name are left
//     unspecified, and out has at least batch.Len entries.
//  2. Eval and EvalRow give the same value, and fail on the same rows.
//  3. Errors carry no position: PostgreSQL gives none for what happens at run time.
//
// Fold evaluates constant expressions during planning. It leaves those whose evaluation fails to
// run time.
package eval
