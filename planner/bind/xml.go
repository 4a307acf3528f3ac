package bind

import (
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/table/xml"
)

// xml binds a construct of SQL/XML as a call of a function that is made for it.
func (b *binder) xml(sc *scope, e *ast.XML) expr.Expr {
	pos := int(e.Pos)
	var args []expr.Expr
	var fn *expr.Func
	switch e.Op {
	case "xmlelement", "xmlforest":
		args = b.xmlArgs(sc, append(slices.Clone(e.Named), e.Args...))
		ts := make([]*types.Type, len(args))
		for i, a := range args {
			ts[i] = a.Type()
		}
		if names := xmlNames(e); e.Op == "xmlforest" {
			fn = builtin.XMLForest(names, ts)
		} else {
			fn = builtin.XMLElement(xml.Name(e.Name, false), names, ts)
		}
	case "xmlconcat":
		args, fn = b.xmlCoerced(sc, e, types.TXML), builtin.XMLConcat
	case "xmlparse":
		args, fn = b.xmlCoerced(sc, e, types.TText), builtin.XMLParse(e.Document)
	case "xmlpi":
		args, fn = b.xmlCoerced(sc, e, types.TText), builtin.XMLPI(xml.Name(e.Name, false))
	case "xmlroot":
		args = b.xmlCoerced(sc, e, types.TXML, types.TText)
		fn = builtin.XMLRoot(map[string]*xml.Standalone{"yes": standalone(xml.Yes),
			"no": standalone(xml.No), "no value": standalone(xml.NotSaid)}[e.Standalone])
	case "xmlserialize":
		args, fn = b.xmlCoerced(sc, e, types.TXML), builtin.XMLSerialize(e.Document)
		text := &expr.Call{T: types.TText, Func: fn, Args: args, Pos: pos}
		to := b.resolveType(e.Type)
		if !canCast(types.TText, to, implicit) {
			panic(failure.At(pos, sqlerr.CannotCoerce, "cannot cast XMLSERIALIZE result to %s",
				typeName(to)))
		}
		return b.coerce(text, to, implicit, pos)
	}
	return &expr.Call{T: types.TXML, Func: fn, Args: args, Pos: pos}
}

func standalone(s xml.Standalone) *xml.Standalone { return &s }

// isDocument binds IS [NOT] DOCUMENT.
func (b *binder) isDocument(sc *scope, e *ast.IsTest) expr.Expr {
	arg := b.coerceSpecific(b.expr(sc, e.Operand), types.TXML, "IS DOCUMENT", e.Operand)
	var test expr.Expr = &expr.Call{T: types.TBool, Func: builtin.XMLIsDocument,
		Args: []expr.Expr{arg}, Pos: int(e.Pos)}
	if e.Not {
		test = &expr.Not{Arg: test}
	}
	return test
}

// xmlArgs binds arguments of any type, which parameters must have from elsewhere.
func (b *binder) xmlArgs(sc *scope, es []ast.Expr) []expr.Expr {
	args := make([]expr.Expr, len(es))
	for i, e := range es {
		args[i] = b.expr(sc, e)
		if _, ok := args[i].(*expr.Param); !ok {
			args[i] = b.resolveUnknown(args[i])
		}
	}
	return args
}

// xmlCoerced binds the arguments as values of types, of which the last repeats.
func (b *binder) xmlCoerced(sc *scope, e *ast.XML, ts ...*types.Type) []expr.Expr {
	args := make([]expr.Expr, len(e.Args))
	for i, a := range e.Args {
		args[i] = b.coerceSpecific(b.expr(sc, a), ts[min(i, len(ts)-1)], strings.ToUpper(e.Op), a)
	}
	return args
}

// ColumnOfXML returns the name that an argument has without AS: that of a column, or of a row; ""
// if it has none.
func ColumnOfXML(e ast.Expr) string {
	switch e.(type) {
	case *ast.ColumnRef, *ast.Star:
		name, _ := nameOf(e)
		return name
	}
	return ""
}

// xmlNames returns the XML names of the named arguments.
func xmlNames(e *ast.XML) []string {
	names := make([]string, len(e.Named))
	for i, name := range e.Names {
		switch column := ColumnOfXML(e.Named[i]); {
		case name != "":
			names[i] = xml.Name(name, false)
		case column != "":
			names[i] = xml.Name(column, true)
		default:
			what := "attribute"
			if e.Op == "xmlforest" {
				what = "element"
			}
			panic(failure.At(exprPos(e.Named[i]), sqlerr.SyntaxError,
				"unnamed XML %s value must be a column reference", what))
		}
		if e.Op == "xmlelement" && slices.Contains(names[:i], names[i]) {
			panic(failure.At(exprPos(e.Named[i]), sqlerr.SyntaxError,
				"XML attribute name \"%s\" appears more than once", names[i]))
		}
	}
	return names
}
