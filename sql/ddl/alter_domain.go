package ddl

import (
	"context"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/deparse"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
)

// alterDomain is an action of ALTER DOMAIN that other types do not have.
func (env *Env) alterDomain(ctx context.Context, d *catalog.TypeDesc,
	a *ast.AlterTypeAction) error {
	next := d.Clone()
	var err error
	switch a.Kind {
	case "set default":
		var t *types.Type
		if t, err = env.View.Built(ctx, d); err == nil {
			err = env.domainDefault(ctx, next, t.Def.Base, a.Expr)
		}
	case "drop default":
		next.Default, next.DefaultShown = "", ""
	case "set not null":
		return env.domainNotNull(ctx, d, next)
	case "drop not null":
		next.NotNull = false
	case "add constraint":
		return env.constrainDomain(ctx, d, next, a.Constraint)
	case "drop constraint":
		i := domainCheck(d, a.Name.Name)
		switch {
		case i >= 0:
			next.Checks = slices.Delete(next.Checks, i, i+1)
		case a.IfExists:
			env.notice("00000", "constraint \"%s\" of domain \"%s\" does not exist, skipping",
				a.Name.Name, d.Name)
			return nil
		default:
			return noDomainConstraint(d, a.Name.Name)
		}
	case "rename constraint":
		err = env.renameDomainCheck(d, next, a)
	case "validate constraint":
		return env.validateDomain(ctx, d, next, a.Name.Name)
	default:
		return sqlerr.Unsupported(int(a.Pos), "ALTER DOMAIN action "+a.Kind)
	}
	if err != nil {
		return err
	}
	return env.putDomain(ctx, d, next, false)
}

func noDomainConstraint(d *catalog.TypeDesc, name string) error {
	return sqlerr.New(sqlerr.UndefinedObject, "constraint \"%s\" of domain \"%s\" does not exist",
		name, d.Name)
}

// putDomain stores a domain with other texts. exclude makes transactions fail that write values of
// the domain by the old definition.
func (env *Env) putDomain(ctx context.Context, d, next *catalog.TypeDesc, exclude bool) error {
	if err := env.noteUses(ctx, next); err != nil {
		return err
	}
	return env.View.UpdateType(ctx, d, next, exclude)
}

// noteUses sets the user types that the texts of a domain mention. A text may not mention the
// domain itself, whose values could never be checked then.
func (env *Env) noteUses(ctx context.Context, d *catalog.TypeDesc) error {
	d.Uses = nil
	texts := []string{d.Default}
	for _, c := range d.Checks {
		texts = append(texts, c.Text)
	}
	for _, text := range texts {
		if !strings.Contains(text, "::") {
			continue
		}
		ids, err := mentioned(ctx, env.Planner, text, false)
		if err != nil {
			return err
		}
		for _, id := range ids {
			u, err := env.View.TypeByOID(ctx, types.OID(id))
			if err != nil {
				return err
			}
			within, err := env.madeOf(ctx, u, d.ID)
			if err != nil {
				return err
			}
			if within {
				return sqlerr.New(sqlerr.FeatureNotSupported,
					"a constraint or default of a domain that names the domain is not supported")
			}
			if !slices.Contains(d.Uses, id) {
				d.Uses = append(d.Uses, id)
			}
		}
	}
	return nil
}

// domainNotNull is SET NOT NULL.
func (env *Env) domainNotNull(ctx context.Context, d, next *catalog.TypeDesc) error {
	if d.NotNull {
		return nil
	}
	next.NotNull = true
	err := env.verifyDomain(ctx, d, func(r *table.Desc, o int, v types.Datum) error {
		if !v.Null {
			return nil
		}
		e := sqlerr.New(sqlerr.NotNullViolation,
			"column \"%s\" of table \"%s\" contains null values", r.Columns[o].Name, r.Name)
		e.Schema, e.Table, e.Column = r.Schema, r.Name, r.Columns[o].Name
		return e
	})
	if err != nil {
		return err
	}
	return env.putDomain(ctx, d, next, true)
}

