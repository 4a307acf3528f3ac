package cli

import (
	"context"
	"flag"
	"io"
	"log/slog"
	"net/url"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/sql/settings"
)

// logOptions are the flags of the server's log.
type logOptions struct {
	format string
	level  slog.Level
}

func (o *logOptions) flags(fs *flag.FlagSet) {
	fs.StringVar(&o.format, "log-format", "text",
		"how records are written to standard error: text, or json with one object in each line")
	fs.Func("log-level", "the least level of the records: debug, info (the default), warn or error",
		func(text string) error { return o.level.UnmarshalText([]byte(text)) })
}

func (o *logOptions) check() error {
	if o.format != "text" && o.format != "json" {
		return usageError("--log-format is text or json")
	}
	return nil
}

// logger returns what writes the records.
func (o *logOptions) logger(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: o.level}
	if o.format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// logStart writes the record of a server that is about to serve.
func (o *serveOptions) logStart(logger *slog.Logger, db *minidb.DB, listen string) {
	info, _ := debug.ReadBuildInfo()
	release, commit := releaseOf(info)
	found := db.Opening()
	attrs := []slog.Attr{slog.String("version", release), slog.String("commit", commit),
		slog.String("server_version", settings.ServerVersion),
		slog.String("go", runtime.Version()),
		slog.String("store", o.place()), slog.Int("format", found.Format),
		slog.Int("replayed_updates", found.Replayed),
		slog.Float64("engine_seconds", found.EngineTook.Seconds()),
		slog.Float64("open_seconds", found.Took.Seconds()), slog.String("listen", listen),
		slog.Int("pid", os.Getpid())}
	logger.LogAttrs(context.Background(), slog.LevelInfo, "server starts", attrs...)
}

// place names the store without what may be secret in its URL.
func (o *serveOptions) place() string {
	if o.inMemory {
		return "memory"
	}
	if !o.store.shared() {
		return o.store.directory(o.data)
	}
	u, err := url.Parse(o.store.url)
	if err != nil { // one that Open accepts all the same, of several hosts
		return "shared"
	}
	u.RawQuery, u.Fragment = "", ""
	return u.Redacted()
}
