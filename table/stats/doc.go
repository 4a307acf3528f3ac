// Package stats knows what is in the columns of a table: how many rows there are, how many values
// are NULL or different, which are frequent and how the others spread. ANALYZE gathers it, the
// planner estimates with it.
//
// It owns the gathering, the estimates that follow from one column, and how both are stored, under
// keys of the same transactional store as the rows:
//
//	'a' {table} 't'           → rows, bytes of a row, when
//	'a' {table} 'c' {column}  → statistics of a column
//	'a' {table} 'k' {column} {operator class} → keys of GIN indexes ([Keys])
//	'a' {table} 'n'           → counters of changes ([Counters])
//
// When to gather is package sql/statistics'; how the estimates of several columns combine is
// planner/estimate's.
//
// # Gathering
//
// [Analyze] reads all rows once, in batches. Of each column it counts NULLs and bytes, and
// estimates the number of different values by a HyperLogLog sketch (Flajolet et al., AofA 2007),
// because an estimate from a sample alone is wrong by orders of magnitude where values are neither
// few nor unique (Charikar et al., PODS 2000). Of the rows a reservoir (Vitter, ACM TOMS 1985)
// keeps a uniform sample, 300 for each entry that a column's statistics may have (Chaudhuri et al.,
// SIGMOD 1998); the most common values and the histogram come from it. A table smaller than its
// sample has exact statistics. Memory is bounded by the sample, which shrinks, and stays uniform,
// when its values are long.
//
// Of a table with four times as many rows as its sample, or more, only the sample is read, as
// PostgreSQL does: blocks of 64 rows on average, at random among the integers of the first key
// column. The number of rows is the counters', and is believed only where the blocks agree with it;
// where they do not, or are of very different sizes, or the key begins with something else, all
// rows are read. The number of different values is then estimated from the sample (Haas and Stokes,
// JASA 1998), with a value that comes several times in a block counted once (Chaudhuri et al.,
// SIGMOD 2004): neighbours are often alike.
//
// Of the keys that a GIN index has of a column's values, [Keys] has the most common ones. They are
// counted in rows of a sample of their own, because long documents are not kept in the reservoir.
//
// # Estimating
//
// A column's rows fall in three parts: NULLs, the most common values with their shares, and the
// rest, whose values the histogram cuts into buckets of equal shares. [Column.Equal] and
// [Column.Below] answer from them; within a bucket values are taken to be spread evenly.
//
// # Invariants
//
//   - stats I1: statistics are hints. Nothing but costs depends on them, so a reader may use old
//     ones, and those of a column whose type has changed are passed over.
//   - stats I2: shares are of all rows, NULLs included; NullFraction and the Frequencies together
//     are at most 1.
//   - stats I3: the same rows in the same order with the same seed give the same bytes.
package stats
