package sql

import (
	"context"

	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/sql/ddl"
	"github.com/minidb/minidb/table/acl"
)

// newSchema is the schema whose elements CREATE SCHEMA is making, "" for none: names are looked up
// there before the search path, and its owner makes what is in it.
type newSchema struct {
	schema string
	owner  acl.RoleID
}

// ownerOfNewSchema returns the authority of the owner of s.creating.
func (s *planRunner) ownerOfNewSchema(ctx context.Context) (*acl.Authority, error) {
	a, err := s.authority(ctx)
	if err != nil {
		return nil, err
	}
	return a.As(s.creating.owner), nil
}

// createSchema runs CREATE SCHEMA with elements: the schema, and then one element after the other,
// each as a schema change of its own, which may begin again when it has waited for a lock.
func (s utility) createSchema(ctx context.Context, stmt *ast.CreateSchema) (string, error) {
	if err := s.ensure(ctx); err != nil {
		return "", err
	}
	schema, owner, elements, err := ddl.SchemaElements(ctx, s.ddlEnv(ctx), stmt)
	if err != nil {
		return "", err
	}
	tag, err := s.changeSchema(ctx, stmt)
	if err != nil {
		return "", err
	}
	s.creating = newSchema{schema, owner}
	defer func() { s.creating = newSchema{} }()
	for _, el := range elements {
		if _, err := s.changeSchema(ctx, el); err != nil {
			return "", err
		}
	}
	return tag, nil
}
