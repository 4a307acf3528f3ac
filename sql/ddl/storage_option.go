package ddl

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
)

// Storage parameters are hints to PostgreSQL's own storage and to its autovacuum. They are verified
// as there, kept, shown in pg_class.reloptions and dumped; nothing here obeys them.

// storageOption is what a storage parameter may be: a number between bounds, a truth value (Max is
// NaN), or one of some words.
type storageOption struct {
	min, max float64
	real     bool
	words    []string
}

func whole(low, high float64) storageOption { return storageOption{min: low, max: high} }

func real(low, high float64) storageOption { return storageOption{min: low, max: high, real: true} }

var (
	truth    = storageOption{max: math.NaN()}
	anyCount = whole(0, math.MaxInt32)
)

// vacuumOptions are those of tables and of their TOAST tables, which go by the name toast.
var vacuumOptions = map[string]storageOption{
	"autovacuum_enabled":                    truth,
	"vacuum_truncate":                       truth,
	"vacuum_index_cleanup":                  {words: []string{"auto", "on", "off"}},
	"autovacuum_vacuum_threshold":           anyCount,
	"autovacuum_vacuum_insert_threshold":    whole(-1, math.MaxInt32),
	"autovacuum_vacuum_cost_limit":          whole(1, 10000),
	"autovacuum_freeze_min_age":             whole(0, 1e9),
	"autovacuum_multixact_freeze_min_age":   whole(0, 1e9),
	"autovacuum_freeze_max_age":             whole(100000, 2e9),
	"autovacuum_multixact_freeze_max_age":   whole(10000, 2e9),
	"autovacuum_freeze_table_age":           whole(0, 2e9),
	"autovacuum_multixact_freeze_table_age": whole(0, 2e9),
	"log_autovacuum_min_duration":           whole(-1, math.MaxInt32),
	"autovacuum_vacuum_cost_delay":          real(-1, 100),
	"autovacuum_vacuum_scale_factor":        real(0, 100),
	"autovacuum_vacuum_insert_scale_factor": real(0, 100),
}

// tableOptions are those of tables alone.
var tableOptions = map[string]storageOption{
	"fillfactor":                      whole(10, 100),
	"toast_tuple_target":              whole(128, 8160),
	"parallel_workers":                whole(0, 1024),
	"user_catalog_table":              truth,
	"autovacuum_analyze_threshold":    anyCount,
	"autovacuum_analyze_scale_factor": real(0, 100),
}

// verifyTableOption verifies a storage parameter of a table.
func verifyTableOption(o *ast.Option) error {
	if what, found := vacuumOptions[o.Name]; found {
		return what.verify(o)
	}
	return verifyIn(tableOptions, o)
}

func verifyIn(options map[string]storageOption, o *ast.Option) error {
	what, found := options[o.Name]
	if !found {
		return unknownParameter(o.Name)
	}
	return what.verify(o)
}

func (s storageOption) verify(o *ast.Option) error {
	invalid := func(kind string) error {
		return sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for %s option \"%s\": %s",
			kind, o.Name, o.Value)
	}
	switch {
	case s.words != nil:
		return s.verifyWord(o)
	case math.IsNaN(s.max):
		_, err := boolOption(*o)
		return err
	}
	kind, format := "integer", "%.0f"
	v, err := strconv.ParseFloat(o.Value, 64)
	if s.real {
		kind, format = "floating point", "%f"
	} else if err == nil && v != math.Trunc(v) {
		return invalid(kind)
	}
	if err != nil {
		return invalid(kind)
	}
	if v < s.min || v > s.max {
		return sqlerr.New(sqlerr.InvalidParameterValue, "value %s out of bounds for option \"%s\"",
			o.Value, o.Name).WithDetail("Valid values are between \"%s\" and \"%s\".",
			fmt.Sprintf(format, s.min), fmt.Sprintf(format, s.max))
	}
	return nil
}

func (s storageOption) verifyWord(o *ast.Option) error {
	value := strings.ToLower(o.Value)
	if _, err := boolOption(*o); err == nil {
		return nil
	}
	for _, w := range s.words {
		if w == value {
			return nil
		}
	}
	return sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for enum option \"%s\": %s",
		o.Name, o.Value).WithDetail("Valid values are \"on\", \"off\", and \"auto\".")
}

// tableParameters verifies the storage parameters that a table is created with, and returns them as
// pg_class shows them.
func tableParameters(opts []ast.Option) ([]string, error) {
	var others []ast.Option
	for _, o := range opts {
		if o.Name != "oids" {
			others = append(others, o)
		} else if on, err := boolOption(o); err != nil || on {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported,
				"tables declared WITH OIDS are not supported")
		}
	}
	return changedParameters(nil, others, false)
}

// changedParameters returns parameters after SET ( … ) and RESET ( … ). Those of the TOAST table
// are verified only: there is none that could show them.
func changedParameters(old []string, opts []ast.Option, reset bool) ([]string, error) {
	var own, toast []ast.Option
	for _, o := range opts {
		space, name, qualified := strings.Cut(o.Name, ".")
		switch {
		case !qualified:
			own = append(own, o)
		case space == "toast":
			o.Name = name
			toast = append(toast, o)
		default:
			return nil, sqlerr.New(sqlerr.InvalidParameterValue,
				"unrecognized parameter namespace \"%s\"", space)
		}
	}
	if err := onceEach(own); err != nil {
		return nil, err
	}
	if _, err := mergeOptions(nil, toast, reset, func(o *ast.Option) error {
		return verifyIn(vacuumOptions, o)
	}); err != nil {
		return nil, err
	}
	return mergeOptions(old, own, reset, verifyTableOption)
}

func onceEach(opts []ast.Option) error {
	seen := map[string]bool{}
	for _, o := range opts {
		if seen[o.Name] {
			return sqlerr.New(sqlerr.InvalidParameterValue,
				"parameter \"%s\" specified more than once", o.Name)
		}
		seen[o.Name] = true
	}
	return nil
}

// setOptions is ALTER TABLE … SET ( … ) and RESET ( … ).
func (a *alteration) setOptions(ctx context.Context, act *ast.AlterAction) error {
	opts, reset := act.Options, act.Kind == "reset options"
	if a.d.Kind == table.KindMaterializedView {
		if err := alterViewOptions(a.d, opts, reset); err != nil {
			return err
		}
		_, opts = splitIncremental(opts)
	}
	next := a.d.Clone()
	var err error
	if next.Options, err = changedParameters(a.d.Options, opts, reset); err != nil {
		return err
	}
	return a.relabel(ctx, next)
}

// optionsOf returns kept parameters as a statement gives them.
func optionsOf(kept []string) (opts []ast.Option) {
	for _, o := range kept {
		name, value, _ := strings.Cut(o, "=")
		opts = append(opts, ast.Option{Name: name, Value: value})
	}
	return opts
}
