// Package geometry computes with the shapes of PostgreSQL's geometric types: points, line segments,
// lines, boxes, paths, polygons and circles. Package types reads, writes and stores them; package
// builtin makes functions and operators of what is here.
//
// The results are PostgreSQL's to the last bit, so each computation takes the same steps in the
// same order as PostgreSQL's, where another way would be exact. Two things follow:
//
//   - Comparisons are fuzzy: numbers that differ by at most 1e-6 are equal, which is not
//     transitive. So no shape has a hash, or an order that an index could have. A few tests compare
//     exactly, as PostgreSQL's do.
//
//   - An overflow, an underflow or a division by zero is an error. A Calc, which is one
//     computation, keeps the first error. What it computes afterwards means nothing, and the caller
//     throws it away:
//
//     var c geometry.Calc
//     d := c.Distance(p, q)
//     if err := c.Err(); err != nil { … }
//
// Some computations take time with the product of the numbers of points of two paths or polygons. A
// Calc with Work asks it in each loop whether the statement goes on.
package geometry
