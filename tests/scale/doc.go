// Package scale simulates many gateways on a store of many regions, and counts what they ask of it:
// how cost grows with the number of gateways is what it shows, and what docs/scaling.md says.
//
// It owns the network (network.go), the oracle at a distance (oracle.go), the load (load.go) and
// what is put together from them (cluster.go). Each gateway is a txn.Store, or while it idles a
// whole minidb.DB, and all share one memkv engine with the limits of a store on the network, cut
// into regions by a hash.
//
// # Time
//
// All runs in a bubble of testing/synctest: each request takes its time by the bubble's clock,
// which moves when every goroutine waits, so a second of a hundred gateways needs no hundred
// processors and no result depends on the machine. Sessions choose by seed; which of two requests
// of the same moment comes first is left to the scheduler, so counts differ a little between runs.
// A goroutine that waits for a mutex does not count as waiting: a mutex that is held over a request
// stops the clock, and the test, for ever, as soon as another goroutine wants it. So the simulation
// also shows that none is in its way.
//
// # What it does not show
//
// Lost messages and failing processes, which tests/history, txntest and kv/etcdkv have; how fast a
// gateway's processor or a real store is; regions that hold neighbouring rows, split and move.
// Reads never wait for a region, and what a step reads inside an update is no request: an engine on
// the network reads that ahead, or remembers it.
package scale
