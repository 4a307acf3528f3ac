// Package etcdkv is kv.Engine on an etcd cluster, which several processes may share.
//
// It owns how cells, updates and snapshots become requests to etcd, and what etcd's errors mean. It
// relies on the v3 client and on package kv. The cluster is operated by others: this package sets
// nothing up, and writes nothing but keys below one prefix.
//
// # Keys
//
//	<prefix> 'c' <key>   a cell, as the layer above names it
//	<prefix> 'g' <row>   the guard of a row: written by each update that writes the row
//
// # An update is one conditional transaction
//
// A step reads at one revision R, that of its first read. The transaction that applies its batch
// demands of each row which the update names that its guard was not written since R, and writes
// the guards of the rows in the batch. If the condition does not hold nothing is applied, and the
// step runs again. So updates that name a common row follow one another (kv I2), with one condition
// and one small write for each row, whatever the step reads of it. Conditions on what was read
// would save the write and could not be bounded: a collection reads all versions of a row.
//
// A transaction is sent once. When its answer is lost the result is unknown: it may still be
// applied, unless a row that it names is written before. A later update that writes such a row
// therefore comes after it, or makes it fail.
//
// # A snapshot is a revision
//
// It is that of the first read, which is linearizable. etcd keeps it until it is compacted: then
// reads fail with kv.ErrSnapshotGone.
package etcdkv
