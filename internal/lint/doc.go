// Package lint holds the project's own rules as a test: which floor may import which, where a foreign
// library may be named, how long a file may grow, that every package introduces itself.
//
// Run it with -count=1: the test reads the module through `go list`, which the test cache does not
// see.
package lint
