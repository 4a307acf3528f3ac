package metrics

import (
	"math"

	"github.com/minidb/minidb/sql"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// latencies is a histogram in both of Prometheus' forms, from the same counts: a native one for
// scrapes by protobuf, and buckets for the text formats, which have no other. The bounds of these
// are powers of four, of which each is a bound of the native one too.
type latencies struct {
	desc         *prometheus.Desc
	label, value string
	counted      sql.Latencies
}

const (
	schema        = 2         // four buckets for each power of two
	zeroThreshold = 0x1p-1022 // no duration is below it
	// The bounds of the text formats are 4^lowest to 4^highest seconds: 15 µs to 256 s.
	lowest, highest = -8, 4
)

// Desc implements prometheus.Metric.
func (l *latencies) Desc() *prometheus.Desc { return l.desc }

// Write implements prometheus.Metric.
func (l *latencies) Write(to *dto.Metric) error {
	h := &dto.Histogram{}
	h.Schema, h.ZeroThreshold, h.ZeroCount = ptr(int32(schema)), ptr(zeroThreshold), ptr(uint64(0))
	h.SampleSum = ptr(l.counted.Sum.Seconds())
	total, before, gap := uint64(0), int64(0), int32(sql.LowestBucket)
	for i, n := range l.counted.Buckets {
		total += uint64(n)
		if k := sql.LowestBucket + i; k%8 == 0 && k/8 >= lowest && k/8 <= highest {
			h.Bucket = append(h.Bucket, &dto.Bucket{CumulativeCount: ptr(total),
				UpperBound: ptr(math.Pow(4, float64(k/8)))})
		}
		if n == 0 {
			gap++
			continue
		}
		if last := len(h.PositiveSpan) - 1; last >= 0 && gap == 0 {
			*h.PositiveSpan[last].Length++
		} else {
			h.PositiveSpan = append(h.PositiveSpan, &dto.BucketSpan{Offset: ptr(gap),
				Length: ptr(uint32(1))})
		}
		h.PositiveDelta = append(h.PositiveDelta, n-before)
		before, gap = n, 0
	}
	h.SampleCount = ptr(total)
	to.Histogram = h
	to.Label = []*dto.LabelPair{{Name: ptr(l.label), Value: ptr(l.value)}}
	return nil
}

func ptr[T any](v T) *T { return &v }
