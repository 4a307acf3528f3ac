package sql_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/sql"
)

// Durations are counted in the buckets of Prometheus' own native histograms.
func TestBucketsAreThoseOfPrometheus(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	durations := []time.Duration{time.Second, time.Second / 2, time.Second/2 + 1, 1500,
		3 * time.Minute}
	for range 500 {
		durations = append(durations,
			time.Duration(1000<<rng.IntN(30))+time.Duration(rng.IntN(1000)))
	}
	for _, d := range durations {
		h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "x",
			NativeHistogramBucketFactor: 1.19})
		h.Observe(d.Seconds())
		var m dto.Metric
		require.NoError(t, h.Write(&m))
		require.EqualValues(t, 2, m.GetHistogram().GetSchema())
		span := m.GetHistogram().GetPositiveSpan()[0]
		require.EqualValues(t, span.GetOffset(), sql.BucketOf(d), d)
	}
	require.Equal(t, sql.LowestBucket, sql.BucketOf(0))
	require.Equal(t, sql.LowestBucket, sql.BucketOf(1))
	require.Equal(t, sql.BucketOf(time.Hour), sql.BucketOf(100*time.Hour))
}
