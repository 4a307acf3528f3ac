package minidb

import (
	"net/http"

	"github.com/minidb/minidb/metrics"
)

// Handler serves how the database does, for a program with an HTTP server of its own: /metrics for
// Prometheus, /healthz, /readyz and /debug/pprof/. `minidb serve --http` serves the same.
//
// There are neither passwords nor encryption in it. The program puts it where only those that
// operate it can reach it: profiles take processor time, and show what the program does. It may be
// asked after Close, too: /healthz is 503 then.
func (db *DB) Handler() http.Handler {
	return metrics.NewHandler(metrics.Sources{Engine: db.engine, Store: db.store, SQL: db.sql,
		Server: db.server, Gone: db.gone, Logger: db.opts.logger})
}
