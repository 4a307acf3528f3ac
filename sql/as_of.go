package sql

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn/tso"
)

// readPast makes the present transaction read the database as it was at the moment of a, its schema
// included. The transaction becomes read-only, whatever its isolation level. It must not have read
// anything yet.
func (s *planRunner) readPast(ctx context.Context, a *ast.AsOf, with arguments) error {
	if s.tx.ran || s.tx.asOf != 0 || len(s.tx.savepoints) > 0 {
		return sqlerr.New(sqlerr.ActiveSQLTransaction,
			"AS OF SYSTEM TIME must be set before any query").At(int(a.Pos))
	}
	ts, err := s.timestampOf(ctx, a, with)
	if err != nil {
		return withPosition(err, a.Pos)
	}
	if err := s.dropSnapshot(ctx); err != nil {
		return err
	}
	s.tx.asOf, s.tx.readOnly = ts, true
	return nil
}

// analysePast calls analyse with the schema of a moment, and then drops the transaction's snapshot:
// the execution of the statement decides what the transaction reads. If the transaction has read
// already, analyse sees the transaction's schema; if parameters give the moment, the present one.
func (s *planRunner) analysePast(ctx context.Context, a *ast.AsOf, analyse func() error) error {
	if a.Params || s.tx.ran || s.tx.asOf != 0 || len(s.tx.savepoints) > 0 {
		return analyse()
	}
	if s.tx.state == idle {
		s.start(inImplicit)
	}
	readOnly := s.tx.readOnly
	if err := s.readPast(ctx, a, arguments{}); err != nil {
		return err
	}
	err := s.ensure(ctx)
	if err == nil {
		err = analyse()
	}
	if derr := s.dropSnapshot(ctx); err == nil {
		err = derr
	}
	s.tx.asOf, s.tx.readOnly = 0, readOnly
	return err
}

// withMoment adds the moment to an error about a name that did not exist at it.
func (s *transactor) withMoment(err error) error {
	var se *sqlerr.Error
	if s.tx.asOf == 0 || !errors.As(err, &se) || se.Detail != "" {
		return err
	}
	switch se.Code {
	case sqlerr.UndefinedTable, sqlerr.UndefinedColumn, sqlerr.InvalidSchemaName:
		return se.WithDetail("The query reads the database as it was at %s.",
			s.tx.asOf.Moment())
	}
	return err
}

// moment is a time, or exactly a timestamp of the store.
type moment struct {
	at time.Time
	ts tso.Timestamp // zero: use at
}

// timestampOf returns the timestamp of a moment. For a time that is the last timestamp of its
// millisecond, as far as it is past.
func (s *planRunner) timestampOf(ctx context.Context, a *ast.AsOf, with arguments) (tso.Timestamp,
	error) {
	now, err := s.engine.store.Now(ctx)
	if err != nil {
		return 0, err
	}
	m, err := s.momentOf(ctx, a, with, now.Time())
	if err != nil {
		return 0, err
	}
	ts := m.ts
	if ts == 0 {
		ts = min(tso.New(min(max(m.at.UnixMilli(), 0), now.Physical())+1, 0)-1, now)
	}
	switch point := s.engine.store.Safepoint(); {
	case ts > now, m.at.After(now.Time()):
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "AS OF SYSTEM TIME: %s is in the future",
			a.Text).At(int(a.Pos))
	case ts < point:
		return 0, sqlerr.New(sqlerr.InvalidParameterValue,
			"AS OF SYSTEM TIME: %s is before the oldest time that is kept", a.Text).
			At(int(a.Pos)).WithDetail("Versions before %s may have been collected.",
			point.Moment()).
			WithHint("How long versions are kept is set by minidb serve --gc-retention.")
	}
	return ts, nil
}

// momentOf evaluates a moment: a time, an interval that counts from now, or a bigint, which is a
// timestamp as minidb_snapshot_timestamp() and minidb_last_commit_timestamp() give it.
func (s *planRunner) momentOf(ctx context.Context, a *ast.AsOf, with arguments,
	now time.Time) (m moment, err error) {
	if lit, ok := a.Moment.(*ast.Literal); ok && lit.Kind == ast.LiteralString {
		m.at, err = s.momentText(lit.Text, now)
		return m, err
	}
	if err := s.ensure(ctx); err != nil { // names of types and functions
		return m, err
	}
	env := s.plannerEnv(ctx)
	e, err := planner.BindMoment(ctx, env, a.Moment, nil, with.types)
	if err != nil {
		return m, err
	}
	if expr.VolatilityOf(e) == expr.Volatile {
		return m, sqlerr.New(sqlerr.FeatureNotSupported,
			"AS OF SYSTEM TIME: only constant expressions are supported")
	}
	t := e.Type()
	exact := t.OID == types.OIDInt8
	if t.OID != types.OIDInterval && t.OID != types.OIDText && !exact {
		if e, err = planner.BindMoment(ctx, env, a.Moment, types.TTimestampTZ,
			with.types); err != nil {
			return m, err
		}
	}
	program, err := eval.Compile(e)
	if err != nil {
		return m, err
	}
	d, err := program.EvalRow(&eval.Context{Runtime: env.Runtime, Params: with.values}, nil)
	switch {
	case err != nil:
		return m, err
	case d.Null:
		return m, sqlerr.New(sqlerr.InvalidParameterValue, "AS OF SYSTEM TIME: %s is null", a.Text)
	case exact && d.I <= 0:
		return m, sqlerr.New(sqlerr.InvalidParameterValue,
			"AS OF SYSTEM TIME: %s is not a timestamp", a.Text)
	}
	return s.momentFrom(t.OID, d, now)
}

// momentFrom converts a value of type bigint, interval or text, or else timestamptz.
func (s *planRunner) momentFrom(t types.OID, d types.Datum, now time.Time) (m moment, err error) {
	switch t {
	case types.OIDInt8:
		m.ts = tso.Timestamp(d.I)
	case types.OIDInterval:
		m.at = since(now, d.Iv)
	case types.OIDText:
		m.at, err = s.momentText(d.S, now)
	default:
		m.at = timeOf(d.I)
	}
	return m, err
}

// momentText reads an interval back from now, or a timestamp with time zone.
func (s *planRunner) momentText(text string, now time.Time) (time.Time, error) {
	format := s.settings.Derived().Format
	if text = strings.TrimSpace(text); strings.HasPrefix(text, "-") {
		iv, err := types.ParseText(types.TInterval, text, &format)
		return since(now, iv.Iv), err
	}
	micros, err := types.ParseTimestampTZ(text, -1, &format)
	return timeOf(micros), err
}

func since(now time.Time, iv types.IntervalValue) time.Time {
	return now.AddDate(0, int(iv.Months),
		int(iv.Days)).Add(time.Duration(iv.Micros) * time.Microsecond)
}

// timeOf is the time of a timestamptz, which counts from the year 2000.
func timeOf(micros int64) time.Time {
	const epoch = 946_684_800_000_000
	return time.UnixMicro(min(max(micros, -1<<62), 1<<62) + epoch)
}
