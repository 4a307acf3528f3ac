package metrics_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/txn"
)

// scene is a database whose handler is served over HTTP, and which serves clients.
type scene struct {
	t    *testing.T
	db   *minidb.DB
	http *httptest.Server
	at   string // for clients
}

// newScene opens a database that does nothing in the background.
func newScene(t *testing.T, opts ...minidb.Option) *scene {
	t.Helper()
	db, err := minidb.Open("", append([]minidb.Option{minidb.InMemory(), minidb.GCInterval(-1),
		minidb.AnalyzeInterval(-1)}, opts...)...)
	require.NoError(t, err)
	s := &scene{t: t, db: db, http: httptest.NewServer(db.Handler())}
	t.Cleanup(func() {
		s.http.Close()
		_ = db.Close()
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.at = l.Addr().String()
	go func() { _ = db.Serve(l) }()
	return s
}

// smallStreams makes transactions large that write more than a few kilobytes.
func smallStreams() minidb.Option {
	return minidb.OnStore(func(o *txn.Options) { o.StreamBytes = 16 << 10 })
}

// get returns the status and the body of a path.
func (s *scene) get(path string) (int, string) {
	s.t.Helper()
	r, err := http.Get(s.http.URL + path)
	require.NoError(s.t, err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	require.NoError(s.t, err)
	return r.StatusCode, string(body)
}

// url is that of the connection of a user to a database.
func (s *scene) url(user, database string) string {
	return "postgres://" + user + "@" + s.at + "/" + database
}

// connect opens a client's connection.
func (s *scene) connect() *pgx.Conn {
	s.t.Helper()
	c, err := pgx.Connect(context.Background(), s.url("postgres", "postgres"))
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// scrape parses what /metrics returns.
func (s *scene) scrape() numbers {
	s.t.Helper()
	status, body := s.get("/metrics")
	require.Equal(s.t, http.StatusOK, status, body)
	parser := expfmt.NewTextParser(model.LegacyValidation)
	all, err := parser.TextToMetricFamilies(bytes.NewBufferString(body))
	require.NoError(s.t, err)
	return all
}

// numbers is a scrape.
type numbers map[string]*dto.MetricFamily

// of returns a number by the family's name and the labels, as "kind=SELECT sqlstate=00000"; 0 when
// it is not there.
func (n numbers) of(name string, labels ...string) float64 {
	for _, m := range n[name].GetMetric() {
		var has []string
		for _, l := range m.GetLabel() {
			has = append(has, l.GetName()+"="+l.GetValue())
		}
		if strings.Join(has, " ") == strings.Join(labels, " ") {
			return valueOf(m)
		}
	}
	return 0
}

// valueOf returns a number; of a histogram how many values it has.
func valueOf(m *dto.Metric) float64 {
	switch {
	case m.Counter != nil:
		return m.GetCounter().GetValue()
	case m.Gauge != nil:
		return m.GetGauge().GetValue()
	case m.Histogram != nil:
		return float64(m.GetHistogram().GetSampleCount())
	}
	return m.GetUntyped().GetValue()
}

// by returns the numbers of a family with one label, by its value.
func (n numbers) by(name string) map[string]float64 {
	out := map[string]float64{}
	for _, m := range n[name].GetMetric() {
		out[m.GetLabel()[0].GetValue()] = valueOf(m)
	}
	return out
}
