// Package txn is the Percolator transaction layer.
package txn
