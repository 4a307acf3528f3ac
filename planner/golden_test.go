package planner_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/planner/bind"
	"github.com/minidb/minidb/planner/choose"
	"github.com/minidb/minidb/planner/estimate"
	"github.com/minidb/minidb/planner/explain"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/planner/rule"
	"github.com/minidb/minidb/sql/parse"
)

// TestPlans runs the scripts in the testdata of the planner's phases. Commands:
//
//	ddl                       CREATE TABLE, INDEX and VIEW statements
//	stats                     statistics of tables, see know
//	plan [expect=R] [refuse=R]  the plan of a statement; rule R must, or must not, have fired
//	types                     names and types of the result columns, and of the parameters
//	error                     the error of a statement
func TestPlans(t *testing.T) {
	seen := map[string]bool{}
	for _, phase := range []string{"bind", "rule", "choose", "estimate"} {
		datadriven.Walk(t, phase+"/testdata", func(t *testing.T, path string) {
			if strings.HasSuffix(path, ".patch") {
				return // a mutant
			}
			s := newSchema()
			s.seen = seen
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				return s.run(t, d)
			})
		})
	}
	for _, r := range rule.Rules {
		require.True(t, seen["expect="+r.Name], "no script shows %s fire", r.Name)
		require.True(t, seen["refuse="+r.Name], "no script shows %s refuse", r.Name)
	}
}

func (s *schema) run(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "ddl":
		s.define(t, d.Input)
		return ""
	case "stats":
		s.know(t, d.Input)
		return ""
	case "plan":
		plan, fired, err := s.plan(d.Input)
		if err != nil {
			return "error: " + errorText(err) + "\n"
		}
		for _, arg := range d.CmdArgs {
			for _, name := range arg.Vals {
				s.seen[arg.Key+"="+name] = true
				switch arg.Key {
				case "expect":
					require.Positive(t, fired[name], "%s: %s did not fire: %v", d.Pos, name, fired)
				case "refuse":
					require.Zero(t, fired[name], "%s: %s fired", d.Pos, name)
				}
			}
		}
		return strings.Join(explain.Describe(plan, explain.Options{HideCosts: true}).Text(), "\n") +
			"\n"
	case "types":
		plan, _, err := s.plan(d.Input)
		if err != nil {
			return "error: " + errorText(err) + "\n"
		}
		return typesText(plan)
	case "error":
		_, _, err := s.plan(d.Input)
		if err == nil {
			return "no error\n"
		}
		return errorText(err) + "\n"
	}
	t.Fatalf("%s: unknown command %s", d.Pos, d.Cmd)
	return ""
}

// plan is planner.Plan and returns how often each rule fired.
func (s *schema) plan(text string) (*physical.Plan, map[string]int, error) {
	p, err := parse.ParseOne(context.Background(), text)
	if err != nil {
		return nil, nil, err
	}
	ctx := context.Background()
	bound, err := bind.Statement(ctx, s.env(), p.Stmt, nil)
	if err != nil {
		return nil, nil, err
	}
	est := estimate.New(ctx, s.env(), bound.Meta)
	rc := &rule.Context{Meta: bound.Meta, Estimator: est, Fired: map[string]int{}}
	if err := rule.Apply(rc, bound.Query); err != nil {
		return nil, nil, err
	}
	plan, err := choose.Plan(ctx, s.env().Costs, est, bound)
	if again, perr := parse.ParseOne(context.Background(), text); perr != nil ||
		!reflect.DeepEqual(again, p) {
		panic("planning has changed the tree, which sessions share: " + text)
	}
	return plan, rc.Fired, err
}

func typesText(plan *physical.Plan) string {
	var b strings.Builder
	for _, c := range plan.Root.Columns() {
		b.WriteString(c.Name + " " + c.Type.String() + "\n")
	}
	for i, t := range plan.ParamTypes {
		b.WriteString("$" + string(rune('1'+i)) + " " + t.String() + "\n")
	}
	return b.String()
}
