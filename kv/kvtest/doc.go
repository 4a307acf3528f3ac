// Package kvtest holds engines to the contract of package kv: one conformance suite, and wrappers
// that make engines watch each other and fail; package record counts.
//
//   - [Run] is the suite; every engine's own tests call it, and it runs on the wrappers too.
//   - [RunCrashes] is the part of it for engines that can lose their power, and [RunUnknown] the
//     one about updates whose result is unknown.
//   - [Mirror] runs every update on two engines and fails when they disagree.
//   - [Fault] fails the n-th update: before it is applied, or after, or it lands later, the
//     ambiguous results that a store on the network gives when a reply is lost.
//   - [Mortal] is the way of one process to an engine that others share, and ends with it.
//
// The wrappers pass on the optional interfaces of what they wrap, as far as it has them.
package kvtest