// constrainDomain is ADD CONSTRAINT.
func (env *Env) constrainDomain(ctx context.Context, d, next *catalog.TypeDesc,
	k *ast.TableConstraint) error {
	switch {
	case k.Kind == "exclude":
		return notForDomains("exclusion")
	case k.Kind != "check":
		return notForDomains(k.Kind)
	}
	t, err := env.View.Built(ctx, d)
	if err != nil {
		return err
	}
	base := t.Def.Base
	name, err := env.addDomainCheck(ctx, next, base, k.Name, k.Expr, k.NotValid)
	if err != nil {
		return err
	}
	if err := env.noteUses(ctx, next); err != nil {
		return err
	}
	if !k.NotValid {
		if err := env.verifyCheck(ctx, d, base, next.Checks[domainCheck(next, name)]); err != nil {
			return err
		}
	}
	return env.View.UpdateType(ctx, d, next, true)
}

// validateDomain is VALIDATE CONSTRAINT.
func (env *Env) validateDomain(ctx context.Context, d, next *catalog.TypeDesc, name string) error {
	i := domainCheck(d, name)
	if i < 0 {
		return noDomainConstraint(d, name)
	}
	t, err := env.View.Built(ctx, d)
	if err != nil {
		return err
	}
	if err := env.verifyCheck(ctx, d, t.Def.Base, d.Checks[i]); err != nil {
		return err
	}
	next.Checks[i].NotValid = false
	return env.View.UpdateType(ctx, d, next, true)
}

func (env *Env) renameDomainCheck(d, next *catalog.TypeDesc, a *ast.AlterTypeAction) error {
	i := domainCheck(d, a.Name.Name)
	if i < 0 {
		return sqlerr.New(sqlerr.UndefinedObject, "constraint \"%s\" for domain %s does not exist",
			a.Name.Name, env.visibleTypeName(d))
	}
	if domainCheck(d, a.NewName.Name) >= 0 {
		return sqlerr.New(sqlerr.DuplicateObject,
			"constraint \"%s\" for domain %s already exists", a.NewName.Name,
			env.visibleTypeName(d))
	}
	next.Checks[i].Name = a.NewName.Name
	sortChecks(next)
	return nil
}

// verifyCheck holds a constraint against every value of a domain that is stored.
func (env *Env) verifyCheck(ctx context.Context, d *catalog.TypeDesc, base *types.Type,
	c catalog.DomainCheck) error {
	e, err := env.parse(c.Text)
	if err != nil {
		return err
	}
	x, err := env.bindCheck(ctx, planner.DomainValue(base), e)
	if err != nil {
		return err
	}
	holds, err := env.program(x)
	if err != nil {
		return err
	}
	value := make([]types.Datum, 1)
	return env.verifyDomain(ctx, d, func(r *table.Desc, o int, v types.Datum) error {
		value[0] = v
		ok, err := holds(value)
		if err != nil || ok.Null || ok.Bool() {
			return err
		}
		e := sqlerr.New(sqlerr.CheckViolation,
			"column \"%s\" of table \"%s\" contains values that violate the new constraint",
			r.Columns[o].Name, r.Name)
		e.Schema, e.Table, e.Column = r.Schema, r.Name, r.Columns[o].Name
		return e
	})
}

