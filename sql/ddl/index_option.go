package ddl

import (
	"slices"
	"strconv"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// indexOption is a storage parameter of an access method: a number within bounds, one of some
// words, or a boolean. This store has no use for any of them; it keeps them so that a dump of
// the schema has them.
type indexOption struct {
	name     string
	low, top int
	words    []string
	valid    string // words, as details of errors list them
}

var fillFactor = indexOption{name: "fillfactor", low: 10, top: 100}

// indexOptions are the storage parameters of the access methods.
var indexOptions = map[string][]indexOption{
	"btree": {fillFactor, {name: "deduplicate_items"}},
	"hash":  {fillFactor},
	"gist": {fillFactor, {name: "buffering", words: []string{"on", "off", "auto"},
		valid: `"on", "off", and "auto"`}},
	"spgist": {fillFactor},
	"gin": {{name: "fastupdate"},
		{name: "gin_pending_list_limit", low: 64, top: 2147483647}},
	"brin": {{name: "pages_per_range", low: 1, top: 131072}, {name: "autosummarize"}},
}

// setIndexOptions adds storage parameters to those of an index, in place of earlier ones of the
// same names.
func setIndexOptions(method string, have []string, set []ast.Option) ([]string, error) {
	if method == "" {
		method = "btree"
	}
	out := resetIndexOptions(have, set)
	for i, o := range set {
		known := slices.IndexFunc(indexOptions[method],
			func(k indexOption) bool { return k.name == o.Name })
		if known < 0 {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized parameter \"%s\"",
				o.Name)
		}
		if slices.ContainsFunc(set[:i], func(e ast.Option) bool { return e.Name == o.Name }) {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue,
				"parameter \"%s\" specified more than once", o.Name)
		}
		value := o.Value
		if value == "" {
			value = "true"
		}
		if err := indexOptions[method][known].check(value); err != nil {
			return nil, err
		}
		out = append(out, o.Name+"="+value)
	}
	return out, nil
}

// resetIndexOptions returns the storage parameters of an index without those named.
func resetIndexOptions(have []string, names []ast.Option) []string {
	return slices.DeleteFunc(slices.Clone(have), func(s string) bool {
		name, _, _ := strings.Cut(s, "=")
		return slices.ContainsFunc(names, func(o ast.Option) bool { return o.Name == name })
	})
}

// check fails unless the parameter may have a value.
func (o *indexOption) check(value string) error {
	invalid := func(kind string) *sqlerr.Error {
		return sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for %s option \"%s\": %s",
			kind, o.name, value)
	}
	switch {
	case o.words != nil:
		if !slices.Contains(o.words, strings.ToLower(value)) {
			return invalid("enum").WithDetail("Valid values are %s.", o.valid)
		}
	case o.top == 0:
		_, err := boolOption(ast.Option{Name: o.name, Value: value})
		return err
	default:
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil {
			return invalid("integer")
		}
		if n < int64(o.low) || n > int64(o.top) {
			return sqlerr.New(sqlerr.InvalidParameterValue,
				"value %s out of bounds for option \"%s\"", value, o.name).
				WithDetail("Valid values are between \"%d\" and \"%d\".", o.low, o.top)
		}
	}
	return nil
}
