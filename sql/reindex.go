package sql

import (
	"context"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
)

// reindex builds indexes anew: one, those of a table, or those of many tables, each of which then
// has a transaction of its own.
func (s maintenance) reindex(ctx context.Context, st *ast.Maintenance) error {
	verbose, concurrently, err := readReindex(st)
	if err != nil {
		return err
	}
	if err := s.writable("REINDEX"); err != nil {
		return err
	}
	if concurrently {
		if err := s.alone("REINDEX CONCURRENTLY"); err != nil {
			return err
		}
	}
	name := st.Tables[0].Name
	switch st.Kind {
	case "index":
		return s.ddlEnv(ctx).ReindexIndex(ctx, name, s.toldReindex(verbose))
	case "table":
		return s.ddlEnv(ctx).ReindexTable(ctx, name, s.toldReindex(verbose))
	}
	if err := s.alone("REINDEX " + strings.ToUpper(st.Kind)); err != nil {
		return err
	}
	return s.reindexMany(ctx, st.Kind, name, concurrently, verbose)
}

// readReindex reads the options. CONCURRENTLY is what every REINDEX is to readers; writers wait for
// it within their patience, as for CREATE INDEX.
func readReindex(st *ast.Maintenance) (verbose, concurrently bool, err error) {
	for i := range st.Options {
		o := &st.Options[i]
		switch strings.ToLower(o.Name) {
		case "verbose":
			verbose, err = boolOption(o)
		case "concurrently":
			concurrently, err = boolOption(o)
		case "tablespace":
			err = sqlerr.Unsupported(int(o.Pos), "REINDEX (TABLESPACE)")
		default:
			err = unknownOption("REINDEX", o)
		}
		if err != nil {
			return false, false, err
		}
	}
	return verbose, concurrently, nil
}

func (s maintenance) toldReindex(verbose bool) func(index string) {
	return func(index string) { s.info(verbose, "index \"%s\" was reindexed", index) }
}

// reindexMany builds the indexes of a schema or of the database anew. The system catalogs have
// none: the server makes their rows, and finds the schema itself by its keys.
func (s maintenance) reindexMany(ctx context.Context, kind string, name ast.Name, concurrently,
	verbose bool) error {
	schema := ""
	switch kind {
	case "schema":
		schema = name.Name
		sc, ok, err := s.tx.view.Schema(ctx, s.databaseID, schema)
		if err != nil {
			return err
		}
		owner := acl.Postgres
		if ok {
			owner = sc.OwnedBy()
		} else if schema != "pg_catalog" && schema != "information_schema" {
			return sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", schema)
		}
		if err := s.mustBe(ctx, owner, "must be owner of schema %s", schema); err != nil {
			return err
		}
	default:
		if kind == "system" && concurrently {
			return sqlerr.New(sqlerr.FeatureNotSupported,
				"cannot reindex system catalogs concurrently")
		}
		if name.Name != s.database {
			return sqlerr.New(sqlerr.FeatureNotSupported,
				"can only reindex the currently open database")
		}
		a, err := s.authority(ctx)
		if err != nil {
			return err
		}
		if err := s.mustBe(ctx, a.DatabaseOwner, "must be owner of database %s",
			name.Name); err != nil {
			return err
		}
		if kind == "system" {
			return nil
		}
	}
	targets, err := s.allTables(ctx, schema)
	if err != nil {
		return err
	}
	for _, t := range targets {
		if err := s.reindexAlone(ctx, t.desc.ID, verbose); err != nil {
			return err
		}
	}
	return nil
}

// reindexAlone builds the indexes of a table anew in a transaction of its own, which it repeats
// after conflicts.
func (s maintenance) reindexAlone(ctx context.Context, id table.ID, verbose bool) error {
	for attempt := 0; ; attempt++ {
		if err := s.commit(ctx); err != nil {
			return err
		}
		s.start(inImplicit)
		err := s.beginStatement(ctx, &kind{})
		if err == nil {
			err = s.ddlEnv(ctx).ReindexByID(ctx, id, s.toldReindex(verbose))
		}
		if err == nil {
			if err = s.commit(ctx); err == nil {
				s.start(inImplicit)
				return nil
			}
			s.start(inImplicit)
		}
		if attempt >= maxAttempts || !retryable(err) {
			return err
		}
		s.abort(ctx)
		if err := backoff(ctx, attempt); err != nil {
			return err
		}
		s.start(inImplicit)
	}
}
