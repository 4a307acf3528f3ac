package interpreter

import (
	"context"
	"errors"
	"fmt"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/sql/plpgsql"
	"github.com/minidb/minidb/table/types"
)

// interpreter is a run of a program. It belongs to one goroutine.
type interpreter struct {
	host    Host
	program *plpgsql.Program
	// values and types are those of the variables, by number. A type is that of the variable, or of
	// the row that a record holds: nil before one is assigned.
	values []types.Datum
	types  []*types.Type
	sizes  []int64 // of large values, that are counted
	// queries are by number; nil before the first use.
	queries []*query
	// generation counts the statements, each of which may change the schema and the settings.
	generation int
	runtime    *expr.Runtime
	runtimeOf  int // the generation for which it was made
	eval       eval.Context
	processed  int64  // ROW_COUNT
	handled    *fault // the error of the innermost handler that runs
	steps      int
	// during is what the context of errors says instead of the statement's name.
	during string
}

// flow is how a statement ends.
type flow struct {
	kind  flowKind
	label string // of EXIT and CONTINUE
}

type flowKind uint8

const (
	onward flowKind = iota
	exiting
	continuing
	returning
)

// fault is an error whose context names the statement in which it happened.
type fault struct{ err *sqlerr.Error }

func (f *fault) Error() string { return f.err.Error() }

func (f *fault) Unwrap() error { return f.err }

// Run runs a program.
func Run(ctx context.Context, host Host, program *plpgsql.Program) error {
	n := len(program.Variables)
	x := &interpreter{host: host, program: program, values: make([]types.Datum, n),
		types: make([]*types.Type, n), sizes: make([]int64, n),
		queries: make([]*query, program.Queries), runtimeOf: -1}
	for i, v := range program.Variables {
		x.values[i] = types.Null
		if !isRecord(v) {
			x.types[i] = v.Type
		}
	}
	defer x.release()
	x.setFound(false)
	_, err := x.statement(ctx, program.Body)
	var f *fault
	if errors.As(err, &f) {
		return f.err
	}
	return err
}

// isRecord reports whether a variable takes the type of what is assigned to it.
func isRecord(v *plpgsql.Variable) bool { return v.Type == types.TRecord }

func (x *interpreter) setFound(found bool) {
	x.values[x.program.Found.Number] = types.NewBool(found)
}

// stepsPerLook is how many steps pass between two looks at the context: a step takes less than a
// few microseconds, or looks by itself.
const stepsPerLook = 64

// step counts a statement or an iteration.
func (x *interpreter) step(ctx context.Context) error {
	if x.steps++; x.steps < stepsPerLook {
		return nil
	}
	x.steps = 0
	return ctx.Err()
}

// statements runs a list.
func (x *interpreter) statements(ctx context.Context, list []plpgsql.Statement) (flow, error) {
	for _, s := range list {
		if out, err := x.statement(ctx, s); err != nil || out.kind != onward {
			return out, err
		}
	}
	return flow{}, nil
}

// statement runs a statement, and adds it to the context of its error.
func (x *interpreter) statement(ctx context.Context, s plpgsql.Statement) (flow, error) {
	err := x.step(ctx)
	var out flow
	if err == nil {
		out, err = x.run(ctx, s)
	}
	if err != nil {
		err = x.place(ctx, err, s.At(), s.Kind())
	}
	return out, err
}

// place adds the place in the program to an error that has none yet.
func (x *interpreter) place(ctx context.Context, err error, line int, what string) error {
	var f *fault
	if errors.As(err, &f) {
		return err
	}
	if x.during != "" {
		what, x.during = x.during, ""
	} else {
		what = "at " + what
	}
	e := *x.host.Fault(ctx, err)
	addContext(&e, "PL/pgSQL function %s line %d %s", x.program.Name, line, what)
	return &fault{&e}
}

func addContext(e *sqlerr.Error, format string, args ...any) {
	if e.Context != "" {
		e.Context += "\n"
	}
	e.Context += fmt.Sprintf(format, args...)
}

// run runs a statement by its kind.
func (x *interpreter) run(ctx context.Context, s plpgsql.Statement) (flow, error) {
	switch s := s.(type) {
	case *plpgsql.Block:
		return x.block(ctx, s)
	case *plpgsql.Assign:
		return flow{}, x.assignment(ctx, s)
	case *plpgsql.If:
		return x.ifStatement(ctx, s)
	case *plpgsql.Case:
		return x.caseStatement(ctx, s)
	case *plpgsql.Loop:
		return x.loop(ctx, s)
	case *plpgsql.ForInteger:
		return x.forInteger(ctx, s)
	case *plpgsql.ForQuery:
		return x.forQuery(ctx, s)
	case *plpgsql.ForEach:
		return x.forEach(ctx, s)
	case *plpgsql.Exit:
		return x.exit(ctx, s)
	case *plpgsql.Return:
		return flow{kind: returning}, nil
	case *plpgsql.Raise:
		return flow{}, x.raise(ctx, s)
	case *plpgsql.Assert:
		return flow{}, x.assert(ctx, s)
	case *plpgsql.Execute:
		return flow{}, x.execute(ctx, s)
	case *plpgsql.Dynamic:
		return flow{}, x.dynamic(ctx, s)
	case *plpgsql.Diagnostics:
		return flow{}, x.diagnostics(ctx, s)
	case *plpgsql.Open:
		return flow{}, x.open(ctx, s)
	case *plpgsql.Fetch:
		return flow{}, x.fetch(ctx, s)
	case *plpgsql.Close:
		return flow{}, x.close(s)
	}
	return flow{}, sqlerr.New(sqlerr.InternalError, "statement %T cannot be run", s)
}
