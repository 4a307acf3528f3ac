// Package lint holds the project's own rules as a test: which floor may import which and what a room
// within one may reach, where a foreign library or an engine may be named, how long files and functions
// may grow, that packages introduce themselves and exported names say what they are, that documents name
// what exists, that a cited invariant is defined, that no test waits for the clock.
//
// Run it with -count=1: the test reads the module through `go list`, which the test cache does not
// see.
package lint
