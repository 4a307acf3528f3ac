// Command codestats measures the code of this module, and draws its packages.
//
//	go run ./internal/codestats            the table of docs/measurements.md, as Markdown
//	go run ./internal/codestats -list      each function, line and reference that a limit counts
//	go run ./internal/codestats -draw FILE the drawing of the packages, from their imports
//
// Product code is every Go file that is not a test and not below testdata. Rules:
//
//   - A package belongs to the product when cmd/minidb, the root package or an example imports it,
//     directly or not. The other packages are tools of the repository and what only tests import:
//     their lines count in all figures but one.
//   - A line is code when it holds a token, a comment when it holds nothing but a comment, else
//     blank.
//   - The length of a function is that of its declaration, first and last line included.
//   - Cyclomatic complexity is 1 plus one for each if, for, case with a value, select case, && and
//     ||. A function literal counts to the function that contains it.
//   - Nesting counts the control statements around the deepest statement of a function.
//   - A reference runs from one file of a package to another that declares what the first one
//     names, fields and methods included; each pair of files counts once. The files are put into
//     the order with the fewest references that run back, so what remains are the files that cannot
//     be read one after the other.
package main
