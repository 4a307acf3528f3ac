package ddl

import (
	"context"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/bind"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// newViewOptions returns the options of a new view as pg_class shows them.
func newViewOptions(s *ast.CreateView) ([]string, error) {
	out, err := setViewOptions(nil, s.Options)
	if err == nil && s.CheckOption != "" {
		if hasOption(out, "check_option") {
			return nil, twice("check_option")
		}
		out = append(out, "check_option="+s.CheckOption)
	}
	return out, err
}

// setViewOptions adds options to those that a view has, or replaces them.
func setViewOptions(have []string, opts []ast.Option) ([]string, error) {
	out := slices.Clone(have)
	var given []string
	for _, o := range opts {
		value, err := viewOption(o)
		if err != nil {
			return nil, err
		}
		if slices.Contains(given, o.Name) {
			return nil, twice(o.Name)
		}
		given = append(given, o.Name)
		out = append(withoutOption(out, o.Name), o.Name+"="+value)
	}
	return out, nil
}

// viewOption returns the value of an option of a view.
func viewOption(o ast.Option) (string, error) {
	switch o.Name {
	case "check_option":
		if v := strings.ToLower(o.Value); v != "local" && v != "cascaded" {
			return "", sqlerr.New(sqlerr.InvalidParameterValue,
				"invalid value for enum option \"check_option\": %s", o.Value).
				WithDetail("Valid values are \"local\" and \"cascaded\".")
		}
		return o.Value, nil
	case "security_barrier", "security_invoker":
		value := o.Value
		if value == "" {
			value = "true"
		}
		if _, ok := types.ParseBool(value); !ok {
			return "", sqlerr.New(sqlerr.InvalidParameterValue,
				"invalid value for boolean option \"%s\": %s", o.Name, o.Value)
		}
		return value, nil
	}
	return "", sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized parameter \"%s\"", o.Name)
}

func twice(name string) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "parameter \"%s\" specified more than once",
		name)
}

func hasOption(list []string, name string) bool {
	return len(withoutOption(list, name)) < len(list)
}

func withoutOption(list []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(list),
		func(o string) bool { return strings.HasPrefix(o, name+"=") })
}

// mayCheck refuses CHECK OPTION on a view that is not updatable.
func (env *Env) mayCheck(ctx context.Context, d *table.Desc) error {
	if d.CheckOption() == "" {
		return nil
	}
	reason, err := bind.NotUpdatable(ctx, env.Planner, d)
	if err != nil || reason == "" {
		return err
	}
	return sqlerr.New(sqlerr.FeatureNotSupported,
		"WITH CHECK OPTION is supported only on automatically updatable views").
		WithHint("%s", reason)
}

// setViewOptions is ALTER VIEW … SET and RESET.
func (a *alteration) setViewOptions(ctx context.Context, act *ast.AlterAction) error {
	next := a.d.Clone()
	if act.Kind == "reset options" {
		for _, o := range act.Options {
			next.Options = withoutOption(next.Options, o.Name)
		}
	} else {
		var err error
		if next.Options, err = setViewOptions(next.Options, act.Options); err != nil {
			return err
		}
		if err := a.env.mayCheck(ctx, next); err != nil {
			return err
		}
	}
	return a.update(ctx, next)
}
