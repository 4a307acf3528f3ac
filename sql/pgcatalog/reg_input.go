package pgcatalog

import (
	"context"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/table/types"
)

// RegOID finds the object that the text of a reg* value names.
func RegOID(ctx context.Context, env Env, typ types.OID, text string) (types.OID, error) {
	r := &reader{ctx: ctx, env: env}
	switch typ {
	case types.OIDRegProc:
		return r.functionNamed(text)
	case types.TRegProcedure.OID:
		return r.functionWithArguments(text)
	case types.TRegOper.OID:
		return r.operatorNamed(text)
	case types.TRegOperator.OID:
		return r.operatorWithArguments(text)
	case types.OIDRegNamespace, types.TRegRole.OID:
		name, ok := sqlname.SplitQualified(text)
		if !ok || len(name) != 1 {
			return 0, errNameSyntax()
		}
		if typ == types.OIDRegNamespace {
			return r.namespaceNamed(name[0])
		}
		return r.roleNamed(name[0])
	case types.TRegCollation.OID:
		return r.dataNamed("pg_collation", "collname", text,
			"collation \"%s\" for encoding \"UTF8\" does not exist")
	case types.TRegConfig.OID:
		return r.dataNamed("pg_ts_config", "cfgname", text,
			"text search configuration \"%s\" does not exist")
	case types.TRegDict.OID:
		return r.dataNamed("pg_ts_dict", "dictname", text,
			"text search dictionary \"%s\" does not exist")
	}
	return 0, sqlerr.New(sqlerr.UndefinedObject, "\"%s\" does not exist", text)
}

func errNameSyntax() error { return sqlerr.New(sqlerr.InvalidName, "invalid name syntax") }

func (r *reader) functionNamed(text string) (types.OID, error) {
	found, err := r.candidates(functions(), text)
	switch {
	case err != nil:
		return 0, err
	case len(found) > 1:
		return 0, sqlerr.New(sqlerr.AmbiguousFunction, "more than one function named \"%s\"", text)
	case len(found) == 1 && builtinObjects().function(found[0].id):
		return found[0].id, nil
	}
	return 0, sqlerr.New(sqlerr.UndefinedFunction, "function \"%s\" does not exist", text)
}

func (r *reader) functionWithArguments(text string) (types.OID, error) {
	name, args, err := r.splitSignature(text, false)
	if err != nil {
		return 0, err
	}
	found, err := r.candidates(functions(), name)
	if err != nil {
		return 0, err
	}
	for _, f := range found {
		if slices.Equal(f.args, args) && builtinObjects().function(f.id) {
			return f.id, nil
		}
	}
	return 0, sqlerr.New(sqlerr.UndefinedFunction, "function \"%s\" does not exist", text)
}

func (r *reader) operatorNamed(text string) (types.OID, error) {
	found, err := r.candidates(operators(), text)
	switch {
	case err != nil:
		return 0, err
	case len(found) > 1:
		return 0, sqlerr.New(sqlerr.AmbiguousFunction, "more than one operator named %s", text)
	case len(found) == 1 && builtinObjects().operator(found[0].id):
		return found[0].id, nil
	}
	return 0, errNoOperator(text)
}

func errNoOperator(text string) error {
	return sqlerr.New(sqlerr.UndefinedFunction, "operator does not exist: %s", text)
}

func (r *reader) operatorWithArguments(text string) (types.OID, error) {
	name, args, err := r.splitSignature(text, true)
	switch {
	case err != nil:
		return 0, err
	case len(args) == 1:
		return 0, sqlerr.New(sqlerr.UndefinedParameter, "missing argument").WithHint(
			"Use NONE to denote the missing argument of a unary operator.")
	case len(args) != 2:
		return 0, sqlerr.New(sqlerr.TooManyArguments, "too many arguments").WithHint(
			"Provide two argument types for operator.")
	}
	found, err := r.candidates(operators(), name)
	if err != nil {
		return 0, err
	}
	for _, o := range found {
		if slices.Equal(o.args, args) && builtinObjects().operator(o.id) {
			return o.id, nil
		}
	}
	return 0, errNoOperator(text)
}

// candidates are the functions or operators of a name as it is written, perhaps with its schema.
func (r *reader) candidates(all *routines, text string) ([]routine, error) {
	schema, name, err := r.splitName(text)
	if err != nil {
		return nil, err
	}
	return r.named(all, schema, name), nil
}

