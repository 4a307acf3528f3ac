package ddl

import (
	"context"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table/acl"
)

// SchemaElements returns the statements of CREATE SCHEMA in the order in which they run, with the
// name of the schema in them, and the schema's owner, which runs them. As in PostgreSQL, what
// others may refer to comes first: sequences, tables, views, indexes, privileges.
func SchemaElements(ctx context.Context, env *Env, s *ast.CreateSchema) (schema string,
	owner acl.RoleID, elements []ast.Statement, err error) {
	a, err := env.authority(ctx)
	if err != nil {
		return "", 0, nil, err
	}
	role := a.Roles.ByID(a.Current)
	if s.Owner != nil {
		if role, err = namedRole(a, *s.Owner); err != nil {
			return "", 0, nil, err
		}
	}
	if schema = s.Name; schema == "" {
		schema = role.Name
	}
	for _, el := range s.Elements {
		if el, err = inSchema(el, schema); err != nil {
			return "", 0, nil, err
		}
		elements = append(elements, el)
	}
	slices.SortStableFunc(elements, func(a, b ast.Statement) int {
		return elementRank(a) - elementRank(b)
	})
	return schema, role.ID, elements, nil
}

func elementRank(el ast.Statement) int {
	switch el.(type) {
	case *ast.CreateSequence:
		return 0
	case *ast.CreateTable:
		return 1
	case *ast.CreateView:
		return 2
	case *ast.CreateIndex:
		return 3
	}
	return 4
}

// inSchema returns the statement with the schema's name before the name of what it makes.
func inSchema(el ast.Statement, schema string) (ast.Statement, error) {
	var made ast.Statement
	var name *ast.Name
	switch s := el.(type) {
	case *ast.CreateSequence:
		c := *s
		made, name = &c, &c.Name
	case *ast.CreateTable:
		c := *s
		made, name = &c, &c.Name
	case *ast.CreateView:
		c := *s
		made, name = &c, &c.Name
	case *ast.CreateIndex:
		c := *s
		made, name = &c, &c.Table
	default:
		return el, nil
	}
	if name.Schema != "" && name.Schema != schema {
		return nil, sqlerr.New("42P15",
			"CREATE specifies a schema (%s) different from the one being created (%s)",
			name.Schema, schema)
	}
	name.Schema = schema
	return made, nil
}
