package ddl

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/gin"
	"github.com/minidb/minidb/table/types"
)

// textClasses are the operator classes of btree for texts, each with the types that it accepts. The
// order of text is that of its bytes, so the pattern classes are what every index is. The class of
// another type is named for it.
var textClasses = map[string][]types.OID{
	"text_ops":            {types.OIDText, types.OIDVarchar},
	"varchar_ops":         {types.OIDText, types.OIDVarchar},
	"text_pattern_ops":    {types.OIDText, types.OIDVarchar},
	"varchar_pattern_ops": {types.OIDText, types.OIDVarchar},
	"bpchar_ops":          {types.OIDBPChar},
	"bpchar_pattern_ops":  {types.OIDBPChar},
	"citext_ops":          {types.OIDCIText},
	"citext_pattern_ops":  {types.OIDCIText},
	"btree_hstore_ops":    {types.OIDHStore},
}

// classExtension returns the extension to which an operator class belongs, "" for none.
func classExtension(class string) string {
	switch class {
	case "citext_ops", "citext_pattern_ops":
		return "citext"
	case "btree_hstore_ops", "hash_hstore_ops":
		return "hstore"
	}
	return gin.Extension(class)
}

// btreeClass reports whether btree has an operator class, and whether that accepts a type.
func btreeClass(class string, t *types.Type) (known, accepts bool) {
	if class == "array_ops" {
		return true, t.Elem != nil
	}
	if list, ok := textClasses[class]; ok {
		return true, slices.Contains(list, t.OID)
	}
	name, ok := strings.CutSuffix(class, "_ops")
	of, found := types.ByName(name)
	if !ok || !found || of.Elem != nil || of.Name != name || indexable(of) != nil {
		return false, false
	}
	return true, of.OID == t.OID
}

// operatorClass verifies the operator class of a key column of a type, and returns what is kept of
// it: "" for the default class of the type.
func operatorClass(e *ast.IndexElem, t *types.Type, method string) (string, error) {
	if e.OpClass == "" {
		return "", noDefaultClass(t, method)
	}
	known, ok := methodClass(e.OpClass, t, method)
	if slices.Contains(otherClasses[method], e.OpClass) {
		return "", sqlerr.Unsupported(int(e.Pos), "operator class \""+e.OpClass+"\"")
	}
	if !known {
		return "", noSuchClass(e.OpClass, method)
	}
	if !ok {
		return "", sqlerr.New(sqlerr.DatatypeMismatch,
			"operator class \"%s\" does not accept data type %s", e.OpClass, t)
	}
	switch {
	case strings.HasSuffix(e.OpClass, "_pattern_ops"),
		method == table.MethodGIN && e.OpClass != gin.DefaultClass(t),
		method == "brin" && !strings.HasSuffix(e.OpClass, "_minmax_ops"):
		return e.OpClass, nil
	}
	return "", nil
}

func noSuchClass(class, method string) error {
	return sqlerr.New(sqlerr.UndefinedObject,
		"operator class \"%s\" does not exist for access method \"%s\"", class,
		cmp.Or(method, "btree"))
}

// classPresent fails if an operator class belongs to an extension that the database does not have.
func (env *Env) classPresent(ctx context.Context, class, method string) error {
	of := classExtension(class)
	if of == "" {
		return nil
	}
	e, err := env.View.Extension(ctx, env.Database, of)
	if err == nil && e == nil {
		err = noSuchClass(class, method)
	}
	return err
}

// methodClass reports whether an access method has an operator class, and whether that accepts a
// type.
func methodClass(class string, t *types.Type, method string) (known, accepts bool) {
	switch method {
	case "hash":
		if class == "hash_hstore_ops" {
			return true, t.OID == types.OIDHStore
		}
		if class == "btree_hstore_ops" || class == "citext_pattern_ops" {
			return false, false
		}
	case table.MethodGIN:
		return gin.Known(class, t)
	case "brin":
		for _, kind := range []string{"_minmax_multi_ops", "_minmax_ops", "_bloom_ops"} {
			if name, ok := strings.CutSuffix(class, kind); ok {
				known, accepts = btreeClass(name+"_ops", t)
				return known, accepts && noDefaultClass(t, method) == nil
			}
		}
		return false, false
	}
	return btreeClass(class, t)
}