// verifyDomain calls f for every stored value of a domain, and of those over it, with its relation
// and the ordinal of its column. It makes the statement fail if others write such values before it
// commits. Values within arrays and composites cannot be looked through.
func (env *Env) verifyDomain(ctx context.Context, d *catalog.TypeDesc,
	f func(r *table.Desc, o int, v types.Datum) error) error {
	stored, err := env.storedIn(ctx, d, d.ID)
	if err != nil {
		return err
	}
	for _, s := range stored {
		env.Tx.Validate(s.relation.IndexSpan(table.RowIndexID))
		err := catalog.Rows(ctx, env.Tx, s.relation, func(row []types.Datum) error {
			for _, o := range s.columns {
				if err := f(s.relation, o, row[o]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// domainColumns are the columns of a relation whose values are of a domain.
type domainColumns struct {
	relation *table.Desc
	columns  []int
}

// storedIn finds where values of a domain are stored; by is the domain, or a type made of it. It
// refuses where they are parts of other values.
func (env *Env) storedIn(ctx context.Context, d *catalog.TypeDesc, by table.ID) ([]domainColumns,
	error) {
	relations, others, err := env.View.TypeDependents(ctx, by)
	if err != nil {
		return nil, err
	}
	var out []domainColumns
	for _, r := range relations {
		if !r.HasRows() {
			continue
		}
		found := domainColumns{relation: r}
		for o := range r.Columns {
			t := r.Columns[o].Type
			switch {
			case isOver(t, d.ID):
				found.columns = append(found.columns, o)
			case containsType(t, d.ID):
				return nil, sqlerr.New(sqlerr.FeatureNotSupported,
					"cannot alter type \"%s\" because column \"%s.%s\" uses it", d.Name, r.Name,
					r.Columns[o].Name)
			}
		}
		if len(found.columns) > 0 && by == d.ID || hasOver(r, found.columns, by) {
			out = append(out, found)
		}
	}
	for _, o := range others {
		more, err := env.storedIn(ctx, d, o.ID)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// hasOver reports whether one of the columns is of the type itself.
func hasOver(r *table.Desc, columns []int, id table.ID) bool {
	return slices.ContainsFunc(columns,
		func(o int) bool { return table.ID(r.Columns[o].Type.OID) == id })
}

// isOver reports whether a type is the domain, or a domain over it.
func isOver(t *types.Type, id table.ID) bool {
	for ; t.IsDomain(); t = t.Def.Base {
		if table.ID(t.OID) == id {
			return true
		}
	}
	return false
}

// containsType reports whether a type is another one, or is made of it.
func containsType(t *types.Type, id table.ID) bool {
	found := false
	t.UserTypes(func(u *types.Type) {
		found = found || table.ID(u.OID) == id
		if u.IsDomain() {
			found = found || containsType(u.Def.Base, id)
		}
		for _, a := range u.Def.Attributes {
			found = found || containsType(a.Type, id)
		}
	})
	return found
}

// reprintDomains prints the texts of domains anew, which mention a type that changes its name.
func (env *Env) reprintDomains(ctx context.Context, list []*catalog.TypeDesc,
	opts deparse.Options) ([]mendedType, error) {
	var out []mendedType
	for _, d := range list {
		if d.Kind != types.KindDomain || d.Default == "" && len(d.Checks) == 0 {
			continue
		}
		t, err := env.View.Built(ctx, d)
		if err != nil {
			return nil, err
		}
		next := d.Clone()
		if d.Default != "" {
			text, err := deparse.Stored(ctx, env.Planner, nil, d.Default, t.Def.Base, opts)
			if err != nil {
				return nil, err
			}
			next.Default = strings.TrimSpace(text)
		}
		row, value := planner.DomainValue(t.Def.Base), opts
		value.Value = true
		for i := range next.Checks {
			text, err := deparse.Stored(ctx, env.Planner, row, next.Checks[i].Text, nil, value)
			if err != nil {
				return nil, err
			}
			next.Checks[i].Text = strings.TrimSpace(text)
		}
		out = append(out, mendedType{d, next})
	}
	return out, nil
}

// mendedType is a type whose stored texts have been printed anew.
type mendedType struct{ old, next *catalog.TypeDesc }

// putMendedTypes stores types whose texts have been printed anew.
func (env *Env) putMendedTypes(ctx context.Context, list []mendedType) error {
	for _, m := range list {
		if err := env.View.UpdateType(ctx, m.old, m.next, false); err != nil {
			return err
		}
	}
	return nil
}
