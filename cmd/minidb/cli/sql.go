package cli

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/mattn/go-isatty"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/internal/shell"
)

func sqlShell(ctx context.Context, c *command, args []string) error {
	fs := c.flags()
	data := fs.String("data", "minidb-data", "data directory, which no server may have open")
	inMemory := fs.Bool("in-memory", false, "an empty database in memory")
	url := fs.String("url", "", "server to connect to, instead of opening a directory")
	database := fs.String("database", "postgres", "database, with --data")
	var store storeOptions
	store.flags(fs)
	text := fs.String("c", "", "run these statements and end")
	file := fs.String("f", "", "run the statements of a file (- is standard input) and end")
	if err := c.parseFlags(fs, args); err != nil {
		return err
	}
	if err := store.check(); err != nil {
		return err
	}
	for _, one := range [][]string{{"url", "data", "in-memory", "store"}, {"url", "database"},
		{"c", "f"}} {
		if err := exclusive(fs, one...); err != nil {
			return err
		}
	}
	conn, done, err := shellConnection(ctx, *url, *data, *database, *inMemory, store)
	if err != nil {
		return err
	}
	defer done()
	sh := shell.New(conn, os.Stdout, os.Stderr)
	switch {
	case *text != "":
		err = sh.Run(ctx, *text)
	case *file != "":
		err = sh.File(ctx, *file)
	case !isatty.IsTerminal(os.Stdin.Fd()):
		err = sh.File(ctx, "-")
	default:
		name := *database
		if cfg, err := pgconn.ParseConfig(*url); *url != "" && err == nil {
			name = cfg.Database
		}
		// Ctrl-C is for the statement that runs, and not the end of the shell.
		signal.Reset(syscall.SIGTERM)
		return sh.Interactive(context.WithoutCancel(ctx), name)
	}
	return err
}

// exclusive refuses a command line with more than one of the flags.
func exclusive(fs *flag.FlagSet, names ...string) error {
	first := ""
	var err error
	fs.Visit(func(f *flag.Flag) {
		switch {
		case !slices.Contains(names, f.Name):
		case first == "":
			first = f.Name
		default:
			err = usageError(fmt.Sprintf("-%s and -%s exclude each other", first, f.Name))
		}
	})
	return err
}

// shellConnection connects to a server, or opens a directory and serves it to this shell only.
func shellConnection(ctx context.Context, url, data, database string,
	inMemory bool, store storeOptions) (*pgconn.PgConn, func(), error) {
	notices := shell.Notices(os.Stderr)
	if url != "" {
		cfg, err := pgconn.ParseConfig(url)
		if err != nil {
			return nil, nil, err
		}
		cfg.OnNotice = notices
		conn, err := pgconn.ConnectConfig(ctx, cfg)
		if err != nil {
			return nil, nil, err
		}
		return conn, func() { _ = conn.Close(context.WithoutCancel(ctx)) }, nil
	}
	// a mistyped name makes no directory
	opts := []minidb.Option{minidb.Logger(quiet()), minidb.MustExist()}
	if inMemory {
		data, opts = "", append(opts, minidb.InMemory())
	}
	db, err := store.open(data, opts...)
	if err != nil {
		return nil, nil, err
	}
	pipe := shell.NewPipe()
	go func() { _ = db.Serve(pipe) }()
	conn, err := pipe.Connect(ctx, database, notices)
	if err != nil {
		_ = db.Close()
		return nil, nil, err
	}
	return conn, func() {
		_ = conn.Close(context.WithoutCancel(ctx))
		_ = db.Close()
	}, nil
}
