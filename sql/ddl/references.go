package ddl

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/catalog"
)

// reportedMost bounds the objects that an error lists.
const reportedMost = 100

// referencesTo lists the objects that name a role, as DROP ROLE reports them; "" when there are
// none.
func (env *Env) referencesTo(ctx context.Context, role acl.RoleID) (string, error) {
	refs, err := env.View.References(ctx, role)
	if err != nil {
		return "", err
	}
	slices.SortFunc(refs, func(a, b catalog.Reference) int {
		return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.Class, b.Class),
			cmp.Compare(a.Sub, b.Sub), cmp.Compare(a.Why, b.Why))
	})
	var lines []string
	elsewhere := map[table.ID]int{}
	more := 0
	for _, r := range refs {
		if r.Database != 0 && r.Database != env.Database {
			elsewhere[r.Database]++
			continue
		}
		what, err := env.describeReference(ctx, r)
		if err != nil {
			return "", err
		}
		if len(lines) < reportedMost {
			lines = append(lines, what)
		} else {
			more++
		}
	}
	if more > 0 {
		lines = append(lines, plural(more, "and %d other object", "s")+
			" (see server log for list)")
	}
	others, err := env.inDatabases(ctx, elsewhere)
	return strings.Join(append(lines, others...), "\n"), err
}

func plural(n int, format, ending string) string {
	if n == 1 {
		ending = ""
	}
	return fmt.Sprintf(format, n) + ending
}

// inDatabases says how many objects other databases have.
func (env *Env) inDatabases(ctx context.Context, counts map[table.ID]int) (out []string,
	err error) {
	if len(counts) == 0 {
		return nil, nil
	}
	all, err := env.View.Databases(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b catalog.Database) int { return cmp.Compare(a.ID, b.ID) })
	for _, db := range all {
		if n := counts[db.ID]; n > 0 {
			out = append(out, plural(n, "%d object", "s")+" in database "+
				sqlname.Quote(db.Name))
		}
	}
	return out, nil
}

// describeReference says what an object is to a role that it names.
func (env *Env) describeReference(ctx context.Context, r catalog.Reference) (string, error) {
	what, err := env.describeObject(ctx, r)
	if err != nil {
		return "", err
	}
	switch r.Why {
	case catalog.ByOwner:
		return "owner of " + what, nil
	case catalog.ByPolicy:
		return "target of " + what, nil
	}
	return "privileges for " + what, nil
}

func (env *Env) describeObject(ctx context.Context, r catalog.Reference) (string, error) {
	switch r.Class {
	case catalog.ClassRelation:
		d, err := env.View.RelationByID(ctx, r.Object)
		if err != nil || d == nil {
			return fmt.Sprintf("relation %d", r.Object), err
		}
		if r.Why == catalog.ByPolicy {
			return env.describePolicyTarget(d, r), nil
		}
		return env.describePart(d, r), nil
	case catalog.ClassSchema:
		all, err := env.View.Schemas(ctx, env.Database)
		for _, s := range all {
			if s.ID == r.Object {
				return "schema " + sqlname.Quote(s.Name), err
			}
		}
		return fmt.Sprintf("schema %d", r.Object), err
	case catalog.ClassDatabase:
		all, err := env.View.Databases(ctx)
		for _, db := range all {
			if db.ID == r.Object {
				return "database " + sqlname.Quote(db.Name), err
			}
		}
		return fmt.Sprintf("database %d", r.Object), err
	case catalog.ClassType:
		d, err := env.View.UserType(ctx, r.Object)
		if err != nil || d == nil {
			return fmt.Sprintf("type %d", r.Object), err
		}
		return "type " + env.visibleTypeName(d), nil
	case catalog.ClassLargeObject:
		return fmt.Sprintf("large object %d", r.Object), nil
	case catalog.ClassDefaultPrivileges:
		return env.describeDefaults(ctx, r.Object)
	case catalog.ClassExtension:
		all, err := env.View.Extensions(ctx, env.Database)
		for _, e := range all {
			if e.ID == r.Object {
				return "extension " + sqlname.Quote(e.Name), err
			}
		}
		return fmt.Sprintf("extension %d", r.Object), err
	case catalog.ClassObject:
		if env.System != nil {
			return env.System.ObjectText(ctx, acl.Class(r.Sub), r.Object), nil
		}
	}
	return fmt.Sprintf("object %d", r.Object), nil
}

// describePart names a relation, or the column of it that a reference is from.
func (env *Env) describePart(d *table.Desc, r catalog.Reference) string {
	whole := env.describe(d)
	if r.Sub == 0 {
		return whole
	}
	if i := d.ColumnByID(table.ColumnID(r.Sub)); i >= 0 {
		return "column " + sqlname.Quote(d.Columns[i].Name) + " of " + whole
	}
	return whole
}

// describeDefaults names default privileges.
func (env *Env) describeDefaults(ctx context.Context, id table.ID) (string, error) {
	all, err := env.View.DefaultPrivileges(ctx, env.Database)
	if err != nil {
		return "", err
	}
	a, err := env.authority(ctx)
	if err != nil {
		return "", err
	}
	for _, d := range all {
		if d.OID != id {
			continue
		}
		noun := map[acl.Class]string{acl.Relation: "relations", acl.Sequence: "sequences",
			acl.Function: "functions", acl.Type: "types", acl.Schema: "schemas"}[d.Class]
		what := fmt.Sprintf("default privileges on new %s belonging to role %s", noun,
			sqlname.Quote(a.Name(d.Role)))
		schemas, err := env.View.Schemas(ctx, env.Database)
		if err != nil {
			return "", err
		}
		for _, s := range schemas {
			if s.ID == d.Schema {
				what += " in schema " + sqlname.Quote(s.Name)
			}
		}
		return what, nil
	}
	return fmt.Sprintf("default privileges %d", id), nil
}
