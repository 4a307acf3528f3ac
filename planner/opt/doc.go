// Package opt holds what the phases of the planner share, so that none of them needs another for
// it:
//
//   - what planning needs beside the statement ([Env]: the catalog, statistics, the session's
//     wishes);
//   - the parts that logical and physical plans have in common ([JoinKind], [SortKey], [Agg],
//     [WindowCall], [Check], [Assign], [TableVersion]);
//   - the cost model, all of it in cost.go, by which package rule orders joins and package choose
//     picks a way for each node.
//
// How many rows there will be is package estimate's affair; what so many rows cost is said here.
package opt
