package ddl

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/extension"
	"github.com/minidb/minidb/table/types"
)

// exclusionIndex makes the index of an EXCLUDE constraint; its ID is the caller's. It adds the
// index's expressions to d.
func (env *Env) exclusionIndex(ctx context.Context, d *table.Desc,
	c *ast.TableConstraint) (*table.Index, error) {
	if err := checkExclusionMethod(c); err != nil {
		return nil, err
	}
	ix := &table.Index{Constraint: true, Deferrable: c.Deferrable,
		InitiallyDeferred: c.InitiallyDeferred}
	if c.Method != "btree" {
		ix.Method = c.Method
	}
	if len(c.Elems)+len(c.Include) > 32 {
		return nil, sqlerr.New(sqlerr.TooManyColumns, "cannot use more than 32 columns in an index")
	}
	var err error
	if c.Where != nil {
		if ix.WhereText, err = env.indexPredicate(ctx, d, c.Where); err != nil {
			return nil, err
		}
	}
	var names []string
	for i := range c.Elems {
		k, name, err := env.exclusionColumn(ctx, d, &c.Elems[i], c.Method)
		if err != nil {
			return nil, err
		}
		ix.Columns, names = append(ix.Columns, k), append(names, name)
	}
	for _, id := range c.Include {
		o, err := indexedColumn(d, id.Name)
		if err != nil {
			return nil, err
		}
		ix.Include, names = append(ix.Include, d.Columns[o].ID), append(names, id.Name)
	}
	if ix.OID, err = env.View.NewIDIn(ctx, d.SchemaID); err != nil {
		return nil, err
	}
	return ix, env.nameConstraint(ctx, d, c, ix, names)
}

// checkExclusionMethod verifies the access method of an EXCLUDE constraint.
func checkExclusionMethod(c *ast.TableConstraint) error {
	if c.Method == "brin" || c.Method == table.MethodGIN {
		return sqlerr.New(sqlerr.FeatureNotSupported,
			"access method \"%s\" does not support exclusion constraints", c.Method)
	}
	return checkMethod(&ast.CreateIndex{Pos: c.Pos, Method: c.Method, Elems: c.Elems,
		Include: c.Include})
}

// exclusionColumn makes a key column of an EXCLUDE constraint with its operator, and returns its
// name.
func (env *Env) exclusionColumn(ctx context.Context, d *table.Desc, e *ast.IndexElem,
	method string) (k table.IndexColumn, name string, err error) {
	if ref, ok := e.Expr.(*ast.ColumnRef); ok && d.Column(ref.Name) < 0 {
		return k, "", sqlerr.New(sqlerr.UndefinedColumn,
			"column \"%s\" named in key does not exist", ref.Name)
	}
	k, name, t, err := env.indexKey(ctx, d, e)
	if err != nil {
		return k, "", err
	}
	class, err := env.exclusionClass(ctx, e, t, method)
	if err != nil {
		return k, "", err
	}
	if err := checkOrder(e, method); err != nil {
		return k, "", err
	}
	fn, _, err := builtin.ResolveOperator(e.Operator, t, t)
	if err != nil {
		return k, "", err
	}
	switch {
	case !slices.Contains(commutative, e.Operator):
		return k, "", sqlerr.New(sqlerr.WrongObjectType, "operator %s is not commutative",
			operatorName(fn, t)).
			WithDetail("Only commutative operators can be used in exclusion constraints.")
	case !slices.Contains(class.operators, e.Operator):
		return k, "", sqlerr.New(sqlerr.WrongObjectType,
			"operator %s is not a member of operator family \"%s\"", operatorName(fn, t),
			class.family).WithDetail("The exclusion operator must be related to the index " +
			"operator class for the constraint.")
	}
	// The entries are in the order of values, whatever the order of the column is said to be.
	k.OpClass, k.Operator = class.kept, e.Operator
	return k, name, nil
}

// commutative are the operators a op b that are the same as b op a.
var commutative = []string{"=", "<>", "&&", "-|-", "+", "*", "&", "|", "#"}

// operatorName names an operator with the types of its operands.
func operatorName(fn *expr.Func, t *types.Type) string {
	args := make([]string, len(fn.Args))
	for i, a := range fn.Args {
		if a == nil {
			a = t
		}
		args[i] = a.SQLName()
	}
	return fn.Name + "(" + strings.Join(args, ",") + ")"
}

// exclusionClass is an operator class, as far as EXCLUDE constraints need it.
type exclusionClass struct {
	kept      string // "" for the default class of the type
	family    string
	operators []string // those that are commutative
}

