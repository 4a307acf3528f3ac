package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/minidb/minidb"
)

// backUpByServer calls minidb_backup, and shows its progress. An interruption cancels it.
func backUpByServer(ctx context.Context, url, to string, o minidb.BackupOptions) (b minidb.BackedUp,
	err error) {
	conn, err := connect(ctx, url)
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	options := map[string]any{"full": o.Full, "rate": o.Rate,
		"protect": fmt.Sprintf("%d seconds", int(max(o.Protect, 0).Seconds()))}
	for line := range strings.Lines(o.Recipients) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			had, _ := options["recipients"].([]string)
			options["recipients"] = append(had, line)
		}
	}
	text, err := json.Marshal(options)
	if err != nil {
		return b, err
	}
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		watchBackup(ctx, url, conn.PgConn().PID(), o.Progress, done)
	}()
	defer func() {
		close(done)
		<-stopped
	}()
	var base, why *string
	var timestamp string
	err = conn.QueryRow(ctx, "SELECT * FROM minidb_backup($1, $2)", to, string(text)).Scan(&b.Name,
		&base, &b.At, &timestamp, &b.Cells, &b.Bytes, &b.Size, &b.Resumed, &why)
	if err != nil {
		return b, err
	}
	if base != nil {
		b.Base = *base
	}
	if why != nil {
		b.WhyFull = *why
	}
	b.Encrypted = o.Recipients != "" && b.Cells > 0
	b.Timestamp, err = strconv.ParseUint(timestamp, 10, 64)
	return b, err
}

// connect connects, so that the end of a context cancels the running statement.
func connect(ctx context.Context, url string) (*pgx.Conn, error) {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	cfg.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: 5 * time.Second}
	}
	return pgx.ConnectConfig(ctx, cfg)
}

// watchBackup shows the progress of a session's backup until it is done. Without a second
// connection it shows nothing.
func watchBackup(ctx context.Context, url string, pid uint32, show func(string, int64, int64),
	done <-chan struct{}) {
	conn, err := connect(ctx, url)
	if err != nil {
		return
	}
	defer conn.Close(context.WithoutCancel(ctx))
	tick := time.NewTicker(progressPause)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var phase string
		var bytes int64
		err := conn.QueryRow(ctx, "SELECT phase, backup_streamed FROM "+
			"pg_stat_progress_basebackup WHERE pid = $1", int32(pid)).Scan(&phase, &bytes)
		if err == nil {
			show(phase, -1, bytes)
		}
	}
}
