package builtin

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// describe makes a function that looks up a fact in the catalog, about the OID in argument arg.
// Unknown facts are NULL. extra makes the third argument of Describe from the other arguments.
func describe(kind string, extra func(a []types.Datum) string) scalar {
	return asking(func(s expr.Session, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		x := ""
		if extra != nil {
			x = extra(a)
		}
		return textOrNull(s.Describe(kind, types.OID(a[0].I), x))
	})
}

// named makes a function of a relation's name from a function of its OID.
func named(of scalar) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		id, err := types.Cast(a[0], types.TText, types.TRegClass, true, &rt.Format)
		if err != nil {
			return types.Null, err
		}
		return of(rt, append([]types.Datum{id}, a[1:]...))
	}
}

// number returns argument i as decimal digits.
func number(i int) func([]types.Datum) string {
	return func(a []types.Datum) string { return strconv.FormatInt(a[i].I, 10) }
}

// pretty returns the third argument of Describe for a pretty argument that is true.
func pretty(a []types.Datum) string {
	if len(a) > 0 && a[0].Bool() {
		return " pretty"
	}
	return ""
}

func prettyFlag(a []types.Datum) string { return pretty(a[1:]) }

// nodeExpr is pg_get_expr: the catalog looks up the expression of the node tree.
func nodeExpr(s expr.Session, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	return textOrNull(s.Describe("expr", types.OID(a[1].I), a[0].S+pretty(a[2:])))
}

// typeVisible reports whether a type is found by its unqualified name.
func typeVisible(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	return truth(describe("type visible", nil))(rt, a)
}

// truth makes a function of "t" and "f" one of booleans.
func truth(of scalar) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		d, err := of(rt, a)
		if err != nil || d.Null {
			return types.Null, err
		}
		return types.NewBool(d.S == "t"), nil
	}
}

// visible reports whether an object is found by its unqualified name, which is whether Describe
// knows that name. For a relation, kind "visible" gives "t" or "f".
func visible(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	return truth(describe("visible", nil))(rt, a)
}

// catalogFunctions are the functions with which clients such as psql inspect schemas. The only role
// may do everything, so every privilege is granted.
var catalogFunctions = func() []def {
	out := []def{
		n("format_type(oid,int4) text", formatType).stable(),
		f("oidvectortypes(oidvector) text", typeNames).stable(),
		f("pg_get_expr(pg_node_tree|text,oid,bool?) text", asking(nodeExpr)).stable(),
		f("pg_get_indexdef(oid) text", describe("indexdef", nil)).stable(),
		f("pg_get_indexdef(oid,int4,bool) text", describe("indexdef", func(a []types.Datum) string {
			return strconv.FormatInt(a[1].I, 10) + pretty(a[2:])
		})).stable(),
		f("pg_indexam_has_property(oid,text) bool", accessMethodProperty).stable(),
		f("pg_index_has_property(regclass,text) bool", truth(describe("index property",
			func(a []types.Datum) string { return a[1].S }))).stable(),
		f("pg_index_column_has_property(regclass,int4,text) bool", truth(describe("index property",
			func(a []types.Datum) string {
				return strconv.FormatInt(a[1].I, 10) + " " + a[2].S
			}))).stable(),
		f("pg_get_constraintdef(oid,bool?) text", describe("constraintdef", prettyFlag)).stable(),
		f("pg_relation_is_updatable(regclass,bool) int4",
			describeNumber("updatable", nil)).stable(),
		f("pg_column_is_updatable(regclass,int2,bool) bool", columnIsUpdatable).stable(),
		f("pg_get_viewdef(oid,bool?) text", describe("viewdef", prettyFlag)).stable(),
		f("pg_get_viewdef(oid,int4) text", describe("viewdef", func(a []types.Datum) string {
			return strconv.FormatInt(a[1].I, 10) + " pretty"
		})).stable(),
		f("pg_get_viewdef(text,bool?) text", named(describe("viewdef", prettyFlag))).stable(),
		f("pg_get_serial_sequence(text,text) text", asking(serialSequence)).stable(),
		f("pg_sequence_last_value(regclass) int8", sequenceLastValue).volatile(),
		f("pg_get_userbyid(oid) name", asking(userByID)).stable(),
		f("pg_table_is_visible(oid) bool", visible).stable(),
		f("acldefault(char,oid) aclitem[]", asking(aclDefault)),
		f("pg_type_is_visible(oid) bool", typeVisible).stable(),
		f("to_regclass(text) regclass", asking(toRegclass)).stable(),
		f("to_regtype(text) regtype", toReg(types.OIDRegType)).stable(),
		f("to_regnamespace(text) regnamespace", toReg(types.OIDRegNamespace)).stable(),
		f("to_regproc(text) regproc", toReg(types.OIDRegProc)).stable(),
		f("to_regprocedure(text) regprocedure", toReg(types.TRegProcedure.OID)).stable(),
		f("to_regoper(text) regoper", toReg(types.TRegOper.OID)).stable(),
		f("to_regoperator(text) regoperator", toReg(types.TRegOperator.OID)).stable(),
		f("to_regrole(text) regrole", toReg(types.TRegRole.OID)).stable(),
		f("to_regcollation(text) regcollation", toReg(types.TRegCollation.OID)).stable(),
		f("regclass(text) regclass", func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
			return types.Cast(a[0], types.TText, types.TRegClass, true, &rt.Format)
		}).stable(),
		f("obj_description(oid) text", describe("comment of", nil)).stable(),
		f("obj_description(oid,name) text",
			describe("comment of", func(a []types.Datum) string { return a[1].S })).stable(),
		f("shobj_description(oid,name) text",
			describe("shared comment of", func(a []types.Datum) string { return a[1].S })).stable(),
		f("col_description(oid,int4) text", describe("comment", number(1))).stable(),
		f("pg_relation_filenode(regclass) oid", describeNumber("filenode", nil)).stable(),
		fixed("pg_get_ruledef|pg_get_triggerdef(oid,bool?) text", types.Null),
		f("pg_describe_object(oid,oid,int4) text", describeObject).stable(),
		f("pg_get_function_arguments(oid) text", routine("arguments")).stable(),
		f("pg_get_function_identity_arguments(oid) text", routine("identity")).stable(),
		f("pg_get_function_result(oid) text", routine("result")).stable(),
		f("pg_get_function_sqlbody(oid) text", routine("body")).stable(),
		f("pg_get_functiondef(oid) text", asking(functionDefinition)).stable(),
		f("pg_get_function_arg_default(oid,int4) text", describe("routine",
			func(a []types.Datum) string { return "default" + " " + number(1)(a) })).stable(),
		fixed("pg_get_partkeydef|pg_get_partition_constraintdef(oid) text", types.Null),
		fixed("pg_get_statisticsobjdef|pg_get_statisticsobjdef_columns(oid) text", types.Null),
		fixed("pg_relation_is_publishable(regclass) bool", types.NewBool(true)),
		fixed("pg_is_other_temp_schema(oid) bool", types.NewBool(false)),
		fixed("pg_tablespace_location(oid) text", types.NewString("")),
	}
	for _, kind := range []string{"opclass", "opfamily", "collation", "conversion", "ts_config",
		"ts_dict", "ts_parser", "ts_template"} {
		catalog := func([]types.Datum) string { return "pg_" + kind }
		out = append(out, f("pg_"+kind+"_is_visible(oid) bool",
			truth(describe("member visible", catalog))).stable())
	}
	out = append(out, fixed("pg_statistics_obj_is_visible(oid) bool", types.Null))
	for _, kind := range []string{"function", "operator"} {
		out = append(out, f("pg_"+kind+"_is_visible(oid) bool",
			truth(describe(kind+" visible", nil))).stable())
	}
	out = append(out, sizeFunctions()...)
	out = append(out, privilegeFunctions()...)
	return out
}()

