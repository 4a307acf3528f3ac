package sql

import (
	"math"
	"sync/atomic"
	"time"
)

// Latencies are durations, counted in buckets whose bounds grow by the fourth root of two: those of
// Prometheus' native histograms of schema 2, in seconds. A quantile that is read from them is wrong
// by a tenth at most.
type Latencies struct {
	Sum time.Duration
	// Buckets[i] counts those above the bound of LowestBucket+i-1, up to that of LowestBucket+i.
	Buckets [buckets]int64
}

// The bound of bucket k is 2^(k/4) seconds. What is shorter than the lowest bound, of a
// microsecond, is counted in the lowest bucket, and what is longer than the highest, of 17 minutes,
// in the highest.
const (
	LowestBucket  = -20 * bucketsPerOctave
	highestBucket = 10 * bucketsPerOctave

	bucketsPerOctave = 4
	buckets          = highestBucket - LowestBucket + 1
)

// latencies are Latencies that sessions add to.
type latencies struct {
	nanos   atomic.Int64
	buckets [buckets]atomic.Int64
}

func (l *latencies) add(d time.Duration) {
	l.nanos.Add(int64(d))
	l.buckets[bucketOf(d)-LowestBucket].Add(1)
}

// addTo adds what was counted.
func (l *latencies) addTo(sum *Latencies) {
	sum.Sum += time.Duration(l.nanos.Load())
	for i := range l.buckets {
		sum.Buckets[i] += l.buckets[i].Load()
	}
}

// withinOctave are the bounds of the buckets between a half and one, without one itself.
var withinOctave = [bucketsPerOctave]float64{0.5, 0.5946035575013605, 0.7071067811865475,
	0.8408964152537144}

// bucketOf returns the bucket of a duration.
func bucketOf(d time.Duration) int {
	fraction, exponent := math.Frexp(d.Seconds())
	if fraction <= 0 {
		return LowestBucket
	}
	within := 0
	for within < bucketsPerOctave && withinOctave[within] < fraction {
		within++
	}
	k := (exponent-1)*bucketsPerOctave + within
	return min(max(k, LowestBucket), highestBucket)
}
