// Package elected is the timestamp oracle of a store that several processes share: one of them
// holds the office and serves timestamps to the others over the network, in batches (Percolator,
// §2.3). Every process is a candidate.
//
// It owns the election, the service and its client. What an oracle is, and what the store keeps of
// it, is for package tso.
//
// # The term
//
// The holder raises the mark in the store several times in each term. A candidate that has seen the
// cell without a change for a whole term, by its own monotonic clock, may take the office, by an
// update that demands the cell as it was seen. The holder serves for nine tenths of a term after it
// has sent the last extension that was applied: so it has stopped before another one begins, as
// long as no clock runs a tenth faster than another. How late clocks are does not matter. A machine
// that was suspended knows it by its wall clock.
//
// What remains is a holder that stops between looking at its term and answering. It cannot extend
// its range any more, so nothing that it gives out is drawn twice, or lies above what its successor
// gives out. And the order of timestamps holds by three rules:
//
//   - a timestamp answers only callers that asked before the request for it was sent;
//   - the holder looks at its term after it has read a request, and draws then;
//   - an answer that took longer than a term is thrown away.
//
// By the first two, the moment at which the holder looked lies between question and answer, and a
// caller that asks after a successor has begun is answered by the successor. No process keeps a
// range for questions to come.
//
// # The network
//
//	client   "tso1" and the holder's token (16 bytes)
//	holder   "tso1", or the end of the connection when the token is not that of its term
//	client   how many (4 bytes)
//	holder   the first of them (8 bytes); the others follow it
//
// The token is in the store, new for each term. So a process that may read the store may draw, and
// a client never draws from the oracle of another store that now listens at an old address. One
// that eavesdrops learns the token: use TLS where that matters.
package elected
