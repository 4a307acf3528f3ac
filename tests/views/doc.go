// Package views proves that incremental materialized views are what their queries are: ten views,
// two of them over other views, while sessions write, after crashes, and when a query fails.
//
// # The comparison
//
// One snapshot gives the rows of a view and its frontier, a timestamp of its tables. The view's
// query over the tables AS OF that timestamp must give the same rows, as multisets. No writer is
// stopped for it. Of a view over views the query is written out over the tables, so that the views
// below it are not taken at their word.
//
// It owns the tables, the views and the comparison (views_test.go), what the sessions do
// (writer_test.go), and the proofs: under writers (follow_test.go), over crashes (crash_test.go),
// of a query that fails (broken_test.go), of sessions that read what they wrote
// (freshness_test.go).
package views
