package compare

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// side is one of two servers: a database of its own there, and a session for statements.
type side struct {
	name, url string
	*pgconn.PgConn
	admin string // URL of the database from which this one was made
	made  string // its name
}

// serve starts minidb on a new directory, with its defaults but for the flags, and returns its
// URL.
func serve(ctx context.Context, program, dir string, flags ...string) (at string,
	stop func() error, err error) {
	c := exec.CommandContext(ctx, program, append([]string{"serve", "--data", dir, "--listen",
		"127.0.0.1:0"}, flags...)...)
	c.Stderr = os.Stderr
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	out, err := c.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := c.Start(); err != nil {
		return "", nil, err
	}
	stop = func() error {
		return errors.Join(c.Process.Signal(syscall.SIGTERM), c.Wait())
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if m := greeting.FindStringSubmatch(lines.Text()); m != nil {
			return "postgres://postgres@127.0.0.1:" + m[1] + "/postgres?sslmode=disable", stop, nil
		}
	}
	return "", nil, errors.Join(fmt.Errorf("%s serve did not say its port", program), stop())
}

var greeting = regexp.MustCompile(`minidb is ready: .*-p (\d+) `)

// newSide makes a database on a server and connects to it.
func newSide(ctx context.Context, name, admin string) (*side, error) {
	pg, err := pgconn.Connect(ctx, admin)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s := &side{name: name, admin: admin, made: fmt.Sprintf("minidb_compare_%d", os.Getpid())}
	_, err = pg.Exec(ctx, "CREATE DATABASE "+s.made).ReadAll()
	if err = errors.Join(err, pg.Close(ctx)); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	u, err := url.Parse(admin)
	if err == nil {
		u.Path = "/" + s.made
		s.url = u.String()
		s.PgConn, err = pgconn.Connect(ctx, s.url)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), s.drop(ctx))
	}
	return s, nil
}

// drop removes the database.
func (s *side) drop(ctx context.Context) error {
	var err error
	if s.PgConn != nil {
		err = s.Close(ctx)
	}
	pg, failed := pgconn.Connect(ctx, s.admin)
	if failed != nil {
		return errors.Join(err, failed)
	}
	var dropped error
	for range 100 { // what has just closed its connection may still count as connected
		_, dropped = pg.Exec(ctx, "DROP DATABASE "+s.made).ReadAll()
		var e *pgconn.PgError
		if !errors.As(dropped, &e) || e.Code != objectInUse {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return errors.Join(err, dropped, pg.Close(ctx))
}

// objectInUse is the code of an error about a database with connections.
const objectInUse = "55006"

// exec runs statements, each by itself.
func (s *side) exec(ctx context.Context, statements ...string) error {
	for _, sql := range statements {
		if _, err := s.Exec(ctx, sql).ReadAll(); err != nil {
			return fmt.Errorf("%s: %s: %w", s.name, sql, err)
		}
	}
	return nil
}

// answer runs a statement and returns its rows as text.
func (s *side) answer(ctx context.Context, sql string) (string, error) {
	results, err := s.Exec(ctx, sql).ReadAll()
	if err != nil {
		return "", fmt.Errorf("%s: %s: %w", s.name, sql, err)
	}
	var b strings.Builder
	for _, r := range results {
		for _, row := range r.Rows {
			for _, v := range row {
				fmt.Fprintf(&b, "%s|", v)
			}
			b.WriteByte('\n')
		}
	}
	return b.String(), nil
}

// shown are the settings that both sides are measured with.
var shown = []string{"shared_buffers", "work_mem", "max_parallel_workers_per_gather", "fsync",
	"synchronous_commit", "default_transaction_isolation"}

// settings describes a side in one line.
func (s *side) settings(ctx context.Context) (string, error) {
	v, err := s.answer(ctx, "SELECT version()")
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(v), "|"), " on ")
	for _, name := range shown {
		set, err := s.answer(ctx, "SELECT current_setting('"+name+"', true)")
		if err != nil {
			return "", err
		}
		if set = strings.Trim(strings.TrimSpace(set), "|"); set != "" {
			line += ", " + name + " " + set
		}
	}
	return line, nil
}
