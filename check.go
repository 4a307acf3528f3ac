package minidb

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
)

// CheckReport receives what CheckEach finds. Its functions may be nil.
type CheckReport struct {
	// Problem is called with a line for each problem.
	Problem func(line string)
	// Note is called with a line for each incremental view that was not compared with its query,
	// since it is broken, was never filled, or is to be computed anew.
	Note func(line string)
	// Progress is called behind each file with how many bytes of files are verified, of how many.
	Progress func(done, total int64)
	// Read is called behind each million rows and index entries that were read after that, with the
	// table that is being read and the number of all so far.
	Read func(table string, keys int64)
}

// keysPerReport is how many keys CheckEach reads between two calls of CheckReport.Read.
const keysPerReport = 1_000_000

// Check proves that every block of every table file has its checksum, that every index entry has
// its row and every row its index entries, that no lock is left by a dead transaction, and that
// incremental views have the rows of their queries at the timestamps up to which they have followed
// their tables. It returns a line for each problem; none is what it should find. An error, for
// which errors.Is(err, kv.ErrCorruption) holds where rows cannot be read, ends it; the problems
// found before are returned too.
func (db *DB) Check(ctx context.Context) (problems []string, err error) {
	err = db.CheckEach(ctx, CheckReport{Problem: func(
		line string) {
		problems = append(problems, line)
	}})
	return problems, err
}

// CheckEach is Check, and reports each problem when it is found.
func (db *DB) CheckEach(ctx context.Context, report CheckReport) error {
	if report.Problem == nil {
		report.Problem = func(string) {}
	}
	if report.Note == nil {
		report.Note = func(string) {}
	}
	err := kv.Verify(ctx, db.engine, kv.VerifyReport{
		Damaged:  func(err *kv.CorruptionError) { report.Problem(db.damagedFile(ctx, err)) },
		Progress: report.Progress,
	})
	if err != nil {
		return fmt.Errorf("minidb: check: %w", err)
	}
	found := false
	err = catalog.CheckWithProgress(ctx, db.store, catalog.Report{
		Problem: func(p catalog.Problem) {
			found = true
			report.Problem(p.String())
		},
		Progress: report.Read,
		Every:    keysPerReport,
		With:     []catalog.Option{catalog.WithPrograms(sql.Programs())},
	})
	if err != nil || found { // views over damaged tables say nothing new
		return err
	}
	return db.checkViews(ctx, report)
}

// checkViews compares the incremental views of all databases with their queries.
func (db *DB) checkViews(ctx context.Context, report CheckReport) error {
	tx, err := db.store.Begin(ctx, txn.BeginOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	databases, err := db.catalog.View(tx).Databases(ctx)
	if rerr := tx.Rollback(ctx); err == nil {
		err = rerr
	}
	for _, d := range databases {
		if err != nil {
			return err
		}
		err = db.checkViewsOf(ctx, d.Name, report)
	}
	return err
}

func (db *DB) checkViewsOf(ctx context.Context, database string, report CheckReport) error {
	s, err := db.sql.NewSession(ctx, sql.SessionOptions{Database: database, Embedded: true,
		Settings: sql.MaintainerSettings()})
	if err != nil {
		return err
	}
	defer s.Close(ctx)
	return s.CheckViews(ctx, sql.ViewReport{
		Problem: func(view, what string) { report.Problem(view + ": " + what) },
		Left: func(view, why string) {
			report.Note(view + " is not compared with its query: " + why)
		},
	})
}

// damagedFile is the line about a damaged part of a file.
func (db *DB) damagedFile(ctx context.Context, damage *kv.CorruptionError) string {
	names, err := db.namesIn(ctx, []kv.Span{damage.Bound})
	where := strings.Join(names, ", ")
	switch {
	case errors.Is(err, kv.ErrCorruption):
		where = "unknown, for the schema cannot be read"
	case err != nil:
		where = "unknown: " + err.Error()
	case where == "":
		where = "no table"
	}
	return fmt.Sprintf("%s: %s; it affects %s; %s", damage.File, damage.What, where, whatToDo)
}