// otherClasses are the operator classes of PostgreSQL for queries that neither GIN nor a btree
// serves.
var otherClasses = map[string][]string{
	"gin": {"tsvector_ops"},
	"gist": {"range_ops", "multirange_ops", "inet_ops", "gist_trgm_ops", "gist_hstore_ops",
		"tsvector_ops", "tsquery_ops", "point_ops", "box_ops", "poly_ops", "circle_ops"},
	"spgist": {"range_ops", "inet_ops", "quad_point_ops", "kd_point_ops", "box_ops", "poly_ops"},
}

// noDefaultClass fails if an access method has no default operator class for values of a type, or
// has one for queries that a btree does not serve.
func noDefaultClass(t *types.Type, method string) error {
	if method == table.MethodGIN {
		return noGINClass("", t)
	}
	otherwise := func() error {
		return sqlerr.New(sqlerr.FeatureNotSupported,
			"access method \"%s\" is not supported for type %s", method, t)
	}
	family := t.Base().Family
	if family == types.Geometric {
		if slices.Contains(shapesServed[method], t.Base().OID) {
			return otherwise()
		}
		return noClass(t, cmp.Or(method, "btree"))
	}
	if err := indexable(t); err != nil {
		return err
	}
	switch {
	case slices.Contains(otherwiseServed[method], family):
		return otherwise()
	case method == "gist", method == "spgist" && family != types.String && family != types.CIText,
		slices.Contains(withoutClass[method], family):
		return noClass(t, method)
	}
	return nil
}

// otherwiseServed are the types for which an access method of PostgreSQL serves queries that a
// btree does not.
var otherwiseServed = map[string][]types.Family{
	"gist":   {types.Range, types.MultiRange, types.HStore},
	"spgist": {types.Range, types.Inet},
}

// shapesServed is otherwiseServed for the geometric types, which a btree does not have at all.
var shapesServed = map[string][]types.OID{
	"gist":   {types.OIDPoint, types.OIDBox, types.OIDPolygon, types.OIDCircle},
	"spgist": {types.OIDPoint, types.OIDBox, types.OIDPolygon},
	"brin":   {types.OIDBox},
}

// withoutClass are the types for which an access method of PostgreSQL has no operator class, though
// they have an order.
var withoutClass = map[string][]types.Family{
	"hash": {types.Money, types.Bit},
	"brin": {types.Bool, types.Array, types.JSON, types.Enum, types.Money, types.Record,
		types.MultiRange, types.HStore},
}

// noGINClass fails if an operator class of GIN, "" for the default one, does not accept values of a
// type.
func noGINClass(class string, t *types.Type) error {
	known, accepts := gin.Known(class, t)
	switch {
	case accepts:
		return nil
	case class != "":
		return sqlerr.New(sqlerr.DatatypeMismatch,
			"operator class \"%s\" does not accept data type %s", class, t)
	case known && t.Elem != nil:
		return sqlerr.New(sqlerr.UndefinedFunction,
			"could not identify a comparison function for type %s", t.Elem)
	}
	return noClass(t, table.MethodGIN)
}

// checkMethod verifies the access method of an index. A btree serves the queries of hash and brin,
// and those that gist and spgist serve for the types that it has.
func checkMethod(s *ast.CreateIndex) error {
	lacks := func(what string) error {
		return sqlerr.New(sqlerr.FeatureNotSupported, "access method \"%s\" does not support %s",
			s.Method, what)
	}
	switch s.Method {
	case "", "btree":
		return nil
	case "hash", "brin", "gist", "spgist", table.MethodGIN:
	default:
		return sqlerr.New(sqlerr.UndefinedObject, "access method \"%s\" does not exist", s.Method)
	}
	switch {
	case s.Unique:
		return lacks("unique indexes")
	case len(s.Include) > 0 && s.Method != "gist" && s.Method != "spgist":
		return lacks("included columns")
	case len(s.Elems) > 1 && (s.Method == "hash" || s.Method == "spgist"):
		return lacks("multicolumn indexes")
	}
	return nil
}

// checkOrder refuses the order of a column to access methods that have none.
func checkOrder(e *ast.IndexElem, method string) error {
	if method == "" || method == "btree" {
		return nil
	}
	what := ""
	if e.NullsFirst != nil {
		what = "NULLS FIRST/LAST"
	}
	if e.Desc {
		what = "ASC/DESC"
	}
	if what == "" {
		return nil
	}
	return sqlerr.New(sqlerr.FeatureNotSupported,
		"access method \"%s\" does not support %s options", method, what)
}
