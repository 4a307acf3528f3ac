package sqllogic

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// Result is what a statement answered: the last result set of its text.
type Result struct {
	Bools []bool // per column: whether it is boolean
	Rows  [][]Value
}

// Value is a value in PostgreSQL's text form.
type Value struct {
	Text string
	Null bool
}

// Conn is a database under test.
type Conn interface {
	// Run executes one statement. Errors may have a method SQLState() string.
	Run(ctx context.Context, sql string) (*Result, error)
	// Reset empties the database before a file.
	Reset(ctx context.Context) error
	Close() error
}

// Tally counts records.
type Tally struct{ Passed, Failed, Skipped int }

// Add adds another tally.
func (t *Tally) Add(u Tally) {
	t.Passed += u.Passed
	t.Failed += u.Failed
	t.Skipped += u.Skipped
}

// String is the closing line of a run.
func (t Tally) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", t.Passed, t.Failed, t.Skipped)
}

// Failure is one record that did not do what the script says.
type Failure struct {
	File      string
	Line      int
	SQL       string
	Reason    string
	Want, Got string
}

// String shows the failure with file and line first.
func (f Failure) String() string {
	s := fmt.Sprintf("%s:%d: %s\n  sql:  %s", f.File, f.Line, f.Reason, clip(f.SQL))
	if f.Want != "" || f.Got != "" {
		s += fmt.Sprintf("\n  want: %s\n  got:  %s", clip(f.Want), clip(f.Got))
	}
	return s
}

func clip(s string) string {
	const most = 600
	s = strings.ReplaceAll(s, "\n", "\n        ")
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// Runner runs scripts on one Conn.
type Runner struct {
	Conn  Conn
	Label string // what skipif and onlyif compare with
	// Known reports whether a record, by file and line, is expected to fail; it counts as skipped.
	Known func(file string, line int) bool
	// OnFailure is called for each failure that is not known; may be nil.
	OnFailure func(Failure)
}

type fileRun struct {
	*Runner
	file      string
	threshold int
	labels    map[string]string
	tally     Tally
}

// File empties the database and runs one script. The error is about the script or the database as a
// whole; failed records are in the tally.
func (r *Runner) File(ctx context.Context, path string) (Tally, error) {
	f, err := os.Open(path)
	if err != nil {
		return Tally{}, err
	}
	defer f.Close()
	records, err := Parse(f)
	if err != nil {
		return Tally{}, fmt.Errorf("%s: %w", path, err)
	}
	if err := r.Conn.Reset(ctx); err != nil {
		return Tally{}, fmt.Errorf("%s: emptying the database: %w", path, err)
	}
	run := &fileRun{Runner: r, file: path, threshold: 8, labels: map[string]string{}}
	for i := range records {
		if err := ctx.Err(); err != nil {
			return run.tally, err
		}
		if run.record(ctx, &records[i]) {
			break
		}
	}
	return run.tally, nil
}

// record runs one record and reports whether the file halts here.
func (r *fileRun) record(ctx context.Context, rec *Record) (halt bool) {
	skipped := rec.Skipped(r.Label)
	switch rec.Kind {
	case Halt:
		return !skipped
	case HashThreshold:
		if !skipped {
			r.threshold = rec.Threshold
		}
		return false
	}
	if skipped {
		r.tally.Skipped++
		return false
	}
	var fail *Failure
	if rec.Kind == Query {
		fail = r.query(ctx, rec)
	} else {
		fail = r.statement(ctx, rec)
	}
	switch {
	case fail == nil:
		r.tally.Passed++
	case r.Known != nil && r.Known(r.file, rec.Line):
		r.tally.Skipped++
	default:
		fail.File, fail.Line, fail.SQL = r.file, rec.Line, rec.SQL
		r.tally.Failed++
		if r.OnFailure != nil {
			r.OnFailure(*fail)
		}
	}
	return false
}

func (r *fileRun) statement(ctx context.Context, rec *Record) *Failure {
	_, err := r.Conn.Run(ctx, rec.SQL)
	switch {
	case err == nil && rec.WantError:
		return &Failure{Reason: "statement succeeded, an error was expected"}
	case err != nil && !rec.WantError:
		return &Failure{Reason: "statement failed: " + describe(err)}
	case err != nil && rec.Code != "" && Code(err) != rec.Code:
		return &Failure{Reason: "statement failed with another code", Want: rec.Code,
			Got: describe(err)}
	}
	return nil
}

var hashLine = regexp.MustCompile(`^\d+ values hashing to [0-9a-f]{32}$`)

func (r *fileRun) query(ctx context.Context, rec *Record) *Failure {
	want := strings.Join(rec.Want, "\n")
	res, err := r.Conn.Run(ctx, rec.SQL)
	if err != nil {
		return &Failure{Reason: "query failed: " + describe(err), Want: want}
	}
	if len(res.Bools) != len(rec.Types) && len(res.Rows) > 0 {
		return &Failure{Reason: "wrong number of columns", Want: rec.Types,
			Got: strconv.Itoa(len(res.Bools))}
	}
	vals := make([]string, 0, len(res.Rows)*len(rec.Types))
	for _, row := range res.Rows {
		for i, v := range row {
			vals = append(vals, render(v.Text, v.Null, res.Bools[i], rec.Types[i]))
		}
	}
	sortValues(vals, len(rec.Types), rec.Sort)
	hashed := len(rec.Want) == 1 && hashLine.MatchString(rec.Want[0])
	hash := ""
	if hashed || rec.Label != "" || r.threshold > 0 && len(vals) > r.threshold {
		hash = hashValues(vals)
	}
	if rec.Label != "" {
		if old, ok := r.labels[rec.Label]; ok && old != hash {
			return &Failure{Reason: "another result than an earlier query with this label",
				Want: want, Got: strings.Join(vals, "\n")}
		}
		r.labels[rec.Label] = hash
	}
	got := strings.Join(vals, "\n")
	if hashed || r.threshold > 0 && len(vals) > r.threshold {
		got = fmt.Sprintf("%d values hashing to %s", len(vals), hash)
	}
	if got != want {
		return &Failure{Reason: "wrong result (" + rec.Types + " " + rec.Sort + ")", Want: want,
			Got: got}
	}
	return nil
}

// Code is the SQLSTATE of an error, or "".
func Code(err error) string {
	var coded interface{ SQLState() string }
	if errors.As(err, &coded) {
		return coded.SQLState()
	}
	return ""
}

func describe(err error) string {
	if code := Code(err); code != "" {
		return code + " " + err.Error()
	}
	return err.Error()
}
