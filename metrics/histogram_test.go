package metrics_test

import (
	"errors"
	"io"
	"math"
	"net/http"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/stretchr/testify/require"
)

// scrapeNative scrapes by protobuf, as Prometheus does where it takes native histograms.
func (s *scene) scrapeNative() numbers {
	s.t.Helper()
	request, err := http.NewRequest(http.MethodGet, s.http.URL+"/metrics", nil)
	require.NoError(s.t, err)
	request.Header.Set("Accept", string(expfmt.NewFormat(expfmt.TypeProtoDelim)))
	r, err := http.DefaultClient.Do(request)
	require.NoError(s.t, err)
	defer r.Body.Close()
	all := numbers{}
	for decoder := expfmt.NewDecoder(r.Body, expfmt.ResponseFormat(r.Header)); ; {
		f := &dto.MetricFamily{}
		err := decoder.Decode(f)
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(s.t, err)
		all[f.GetName()] = f
	}
}

// O9: the durations of statements are a native histogram and one with buckets, of the same counts.
func TestDurationsAreANativeHistogramToo(t *testing.T) {
	l := newLoad(t)
	c := l.connect()
	l.exec(c, "CREATE TABLE t(k int PRIMARY KEY)")
	for i := range 50 {
		l.exec(c, "INSERT INTO t VALUES ($1)", i)
	}
	kinds := l.scrapeNative()["minidb_statement_duration_seconds"].GetMetric()
	require.Len(t, kinds, 2)
	for _, m := range kinds {
		h := m.GetHistogram()
		require.Positive(t, h.GetSampleSum())
		require.EqualValues(t, 2, h.GetSchema())
		native := map[int]int64{} // by the number of the bucket
		k, n, delta := 0, int64(0), 0
		for _, span := range h.GetPositiveSpan() {
			k += int(span.GetOffset())
			for range span.GetLength() {
				n += h.GetPositiveDelta()[delta]
				native[k] = n
				k, delta = k+1, delta+1
			}
		}
		require.Len(t, h.GetPositiveDelta(), delta)
		total := uint64(0)
		for _, n := range native {
			total += uint64(n)
		}
		require.Equal(t, h.GetSampleCount(), total)
		require.Len(t, h.GetBucket(), 13)
		for _, bucket := range h.GetBucket() {
			below := uint64(0)
			for k, n := range native {
				if math.Exp2(float64(k)/4) <= bucket.GetUpperBound() {
					below += uint64(n)
				}
			}
			require.Equal(t, below, bucket.GetCumulativeCount(), bucket.GetUpperBound())
		}
	}
}
