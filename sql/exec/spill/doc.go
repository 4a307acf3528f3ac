// Package spill keeps on disk the rows of running statements that do not fit memory.
//
// A Dir is the place of a database's files. A statement has one File in it, made when its first
// operator spills, and an operator has Streams in the File: a sorted run, a partition of a hash
// join, the rows of a WITH query. A Stream is written from its beginning to its end and read as
// often as is liked, by Readers with positions of their own.
//
//	File    |extent of A|extent of B|extent of A|free|extent of C| …    internal/scratch
//	extent  checksum | frame | frame | …                                about 64 KiB
//	frame   number of rows | column | column | …                        up to 1,024 rows
//
// Frames are the batches that operators pass: columns are encoded as a whole (table/colfmt). The
// index of a Stream's extents is in memory, and the extents of a Stream that was freed are used
// again. So a statement has one open file however many runs and partitions it makes.
//
// # Invariants
//
//  1. A File has no name: it is unlinked as soon as it is made. However the process ends, its bytes
//     are free then. What a crash between the two steps leaves is removed by NewDir.
//  2. Nothing that is read was damaged: an extent whose checksum is wrong is an error, XX001.
//  3. Buffers are counted in the statement's account before they are allocated.
package spill
