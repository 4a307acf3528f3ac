// Package pages moves the past of a store in pages of raw cells: it reads them out of one store,
// and writes them into another one. Packages clone and backup are made of it.
//
// A page has the cells of whole versions, in the order of the write column, or of notifications. It
// may be read in any state of the source, for what it is made of was settled before (txn.SettleAt)
// and does not change. It is written within the limits of the target, or taken in as sorted files
// where the target can.
package pages
