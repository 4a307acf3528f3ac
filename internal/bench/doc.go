// Package bench is `minidb bench`: minidb side by side with what it is built on and what people use
// instead, in one run on one machine, because only the ratio of two figures taken together says
// anything on a noisy one.
//
// Each measurement alternates the two sides in short rounds and reports the median of each and the
// ratio of the medians. Beside the ratios to the raw engine stand those of the paper, which set
// Percolator beside Bigtable (Peng and Dabek, OSDI 2010, figure 8): 0.94 for a read, 0.23 for a write of
// one cell. Its engine was a service on other machines and ours is a library, so the two columns show
// the same question, not the same experiment. Nothing here judges; docs/performance.md says what the figures showed.
package bench
