package builtin

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

//go:embed identities.sql
var identityText string

// identityQuery finds the identities of the objects of a catalog. Without a query there are none.
type identityQuery struct{ kind, query string }

// identityQueries are those of identities.sql, by the object ID of the catalog.
var identityQueries = sync.OnceValue(func() map[int64]identityQuery {
	out := map[int64]identityQuery{}
	_, text, _ := strings.Cut(identityText, "\n\n")
	for part := range strings.SplitSeq("\n"+text, "\n-- ") {
		head, body, _ := strings.Cut(part, "\n")
		var class int64
		if n, _ := fmt.Sscan(head, &class); n == 0 {
			continue
		}
		_, kind, _ := strings.Cut(head, " ")
		out[class] = identityQuery{kind: kind, query: expandIdentity(kind, strings.TrimSpace(body))}
	}
	return out
})

// sqlNamed are the types that format_type prints by SQL's own names, which have no schema.
const sqlNamed = "16, 20, 21, 23, 700, 701, 1042, 1043, 1083, 1114, 1184, 1186, 1266, " +
	"1560, 1562, 1700"

// nameOfType matches TYPE(x).
var nameOfType = regexp.MustCompile(`TYPE\(([a-z.]+)\)`)

// expandIdentity replaces the abbreviations of identities.sql.
func expandIdentity(kind, body string) string {
	words := strings.Fields(body)
	if len(words) == 0 {
		return ""
	}
	const quoted = "pg_catalog.quote_ident("
	from := func(alias, namespace string) string {
		return " FROM pg_catalog." + words[1] + " " + alias +
			" JOIN pg_catalog.pg_namespace n ON n.oid = " + alias + "." + namespace
	}
	switch words[0] {
	case "ALONE":
		return "SELECT '" + kind + "', NULL, " + quoted + words[2] + "), " + quoted + words[2] +
			"), ARRAY[" + words[2] + "::text], '{}'::text[] FROM pg_catalog." + words[1] +
			" WHERE oid = $1"
	case "NAMED":
		name := "o." + words[2] + "name"
		return "SELECT '" + kind + "', " + quoted + "n.nspname), " + quoted + name + "), " +
			quoted + "n.nspname) || '.' || " + quoted + name + "), ARRAY[n.nspname::text, " + name +
			"::text], '{}'::text[]" + from("o", words[2]+"namespace") + " WHERE o.oid = $1"
	case "CLASS":
		name := "o." + words[2] + "name"
		return "SELECT '" + kind + "', " + quoted + "n.nspname), " + quoted + name + "), " +
			quoted + "n.nspname) || '.' || " + quoted + name + ") || ' USING ' || " + quoted +
			"m.amname), ARRAY[m.amname::text, n.nspname::text, " + name + "::text], '{}'::text[]" +
			from("o", words[2]+"namespace") + " JOIN pg_catalog.pg_am m ON m.oid = o." + words[2] +
			"method WHERE o.oid = $1"
	case "MEMBER":
		number := "o." + words[2] + words[3]
		body = "SELECT '" + kind + "', NULL, NULL, '" + words[4] + " ' || " + number +
			" || ' (' || TYPE(o." + words[2] + "lefttype) || ', ' || TYPE(o." + words[2] +
			"righttype) || ') of ' || " + quoted + "n.nspname) || '.' || " + quoted +
			"f.opfname) || ' USING ' || " + quoted + "m.amname), ARRAY[m.amname::text, " +
			"n.nspname::text, f.opfname::text, " + number + "::text], ARRAY[TYPE(o." + words[2] +
			"lefttype), TYPE(o." + words[2] + "righttype)] FROM pg_catalog." + words[1] +
			" o JOIN pg_catalog.pg_opfamily f ON f.oid = o." + words[2] + "family " +
			"JOIN pg_catalog.pg_namespace n ON n.oid = f.opfnamespace " +
			"JOIN pg_catalog.pg_am m ON m.oid = f.opfmethod WHERE o.oid = $1"
	}
	return nameOfType.ReplaceAllString(body, `(SELECT CASE WHEN e.oid IN (`+sqlNamed+`)
		THEN pg_catalog.format_type(e.oid, NULL) ELSE pg_catalog.quote_ident(s.nspname) || '.' ||
			pg_catalog.quote_ident(e.typname) END || CASE WHEN e.oid <> w.oid THEN '[]' ELSE '' END
		FROM pg_catalog.pg_type w JOIN pg_catalog.pg_type e
			ON e.oid = CASE WHEN w.typcategory = 'A' AND w.typstorage <> 'p' AND w.typelem <> 0
				THEN w.typelem ELSE w.oid END
			JOIN pg_catalog.pg_namespace s ON s.oid = e.typnamespace
		WHERE w.oid = $1)`)
}

// identityFunctions return which object has the object IDs, in a form that does not depend on the
// search path.
func identityFunctions() []def {
	identify := f("pg_identify_object(oid,oid,int4) record",
		identity("type text,schema text,name text,identity text", 1, 2, 3)).stable()
	identify.cols = "type text,schema text,name text,identity text"
	address := f("pg_identify_object_as_address(oid,oid,int4) record",
		identity("type text,object_names text[],object_args text[]", 4, 5)).stable()
	address.cols = "type text,object_names text[],object_args text[]"
	return []def{identify, address}
}

// identity makes a function that returns the kind of an object and these columns of the query, NULL
// for an object that there is not.
func identity(cols string, columns ...int) scalar {
	row := types.RowOf(parseFields(cols))
	ts := []*types.Type{types.TOid, types.TInt4}
	return asking(func(s expr.SystemQueries, _ *expr.Runtime,
		a []types.Datum) (types.Datum, error) {
		q, ok := identityQueries()[a[0].I]
		if !ok {
			return types.Null, sqlerr.New(sqlerr.InternalError, "unrecognized object class: %d",
				a[0].I)
		}
		out := make([]types.Datum, 1, len(columns)+1)
		out[0] = types.NewString(missingKind(q.kind, a[2].I))
		for range columns {
			out = append(out, types.Null)
		}
		if q.query == "" {
			return types.NewRecord(row, out), nil
		}
		params := a[1:]
		if !strings.Contains(q.query, "$2") {
			params = a[1:2]
		}
		err := s.SystemQuery(q.query, ts[:len(params)], params, func(found []types.Datum) error {
			out[0] = found[0]
			for i, c := range columns {
				out[i+1] = found[c]
			}
			return nil
		})
		return types.NewRecord(row, out), err
	})
}

// missingKind is the kind of an object that there is not, or of a column of it.
func missingKind(kind string, column int64) string {
	if kind == "relation" && column != 0 {
		return "relation column"
	}
	return kind
}
