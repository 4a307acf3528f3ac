package metrics

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/sql/pgwire"
	"github.com/minidb/minidb/txn"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// scrapeLimit bounds what a scrape reads from the store. Prometheus itself waits for ten seconds.
const scrapeLimit = 5 * time.Second

// Sources are the parts of a database that are shown.
type Sources struct {
	Engine kv.Engine
	Store  *txn.Store
	SQL    *sql.Engine
	Server *pgwire.Server
	Gone   <-chan struct{} // closed with the database
	Logger *slog.Logger
}

// open reports whether the database has not been closed.
func (s *Sources) open() bool {
	select {
	case <-s.Gone:
		return false
	default:
		return true
	}
}

// Handler serves what there is to see of one database. Its methods may be called from any
// goroutine, also after the database was closed.
type Handler struct {
	mux      http.ServeMux
	families []Family
}

// NewHandler returns a handler for the database that is made of the sources.
func NewHandler(s Sources) *Handler {
	h := &Handler{}
	all := s.families()
	for i := range all {
		h.families = append(h.families, all[i].Family)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(newCollector(all, s.open), collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	h.mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(s.Logger.Handler(), slog.LevelWarn), EnableOpenMetrics: true,
		Timeout: 2 * scrapeLimit}))
	h.mux.Handle("GET /healthz", check(s.failure))
	h.mux.Handle("GET /readyz", check(s.unready))
	h.mux.HandleFunc("GET /debug/pprof/", profiles)
	h.mux.HandleFunc("GET /debug/pprof/{profile}", profile)
	h.mux.HandleFunc("GET /{$}", contents)
	return h
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

// Families lists what /metrics exports of the database, without the numbers of Go's runtime
// (go_…) and of the process (process_…).
func (h *Handler) Families() []Family { return h.families }

// contents lists the paths.
func contents(w http.ResponseWriter, _ *http.Request) {
	writeText(w, http.StatusOK, "minidb\n\n/metrics\n/healthz\n/readyz\n/debug/pprof/\n")
}

func writeText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
}
