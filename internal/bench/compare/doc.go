// Package compare is `minidb bench compare`: minidb beside PostgreSQL, and embedded beside SQLite,
// in one run on one machine with the same durability and isolation. It prints how many times as
// fast minidb is, work by work, beside what was set out to be reached and what was recorded last.
//
//   - works.go, rates.go, embedded.go list the works; tpch.go, memory_table.go and corpus.go those
//     that only run when they are asked for.
//   - server.go starts minidb and makes a database on each side, client.go speaks to both.
//   - run.go gives the sides their turns, report.go prints, record.go keeps what was measured,
//     chart.go and growth.go draw.
//
// Answers of both sides are compared: one that differs ends the run.
package compare
