package sql

import (
	"context"

	"github.com/minidb/minidb/table/extension"
)

// extensions returns what finds the members of the database's extensions by the session's search
// path; nil while it has none but plpgsql, which has no members that a statement names.
func (s *planRunner) extensions(ctx context.Context) (*extension.Scope, error) {
	if s.tx.view == nil {
		return nil, nil
	}
	all, err := s.tx.view.Extensions(ctx, s.databaseID)
	if err != nil {
		return nil, err
	}
	var created []extension.Created
	for _, e := range all {
		if e.Name != extension.PLpgSQL {
			created = append(created, extension.Created{Name: e.Name, Schema: e.Schema})
		}
	}
	if created == nil {
		return nil, nil
	}
	path, err := s.path(ctx)
	return extension.NewScope(created, path), err
}
