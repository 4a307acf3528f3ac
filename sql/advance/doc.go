// Package advance brings incremental views up to date: it runs the plans of package
// planner/incremental and writes what they give, in the transaction of its caller.
//
// [Advance] takes the deltas of the relations below a view, in memory, and returns that of the
// view, for the views above it. [Fill] computes a view as a whole, into relations that have no
// rows. Both go through the view's stages in order, then to its rows:
//
//	deltas of tables ─▶ terms of stage 1 ─▶ groups: read, add, write ─▶ delta of state 1
//	                                                                        │
//	deltas of tables ─▶ terms of the view's rows ◀──────────────────────────┘
//	                           │
//	                           ▼
//	                    multiset: weights summed by row, then written
//
// # The relations
//
// The view's relation is a multiset: the row key is a hash of the row's image, which is what the
// store keeps of the row, and a number from 0 among the rows with one image. To add a row takes the
// next number, to remove one the last, so that no other row is touched. Two values that SQL calls
// equal and that print differently, 1.0 and 1.00, have two images.
//
// A state relation has a row for each group, by the values of its key columns as keys of the store
// have them: 1.0 and 1.00 are one group. Its last column is what the aggregates need to go on:
//
//	state = varint rows, then for each aggregate, in order:
//	        count      varint n, of values that are not NULL
//	        sum, avg   varint n, NaNs, infinities, negative ones, display scale, values that have
//	                   it; varint m, m bytes of the sum of all other values, a numeric
//	        bool_…     varint n, varint of the true ones
//	        min, max   varint n, varint m, m bytes of the value
//	        others     nothing: the rows of the group are read again
//
// # Invariants
//
//  1. After Advance the view has the rows of its query over the tables as they are after, if it had
//     those of its query over the tables as they were before; and so do its states.
//  2. Nothing is written for a row whose weights add up to zero, nor for a group that is as before.
package advance