// gistClasses are the default operator classes of gist and spgist, by the type's family, and those
// that must be named.
var (
	gistClasses = map[types.Family]exclusionClass{
		types.Range:      {family: "range_ops", operators: []string{"&&", "-|-", "="}},
		types.MultiRange: {family: "multirange_ops", operators: []string{"&&", "-|-", "="}},
	}
	spgistClasses = map[types.Family]exclusionClass{
		types.Range:  {family: "range_ops", operators: []string{"&&", "-|-", "="}},
		types.Inet:   {family: "network_ops", operators: []string{"&&", "=", "<>"}},
		types.String: {family: "text_ops", operators: []string{"="}},
	}
	gistNetworks = exclusionClass{kept: "inet_ops", family: "network_ops",
		operators: []string{"&&", "=", "<>"}}
)

// exclusionClass finds the operator class of a column of an EXCLUDE constraint.
func (env *Env) exclusionClass(ctx context.Context, e *ast.IndexElem, t *types.Type,
	method string) (exclusionClass, error) {
	if extension.Of(uint32(t.Base().OID)) != nil {
		return exclusionClass{}, sqlerr.Unsupported(int(e.Pos), "EXCLUDE over type "+t.String())
	}
	if err := indexable(t); err != nil {
		if method == "gist" || method == "spgist" {
			err = noClass(t, method)
		}
		return exclusionClass{}, err
	}
	family := t.Base().Family
	switch method {
	case "gist":
		if family == types.Inet && e.OpClass == gistNetworks.kept {
			return gistNetworks, nil
		}
		return env.classNamed(ctx, e, t, method, gistClasses[family])
	case "spgist":
		return env.classNamed(ctx, e, t, method, spgistClasses[family])
	}
	kept, err := operatorClass(e, t, method)
	return exclusionClass{kept: kept, family: btreeFamily(t), operators: []string{"="}}, err
}

// classNamed returns the class of an access method for a type that the catalogs list, if there is
// one and it is the one that is named, or one of btree_gist.
func (env *Env) classNamed(ctx context.Context, e *ast.IndexElem, t *types.Type, method string,
	class exclusionClass) (exclusionClass, error) {
	scalar := gistClass(t)
	has, err := env.scalarsInGist(ctx)
	if err != nil {
		return class, err
	}
	switch known := class.family != ""; {
	case known && (e.OpClass == "" || e.OpClass == class.family ||
		method == "spgist" && e.OpClass == "inet_ops"):
		return class, nil
	case !known && has && method == "gist" && gistScalar(t) &&
		(e.OpClass == "" || e.OpClass == scalar):
		return exclusionClass{family: scalar, operators: []string{"=", "<>"}}, nil
	case e.OpClass == "":
		return class, noClass(t, method)
	case known:
		return class, sqlerr.New(sqlerr.DatatypeMismatch,
			"operator class \"%s\" does not accept data type %s", e.OpClass, t)
	}
	return class, sqlerr.New(sqlerr.UndefinedObject,
		"operator class \"%s\" does not exist for access method \"%s\"", e.OpClass, method)
}

// gistClass is the operator class that btree_gist has for a type.
func gistClass(t *types.Type) string {
	return "gist_" + cmp.Or(gistNames[t.Base().OID], t.Base().Name) + "_ops"
}

// gistNames are the names in btree_gist of types that it does not call by their own.
var gistNames = map[types.OID]string{types.OIDVarchar: "text", types.OIDTimestampTZ: "timestamptz",
	types.OIDMoney: "cash"}

// gistScalar reports whether the extension btree_gist has an operator class for a type.
func gistScalar(t *types.Type) bool {
	switch t.Base().Family {
	case types.Record, types.Array, types.JSON, types.Range, types.MultiRange:
		return false
	}
	return t.Elem == nil
}

// btreeFamily is the name of the operator family of a type in btree and hash.
func btreeFamily(t *types.Type) string {
	switch b := t.Base(); b.Family {
	case types.Int:
		return "integer_ops"
	case types.Float:
		return "float_ops"
	case types.String:
		return "text_ops"
	case types.Date, types.Timestamp:
		return "datetime_ops"
	case types.Inet:
		return "network_ops"
	default:
		return b.Name + "_ops"
	}
}

// addExclusion is ADD CONSTRAINT … EXCLUDE.
func (a *alteration) addExclusion(ctx context.Context, c *ast.TableConstraint) error {
	next := a.d.Clone()
	ix, err := a.env.exclusionIndex(ctx, next, c)
	if err != nil {
		return err
	}
	if err := a.env.addIndexTo(ctx, a.d, next, ix); err != nil {
		return err
	}
	return a.reload(ctx)
}

// scalarsInGist reports whether the database has the extension btree_gist, with which gist takes
// types that have an order.
func (env *Env) scalarsInGist(ctx context.Context) (bool, error) {
	e, err := env.View.Extension(ctx, env.Database, extension.BtreeGist)
	return e != nil, err
}
