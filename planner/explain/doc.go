// Package explain shows plans as EXPLAIN does: [Describe] makes a tree of what is said of the
// nodes, which [Plan.Text] and [Plan.JSON] write in PostgreSQL's forms.
//
// Projections and filters are not nodes of their own in PostgreSQL: the first are left out, the
// second are a detail of the node that they filter.
package explain
