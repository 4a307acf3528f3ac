// Package table maps rows and index entries to keys and values of a transaction, and back.
package table
