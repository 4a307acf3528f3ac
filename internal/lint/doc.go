// Package lint holds the project's own rules as a test:
//
//   - imports: which layer may import which, what a package may import within its layer, which
//     packages may import a foreign library or an engine;
//   - size: how long files and functions may grow;
//   - words: which ones code and comments do not use (words_test.go);
//   - documentation: packages and exported names have comments, documents name only what exists, a
//     cited invariant is defined;
//   - tests do not wait for the clock, and a mutant applies to the code as it is.
//
// Run it with -count=1: the test reads the module through `go list`, which the test cache does not
// see.
package lint