// describeObject is pg_describe_object: the second argument is the object's ID, the first that of
// its catalog.
func describeObject(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	return describe("object", func(a []types.Datum) string {
		return strconv.FormatInt(a[1].I, 10) + " " + strconv.FormatInt(a[2].I, 10)
	})(rt, []types.Datum{a[1], a[0], a[2]})
}

// routine makes a function that shows a part of the definition of a function.
func routine(part string) scalar {
	return describe("routine", func([]types.Datum) string { return part })
}

// functionDefinition is pg_get_functiondef, which knows no aggregates.
func functionDefinition(s expr.Session, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	id := types.OID(a[0].I)
	if name, ok := s.Describe("aggregate", id, ""); ok {
		return types.Null, sqlerr.New(sqlerr.WrongObjectType,
			"\"%s\" is an aggregate function", name)
	}
	return textOrNull(s.Describe("routine", id, "definition"))
}

// catalogSets are the set-returning functions of catalog queries.
var catalogSets = []def{
	s("pg_get_keywords() record", "word text,catcode char,barelabel bool,catdesc text,"+
		"baredesc text", keywords).stable(),
	s("pg_options_to_table(text[]) record", "option_name text,option_value text",
		optionsToTable).stable(),
	s("aclexplode(aclitem[]) record", "grantor oid,grantee oid,privilege_type text,"+
		"is_grantable bool", aclExplode).stable(),
	s("ts_token_type(oid) record", "tokid int4,alias text,description text", parserTokenTypes),
	// No relation is a partition, so none has ancestors or a partition tree.
	s("pg_partition_ancestors(regclass) regclass", "relid regclass", noRows).stable(),
	s("pg_partition_tree(regclass) record", "relid regclass,parentrelid regclass,isleaf bool,"+
		"level int4", noRows).stable(),
	s("_pg_expandarray(anyarray) record", "x anyelement,n int4", expandArray),
}

func noRows(*expr.Runtime, []types.Datum, func([]types.Datum) error) error { return nil }