// splitName reads a name that may have a schema, which must exist, and the database before it.
func (r *reader) splitName(text string) (schema, name string, err error) {
	parts, ok := sqlname.SplitQualified(text)
	if !ok {
		return "", "", errNameSyntax()
	}
	name = parts[len(parts)-1]
	switch len(parts) {
	case 1:
		return "", name, nil
	case 2:
	case 3:
		if _, db := r.env.Database(); parts[0] != db {
			return "", "", sqlerr.New(sqlerr.FeatureNotSupported,
				"cross-database references are not implemented: %s", strings.Join(parts, "."))
		}
	default:
		return "", "", sqlerr.New(sqlerr.SyntaxError,
			"improper qualified name (too many dotted names): %s", strings.Join(parts, "."))
	}
	schema = parts[len(parts)-2]
	_, err = r.namespaceNamed(schema)
	return schema, name, err
}

func (r *reader) namespaceNamed(name string) (types.OID, error) {
	switch name {
	case "pg_catalog":
		return types.OID(CatalogSchemaID), nil
	case "information_schema":
		return types.OID(InformationSchemaID), nil
	case "pg_toast":
		return types.OID(toastSchemaID), nil
	}
	for _, s := range r.schemas() {
		if s.Name == name {
			return types.OID(s.ID), nil
		}
	}
	if r.err != nil {
		return 0, r.err
	}
	return 0, sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", name)
}

func (r *reader) roleNamed(name string) (types.OID, error) {
	if role := r.roles().ByName(name); role != nil {
		return types.OID(role.ID), nil
	}
	return 0, sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", name)
}

// dataNamed finds a row of data by its name.
func (r *reader) dataNamed(catalog, column, text, missing string) (types.OID, error) {
	schema, name, err := r.splitName(text)
	if err != nil {
		return 0, err
	}
	for t := range tuples(catalog) {
		if t.text(column) == name && r.reachable(t.oid("oid"), schema) {
			return t.oid("oid"), nil
		}
	}
	parts, _ := sqlname.SplitQualified(text)
	return 0, sqlerr.New(sqlerr.UndefinedObject, missing, strings.Join(parts, "."))
}

// reachable reports whether the object of a row of data is in a schema, or with "" on the search
// path.
func (r *reader) reachable(id types.OID, schema string) bool {
	e, present := r.memberSchemaOf(id)
	switch {
	case !present:
		return false
	case e == 0:
		return schema == "" || schema == "pg_catalog"
	}
	in, _ := r.namespaceName(e)
	return in == schema || schema == "" && slices.Contains(r.env.SearchPath(r.ctx), in)
}

func errSignature(message string) error {
	return sqlerr.New(sqlerr.InvalidTextRepresentation, "%s", message)
}

// splitSignature reads name(type, …). With none, the word NONE is a type that is missing.
func (r *reader) splitSignature(text string, none bool) (name string, args []types.OID, err error) {
	open := indexUnquoted(text, '(')
	if open < 0 {
		return "", nil, errSignature("expected a left parenthesis")
	}
	list, ok := strings.CutSuffix(strings.TrimRight(text[open+1:], " \t\n\r\f"), ")")
	if !ok {
		return "", nil, errSignature("expected a right parenthesis")
	}
	args = []types.OID{}
	for strings.TrimSpace(list) != "" || len(args) > 0 {
		arg := list
		comma := indexUnquoted(list, ',')
		if comma >= 0 {
			arg, list = list[:comma], list[comma+1:]
		}
		id, err := r.argumentType(strings.TrimSpace(arg), none)
		if err != nil {
			return "", nil, err
		}
		if args = append(args, id); comma < 0 {
			break
		}
	}
	return text[:open], args, nil
}

func (r *reader) argumentType(text string, none bool) (types.OID, error) {
	switch {
	case text == "":
		return 0, errSignature("expected a type name")
	case none && strings.EqualFold(text, "none"):
		return 0, nil
	}
	return r.env.TypeOID(r.ctx, text)
}

// indexUnquoted finds a character that is neither quoted nor within parentheses or brackets.
func indexUnquoted(s string, want byte) int {
	quoted, depth := false, 0
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == want && depth == 0:
			return i
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			depth--
		}
	}
	return -1
}
