// Package bench is `minidb bench`: minidb side by side with what it is built on and what people use
// instead, in one run on one machine, because only the ratio of two figures taken together says
// anything on a noisy one.
//
// Each measurement gives the two sides short turns by turns, and reports the median of each side
// and the median of the ratios of neighbouring turns, with the lowest and the highest of them.
// Where syncs count, those of both sides are shown: how many commits share one explains most of
// what swings. What a store flushes and compacts after its turn falls into the other's; long turns
// carry over less of it. The ratios to the raw engine are printed beside those of the paper, which
// compares Percolator with Bigtable (Peng and Dabek, OSDI 2010, figure 8): 0.94 for a read, 0.23
// for a write of one cell. Its engine was a service on other machines and ours is a library, so the
// two columns show the same question, not the same experiment. The program draws no conclusions;
// docs/performance.md does.
package bench