// optionsToTable splits reloptions of the form name=value.
func optionsToTable(_ *expr.Runtime, a []types.Datum, emit func([]types.Datum) error) error {
	for _, e := range a[0].Arr.Elems {
		name, value, ok := strings.Cut(e.S, "=")
		row := []types.Datum{types.NewString(name), types.NewString(value)}
		if !ok {
			row[1] = types.Null
		}
		if err := emit(row); err != nil {
			return err
		}
	}
	return nil
}

// expandArray is information_schema's: the elements and their numbers from 1.
func expandArray(_ *expr.Runtime, a []types.Datum, emit func([]types.Datum) error) error {
	for i, e := range a[0].Arr.Elems {
		if err := emit([]types.Datum{e, types.NewInt(int64(i + 1))}); err != nil {
			return err
		}
	}
	return nil
}

func formatType(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if a[0].Null {
		return types.Null, nil
	}
	if a[0].I == 0 {
		return types.NewString("-"), nil
	}
	oid := types.OID(a[0].I)
	if t, ok := types.ByOID(oid); !ok || types.ExtensionOf(t) != "" {
		if rt.Session != nil {
			if name, ok := rt.Session.Describe("type", oid, ""); ok {
				return types.NewString(name), nil
			}
		}
		return types.NewString("???"), nil
	}
	name := typeWithoutMod(oid)
	if !a[1].Null {
		name = types.FormatType(oid, int32(a[1].I))
	}
	if rt.Format.QuoteAll {
		name = sqlname.QuoteAll(name)
	}
	return types.NewString(name), nil
}

func userByID(s expr.Session, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if name, ok := s.Describe("role", types.OID(a[0].I), ""); ok {
		return types.NewString(name), nil
	}
	return types.NewString(fmt.Sprintf("unknown (OID=%d)", a[0].I)), nil
}

func serialSequence(s expr.Session, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	oid, err := s.ResolveClass(a[0].S)
	if err != nil {
		return types.Null, err
	}
	return textOrNull(s.Describe("serial", oid, a[1].S))
}

// sequenceLastValue is NULL for a sequence that has given no value yet.
func sequenceLastValue(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if g, ok := rt.Session.(expr.SequenceGuard); ok {
		if err := g.MaySeeLast(types.OID(a[0].I)); err != nil {
			return types.Null, err
		}
	}
	return describeNumber("last value", nil)(rt, a)
}

// toRegclass is NULL for a relation that does not exist.
func toRegclass(s expr.Session, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	oid, err := s.ResolveClass(a[0].S)
	if missing(err) {
		return types.Null, nil
	}
	return types.NewInt(int64(oid)), err
}

// toReg converts a name as the input of a reg* type does, but returns NULL where that fails.
func toReg(oid types.OID) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		t, _ := types.ByOID(oid)
		if strings.Trim(a[0].S, "0123456789") == "" { // a number is not a name
			return types.Null, nil
		}
		d, err := types.ParseText(t, a[0].S, &rt.Format)
		var e *sqlerr.Error
		signature := oid == types.TRegProcedure.OID || oid == types.TRegOperator.OID
		if signature && errors.As(err, &e) && e.Code == sqlerr.UndefinedObject {
			return types.Null, err // the type of an argument must exist
		}
		if missing(err) {
			return types.Null, nil
		}
		return d, err
	}
}

// missing reports whether an error is that a named object does not exist.
func missing(err error) bool {
	e, ok := err.(*sqlerr.Error)
	if !ok {
		return false
	}
	switch e.Code {
	case sqlerr.UndefinedTable, sqlerr.UndefinedObject, sqlerr.UndefinedFunction,
		sqlerr.AmbiguousFunction, sqlerr.InvalidSchemaName:
		return true
	}
	return false
}

// describeNumber is describe for a fact that is a number.
func describeNumber(kind string, extra func(a []types.Datum) string) scalar {
	fact := describe(kind, extra)
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		d, err := fact(rt, a)
		if err != nil || d.Null {
			return types.Null, err
		}
		n, err := strconv.ParseInt(d.S, 10, 64)
		return types.NewInt(n), err
	}
}

// accessMethodProperties lists what the access methods of indexes can do, of order, unique,
// multi_col, exclude and include.
var accessMethodProperties = map[int64]string{
	403: "order unique multi_col exclude include", 405: "exclude", 783: "multi_col exclude include",
	2742: "multi_col", 4000: "exclude include", 3580: "multi_col",
}

// accessMethodProperty is pg_indexam_has_property: NULL for what is no property, or no method.
func accessMethodProperty(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	has, known := accessMethodProperties[a[0].I]
	what, can := strings.CutPrefix(strings.ToLower(a[1].S), "can_")
	all := strings.Fields(accessMethodProperties[403])
	if !known || !can || !slices.Contains(all, what) {
		return types.Null, nil
	}
	return types.NewBool(slices.Contains(strings.Fields(has), what)), nil
}

// columnIsUpdatable reports whether a relation takes UPDATE of a column and DELETE.
func columnIsUpdatable(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	const both = 1<<2 | 1<<4
	events, err := describeNumber("updatable", number(1))(rt, a)
	return types.NewBool(!events.Null && events.I&both == both), err
}
