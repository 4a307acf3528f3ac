// Package explain shows plans as EXPLAIN does. [Describe] makes a tree of descriptions of the
// nodes, which [Plan.Text] and [Plan.JSON] write in PostgreSQL's forms.
//
// Projections and filters are not nodes of their own in PostgreSQL: projections are left out, and
// filters are details of the nodes that they filter.
package explain
