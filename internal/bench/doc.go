// Package bench is `minidb bench`: minidb side by side with what it is built on and what people use
// instead, in one run on one machine, because only the ratio of two figures taken together says
// anything on a noisy one.
//
// Each measurement alternates the two sides in short rounds and reports the median of each and the
// ratio of the medians. Nothing here judges; docs/performance.md says what the figures showed.
package bench
