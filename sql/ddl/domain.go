package ddl

import (
	"cmp"
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

// createDomain is CREATE DOMAIN.
func (env *Env) createDomain(ctx context.Context, s *ast.CreateDomain) error {
	d, err := env.newType(ctx, s.Name)
	if err != nil {
		return err
	}
	d.Kind = types.KindDomain
	base, err := planner.ResolveType(ctx, env.Planner, s.Type)
	if err != nil {
		return unplaced(err)
	}
	if base.IsPseudo() || base.OID == types.OIDRecord {
		return sqlerr.New(sqlerr.DatatypeMismatch, "\"%s\" is not a valid base type for a domain",
			s.Type.Name)
	}
	if base, d.Collation, err = env.resolveType(ctx, "", s.Type, s.Collation); err != nil {
		return err
	}
	if base.IsDomain() { // what a domain has when another is made over it stays with that
		d.Default = base.Def.Default
		if s.Collation == nil {
			below, err := env.View.UserType(ctx, table.ID(base.OID))
			if err != nil {
				return err
			}
			d.Collation = below.Collation
		}
	}
	d.Base = catalog.WireOf(base)
	if err := env.domainConstraints(ctx, d, base, s.Constraints); err != nil {
		return err
	}
	return env.View.CreateType(ctx, d)
}

// domainConstraints adds the constraints of CREATE DOMAIN to a descriptor.
func (env *Env) domainConstraints(ctx context.Context, d *catalog.TypeDesc, base *types.Type,
	list []ast.ColumnConstraint) error {
	var isNull, isNotNull, hasDefault bool
	for i := range list {
		k := &list[i]
		switch k.Kind {
		case "default":
			if hasDefault {
				return sqlerr.New(sqlerr.SyntaxError, "multiple default expressions")
			}
			hasDefault = true
			if err := env.domainDefault(ctx, d, base, k.Expr); err != nil {
				return err
			}
		case "not null":
			isNotNull, d.NotNull = true, true
		case "null":
			isNull = true
		case "check":
		case "references":
			return notForDomains("foreign key")
		case "unique", "primary key":
			return notForDomains(k.Kind)
		default:
			return sqlerr.Unsupported(int(k.Pos), "constraint "+k.Kind+" of a domain")
		}
		if isNull && isNotNull {
			return sqlerr.New(sqlerr.SyntaxError, "conflicting NULL/NOT NULL constraints")
		}
		if k.NoInherit {
			return sqlerr.New(sqlerr.InvalidObjectDefinition,
				"check constraints for domains cannot be marked NO INHERIT")
		}
		if k.Deferrable {
			return sqlerr.New(sqlerr.FeatureNotSupported,
				"specifying constraint deferrability not supported for domains")
		}
	}
	for i := range list {
		if list[i].Kind != "check" {
			continue
		}
		if _, err := env.addDomainCheck(ctx, d, base, list[i].Name, list[i].Expr,
			false); err != nil {
			return err
		}
	}
	return env.noteUses(ctx, d)
}

// notForDomains refuses a kind of constraint that only tables have.
func notForDomains(kind string) error {
	return sqlerr.New(sqlerr.SyntaxError, "%s constraints not possible for domains", kind)
}

// domainDefault sets the default of a domain. NULL means none, unless it hides that of the domain
// below.
func (env *Env) domainDefault(ctx context.Context, d *catalog.TypeDesc, base *types.Type,
	e ast.Expr) (err error) {
	if isNull(e) && !base.IsDomain() {
		d.Default, d.DefaultShown = "", ""
		return nil
	}
	if _, err := env.bindDefault(ctx, d.Name, base, e); err != nil {
		return unplaced(err)
	}
	if d.Default, err = env.storedDefault(ctx, e, base); err != nil {
		return err
	}
	d.DefaultShown, err = deparse.Expr(ctx, env.Planner, nil, e, base, deparse.Options{
		Name: env.visibleName,
		Type: func(t *types.Type) string { return env.visible(t.Def.Schema, t.Name) }})
	return err
}

// domainValue binds the value that rows get in a new column of a domain without a default of its
// own: the default of the domain, or a NULL that the domain may refuse.
func (env *Env) domainValue(ctx context.Context, n *newColumn) error {
	t := n.col.Type
	if n.bound != nil || n.identity != nil || n.generated != nil || !t.IsDomain() {
		return nil
	}
	var e ast.Expr = &ast.Literal{Kind: ast.LiteralNull}
	switch {
	case t.Def.Default != "":
		var err error
		if e, err = env.parse(t.Def.Default); err != nil {
			return err
		}
	case !t.Restricts():
		return nil
	}
	var err error
	n.bound, err = env.bindDefault(ctx, n.col.Name, t, e)
	return err
}

// addDomainCheck gives a domain a CHECK constraint and returns its name.
func (env *Env) addDomainCheck(ctx context.Context, d *catalog.TypeDesc, base *types.Type,
	name string, e ast.Expr, notValid bool) (string, error) {
	if name == "" {
		name = env.freeCheckName(d)
	} else if domainCheck(d, name) >= 0 {
		return "", sqlerr.New(sqlerr.DuplicateObject,
			"constraint \"%s\" for domain \"%s\" already exists", name, d.Name)
	}
	row := planner.DomainValue(base)
	if _, err := env.bindCheck(ctx, row, e); err != nil {
		return "", unplaced(err)
	}
	text, err := deparse.Expr(ctx, env.Planner, row, e, nil,
		deparse.Options{Source: true, Value: true})
	if err != nil {
		return "", err
	}
	id, err := env.View.NewID(ctx)
	if err != nil {
		return "", err
	}
	d.Checks = append(d.Checks, catalog.DomainCheck{OID: id, Name: name,
		Text: strings.TrimSpace(text), NotValid: notValid})
	sortChecks(d)
	return name, nil
}

// sortChecks puts the constraints into the order in which they are evaluated.
func sortChecks(d *catalog.TypeDesc) {
	slices.SortFunc(d.Checks,
		func(a, b catalog.DomainCheck) int { return cmp.Compare(a.Name, b.Name) })
}

// freeCheckName chooses the name of a constraint that was written without one.
func (env *Env) freeCheckName(d *catalog.TypeDesc) string {
	name, _ := freeName(d.Name, "", "check",
		func(s string) (bool, error) { return domainCheck(d, s) >= 0, nil })
	return name
}

// domainCheck returns the index of a constraint of a domain, or -1.
func domainCheck(d *catalog.TypeDesc, name string) int {
	return slices.IndexFunc(d.Checks,
		func(c catalog.DomainCheck) bool { return c.Name == name })
}
