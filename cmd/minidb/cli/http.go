package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// observed is the HTTP server of serve --http. It is there before the database is, since that may
// take long: until then it is alive and not ready. The zero value, without the flag, serves
// nothing.
type observed struct {
	listener net.Listener
	server   http.Server
	now      atomic.Pointer[http.Handler] // nil: the database is being opened
}

// observe listens on the address of --http.
func observe(address string, logger *slog.Logger) (*observed, error) {
	o := &observed{}
	if address == "" {
		return o, nil
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	o.listener = l
	// Profiles take as long as they are asked to, so that a reply has no bound.
	o.server = http.Server{Handler: o, ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 1 << 16,
		ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn)}
	go func() {
		if err := o.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			logger.Error("metrics and health are not served any more", "error", err)
		}
	}()
	logger.Info("serving /metrics, /healthz, /readyz and /debug/pprof/", "at",
		"http://"+l.Addr().String())
	return o, nil
}

// checkLoopback refuses an address that other machines may reach.
func checkLoopback(address string) error {
	at, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return usageError(fmt.Sprintf("--http %s: %v", address, err))
	}
	if !at.IP.IsLoopback() {
		return usageError(fmt.Sprintf("--http %s: it must be a loopback address, as "+
			"127.0.0.1:9187, since metrics and profiles have neither passwords nor encryption",
			address))
	}
	return nil
}

// ServeHTTP implements http.Handler.
func (o *observed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := o.now.Load(); h != nil {
		(*h).ServeHTTP(w, r)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	if r.URL.Path == "/healthz" {
		_, _ = w.Write([]byte("ok\n"))
		return
	}
	http.Error(w, "the database is being opened", http.StatusServiceUnavailable)
}

// shows serves what a database shows from now on.
func (o *observed) shows(h http.Handler) { o.now.Store(&h) }

// close ends the server. Scrapes have a moment to end, and profiles are cut off.
func (o *observed) close() {
	if o.listener == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if o.server.Shutdown(ctx) != nil {
		_ = o.server.Close()
	}
}
