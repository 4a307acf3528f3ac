// Package kv is the contract between the transaction layer and an ordered store: an ordered map
// of bytes whose rows can be read and modified atomically. It is what Bigtable gives Percolator
// (OSDI 2010, §2.1; OSDI 2006, §2), and no more.
//
// It owns the contract, the layout of a key, the batch and the errors. It relies on nothing.
// Time, versions, locks and transactions are package txn's.
//
// # Keys, rows and families
//
// A key is a byte string, ordered as bytes.Compare orders. The transaction layer builds it from
// three parts, and an engine may look at the first two:
//
//	+--------+---------------------------+-----------+
//	| family | row ................ 00 01 | qualifier |
//	| 1 byte | ends at the first 00 01    |           |
//	+--------+---------------------------+-----------+
//
// The family is a locality group: families sort apart, so that a scan of one never steps over
// another. The row is the unit of atomicity. The qualifier distinguishes the cells of a row in one
// family (a timestamp). Family and row together are the key's prefix; an engine may keep filters by
// prefix and skip from prefix to prefix. A key without 00 01 is a row of its own, without
// qualifier, and no rule breaks for it.
//
// # What an engine does
//
// [Engine] has three methods.
//
//   - Snapshot gives a [Reader] that sees one state of the whole map: every Update that returned
//     before the call, those that return before its first read or not, and for each Update either
//     all of its batch or nothing. A store that forgets old states may give it up
//     (ErrSnapshotGone); [Latest] is for readers that need no single state.
//   - Update takes the names of rows and a function. The function reads those rows, and fills a
//     [Batch] for those rows only. Between what it reads and what it writes no other Update that
//     names one of the rows takes effect. When Update returns nil the batch is durable.
//   - Close ends it.
//
// The function is a pure step: it may be run again (a store on the network runs it, sends
// preconditions and writes in one conditional request, and starts over when a precondition broke),
// so it touches nothing but its Batch, or only in ways that a second run corrects. It is never
// shown a mixture of states of the rows that it names: an engine that guesses what they hold may
// not run the step on its guess.
//
// # Errors of Update
//
//   - The function's own error comes back as it is, and nothing was written.
//   - An error for which errors.Is(err, ErrNotApplied) says that nothing was written.
//   - With any other error the result is unknown: the batch may be there now, may appear later or
//     never. The caller finds out by a step that writes: an engine must order a later Update of the
//     row after the unknown one, or see to it that the unknown one fails.
//
// # What more an engine may do
//
// Optional power is a second interface, never a method that fails.
//
//   - [Grouped]: the rows are cut into groups, and one Update may name rows of one group only.
//     An engine without it is one group: any Update may name any rows.
//   - [Limited]: an Update names so many rows, and writes so many keys and bytes, at most: on the
//     network it is one request, which is bounded. The layer above cuts what it writes to the size,
//     and refuses a single value that cannot be cut. What a step reads is not bounded.
//   - [Lazy]: an Update whose batch need not be durable when it returns, only ordered: if a later
//     durable Update of this engine survives a crash, so does every lazy one that returned before
//     it began. Engines that append to one log give this for nothing. Prewrites use it, so that a
//     commit costs one sync.
//   - [Early]: an Update that calls back when its batch can be seen, which is before it is durable.
//     A later durable Update takes it to disk as well.
//   - [RangeDeleter]: all keys of a span are deleted at the cost of one. DeleteSpan does without,
//     in bounded updates.
//   - [Ingester]: many new keys come in as sorted files, all at once, past the log.
//   - [RangeCompacter]: a span is rewritten without the marks of what was deleted there.
//   - [Exclusive]: no other process writes while this handle is open. Only then may the layer above
//     keep anything in memory about what the store holds (see txn's doc for the list, and for what
//     replaces each item on a shared store).
//   - [Failing]: an engine that ends when its log cannot be written reports that, without ending
//     the process.
//   - [Verifier]: an engine whose files have checksums compares all of them, also what no reader is
//     shown.
//   - [Roomy]: an engine on a disk says when it is nearly full, before an update can fail.
//   - [Sizer]: about how much a span holds, for the progress of what walks over it.
//   - [SyncCounter]: tests and benchmarks count what reached the disk.
//   - [Measured]: an engine counts what its files, caches and background work do.
//
// # A store that several processes share
//
// The contract asks for nothing that a store on the network cannot do. Snapshot is a read at the
// revision that its first read has found, until the store compacts that. Update is optimistic: read
// the rows at the newest revision, run the function, send one conditional write (if the rows'
// revisions are unchanged, then apply), repeat when refused. Such an engine has no latches; an
// engine inside one process ([kv/pebblekv]) takes latches on the rows in sorted order instead. It
// does not implement Exclusive, so nothing above it trusts its memory.
//
// # Invariants
//
//   - kv I1 (atomic): a batch is seen whole or not at all, by every reader, also after a crash.
//   - kv I2 (isolated rows): Updates that name a common row take effect one after the other, and
//     the later one reads what the earlier one wrote.
//   - kv I3 (durable): when Update returns nil, its batch survives a crash; and so does everything
//     its function read.
//   - kv I4 (lazy order): what survives of lazy Updates is a prefix of the order in which they
//     returned.
//   - kv I5 (snapshot): a snapshot never changes once it was read, and holds everything that
//     returned before it. It is given up whole: no read shows a later state.
//   - kv I6 (only named rows): a batch that names another row is refused whole.
//
// kvtest holds one conformance suite for all of these.
package kv
