// Package cli is the command minidb, which serves, inspects and measures a minidb database: flags,
// signals and output.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/minidb/minidb/kv"
)

// command is one word after minidb.
type command struct {
	name, usage, summary string
	run                  func(ctx context.Context, c *command, args []string) error
}

var commands = []*command{
	{"serve", "[--listen ADDR] [--data DIR | --in-memory | --store URL] " +
		"[--gc-retention TIME] [--max-connections N]", "serve PostgreSQL's protocol", serve},
	{"sql", "[--data DIR | --store URL | --url URL] [-c SQL | -f FILE]",
		"a shell, also on a data directory without a server", sqlShell},
	{"sqllogictest", "[--url URL] [--label NAME] [--known FILE] [-v] PATH…",
		"run sqllogictest scripts, embedded or over the wire", sqlLogicTest},
	{"check", "--data DIR [--salvage NEWDIR] | --store URL",
		"prove that every index agrees with its table and no lock is orphaned", check},
	{"dump", "--data DIR | --store URL [--table T]",
		"print every key decoded, Percolator's columns side by side", dump},
	{"copy", "--from DIR|URL --to DIR|URL [--anew] [--hold TIME]",
		"copy a database to another store, while it is used; goes on where it was interrupted",
		copyStore},
	{"backup", "--data DIR | --store URL | --url URL --to DIR [--full] [--follow] | list | " +
		"verify | prune | key",
		"back a database up while it is used, whole or what has changed since", backUp},
	{"restore", "--from DIR --to DIR|URL [--to-time TIME | --name NAME]",
		"make a new database of a backup", restore},
	{"version", "", "print what this binary was built from", version},
	{"bench", "[--dir DIR | --store URL] [--round TIME] [--rounds N] [--only NAME] " +
		"[observers]; bench compare " +
		"[--postgres URL] [--record FILE] [--against FILE] [--plots DIR] [--growth N] …",
		"measure beside Pebble and SQLite, or what observers cost, or a --store", runBench},
}

// engines open the stores of --store.
var engines kv.Openers

// Main runs the command line of the process and ends it. The engines open stores that are named by
// a URL.
func Main(stores kv.Openers) {
	engines = stores
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string) int {
	if len(args) == 0 {
		usage(os.Stderr)
		return 2
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		usage(os.Stdout)
		return 0
	case "-version", "--version":
		args = append([]string{"version"}, args[1:]...)
	}
	for _, c := range commands {
		if c.name != args[0] {
			continue
		}
		err := c.run(ctx, c, args[1:])
		var bad usageError
		switch {
		case err == nil, errors.Is(err, flag.ErrHelp):
			return 0
		case errors.As(err, &bad):
			fmt.Fprintf(os.Stderr, "minidb %s: %v; see minidb %s --help\n", c.name, err, c.name)
			return 2
		case !errors.Is(err, errReported):
			fmt.Fprintf(os.Stderr, "minidb %s: %v\n", c.name, err)
		}
		return 1
	}
	fmt.Fprintf(os.Stderr, "minidb: there is no command %q\n\n", args[0])
	usage(os.Stderr)
	return 2
}

// quiet is the log of commands that are not servers: only what goes wrong.
func quiet() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// errReported is a failure that the command has already reported in full.
var errReported = errors.New("failed")

// usageError is a command line that makes no sense.
type usageError string

func (e usageError) Error() string { return string(e) }

func usage(w io.Writer) {
	fmt.Fprintln(w, "minidb is a NewSQL database: PostgreSQL outside, Percolator "+
		"inside.\n\nUsage: minidb COMMAND [FLAGS]\n\nCommands:")
	for _, c := range commands {
		fmt.Fprintf(w, "  %-13s %s\n", c.name, c.summary)
	}
	fmt.Fprintln(w, "\nminidb COMMAND --help lists the flags.")
}

// flags returns the command's flag set; its help goes to standard output.
func (c *command) flags() *flag.FlagSet {
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	return fs
}

// parseFlags is parse for a command without arguments.
func (c *command) parseFlags(fs *flag.FlagSet, args []string) error {
	if err := c.parse(fs, args); err != nil || fs.NArg() == 0 {
		return err
	}
	return usageError(fmt.Sprintf("unexpected argument %q", fs.Arg(0)))
}

// parse reads the flags, and prints the help when it is asked for.
func (c *command) parse(fs *flag.FlagSet, args []string) error {
	err := fs.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Printf("minidb %s: %s\n\nUsage: minidb %s %s\n\n", c.name, c.summary, c.name, c.usage)
		fs.SetOutput(os.Stdout)
		fs.PrintDefaults()
		return err
	case err != nil:
		return usageError(err.Error())
	}
	return nil
}
