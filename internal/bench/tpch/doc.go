// Package tpch holds what a run of TPC-H needs: tables of a scale made from a seed, whose values
// are distributed as the benchmark's are, and its 22 queries with the parameters of their
// validation.
//
//   - schema.go has the tables and the indexes on their foreign keys.
//   - generate.go makes the rows, words.go what their texts are made of.
//   - queries/NN.sql are the queries; queries.go reads them.
//
// The rows are not those of the benchmark's own generator: answers are to be compared with those of
// another database that holds the same rows.
package tpch
