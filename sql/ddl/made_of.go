package ddl

import (
	"cmp"
	"context"
	"slices"

	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/bind"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
)

// users are the relations and types that a composite type is part of: those with columns or
// attributes of it, of arrays of it, or of what is made of it in turn, and the views and policies
// that read such relations. Their texts may name a field of the type.
type users struct {
	env       *Env
	seen      map[table.ID]bool
	relations []*table.Desc
	types     []*catalog.TypeDesc
}

// usersOf lists the users of a type by their IDs.
func (env *Env) usersOf(ctx context.Context, id table.ID) (*users, error) {
	u := &users{env: env, seen: map[table.ID]bool{}}
	if err := u.ofType(ctx, id); err != nil {
		return nil, err
	}
	slices.SortFunc(u.relations, func(a, b *table.Desc) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(u.types, func(a, b *catalog.TypeDesc) int { return cmp.Compare(a.ID, b.ID) })
	return u, nil
}

func (u *users) ofType(ctx context.Context, id table.ID) error {
	relations, others, err := u.env.View.TypeDependents(ctx, id)
	if err != nil {
		return err
	}
	for _, o := range others {
		if u.seen[o.ID] {
			continue
		}
		u.seen[o.ID] = true
		u.types = append(u.types, o)
		if err := u.ofType(ctx, o.ID); err != nil {
			return err
		}
	}
	return u.add(ctx, relations)
}

// add adds relations, with those that read them or have columns of their row types.
func (u *users) add(ctx context.Context, relations []*table.Desc) error {
	for _, r := range relations {
		if u.seen[r.ID] {
			continue
		}
		u.seen[r.ID] = true
		u.relations = append(u.relations, r)
		views, err := u.env.View.Dependents(ctx, r.ID)
		if err != nil {
			return err
		}
		guarded, err := u.env.View.Guarded(ctx, r.ID)
		if err != nil {
			return err
		}
		if err := u.add(ctx, slices.Concat(views, guarded)); err != nil {
			return err
		}
		if r.RowType == 0 {
			continue
		}
		if err := u.ofType(ctx, r.RowType); err != nil {
			return err
		}
	}
	return nil
}

// storedPart is a part of a relation or of a domain that has a text: a view as a whole, else as in
// tableColumn or typePart.
type storedPart struct {
	relation *table.Desc
	part     tableColumn
	domain   *catalog.TypeDesc
	check    string
	what     string // its description
}

// without lists the parts of users whose texts cannot be bound after a change that is undone again:
// they rest on what it takes away.
func (u *users) without(ctx context.Context, change func() error) ([]storedPart, error) {
	sp := u.env.Tx.Savepoint()
	defer u.env.Tx.RollbackTo(sp)
	if err := change(); err != nil {
		return nil, err
	}
	var out []storedPart
	for _, r := range u.relations {
		now, err := u.env.View.RelationByID(ctx, r.ID)
		if err != nil {
			return nil, err
		}
		b := &bindings{env: u.env, was: r, now: now}
		if err := b.verify(ctx); err != nil {
			return nil, err
		}
		out = append(out, b.broken...)
	}
	for _, d := range u.types {
		broken, err := u.env.brokenChecks(ctx, d)
		if err != nil {
			return nil, err
		}
		out = append(out, broken...)
	}
	return out, nil
}

// brokenChecks lists the constraints of a domain that cannot be bound.
func (env *Env) brokenChecks(ctx context.Context, d *catalog.TypeDesc) (out []storedPart,
	err error) {
	if d.Kind != types.KindDomain || len(d.Checks) == 0 {
		return nil, nil
	}
	now, err := env.View.UserType(ctx, d.ID)
	if err != nil {
		return nil, err
	}
	t, err := env.View.Built(ctx, now)
	if err != nil {
		return nil, err
	}
	for _, c := range d.Checks {
		e, err := env.parse(c.Text)
		if err != nil {
			return nil, err
		}
		if _, err = env.bindCheck(ctx, planner.DomainValue(t.Def.Base), e); err == nil {
			continue
		}
		if err := onlySQL(err); err != nil {
			return nil, err
		}
		out = append(out, storedPart{domain: d, check: c.Name,
			what: "constraint " + sqlname.Quote(c.Name)})
	}
	return out, nil
}

// bindings binds the texts of a relation.
type bindings struct {
	env      *Env
	was, now *table.Desc
	broken   []storedPart
}

// try notes a part if one of its texts cannot be bound.
func (b *bindings) try(part tableColumn, what string, err error) error {
	if err == nil {
		return nil
	}
	if err := onlySQL(err); err != nil {
		return err
	}
	part.table = b.was.ID
	b.broken = append(b.broken, storedPart{relation: b.was, part: part, what: what})
	return nil
}

func (b *bindings) verify(ctx context.Context) error {
	if b.now.View != nil {
		holds, err := b.env.viewHolds(ctx, b.now)
		if err == nil && !holds {
			b.broken = append(b.broken, storedPart{relation: b.was, what: b.env.describe(b.was)})
		}
		return err
	}
	for _, f := range []func(context.Context) error{b.indexes, b.checks, b.columns, b.policies} {
		if err := f(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (b *bindings) columns(ctx context.Context) error {
	of := " of " + b.env.describe(b.was)
	for i := range b.now.Columns {
		c := &b.now.Columns[i]
		name := sqlname.Quote(c.Name)
		if c.Generated != "" {
			e, err := b.env.parse(c.Generated)
			if err == nil {
				_, err = b.env.bindGenerated(ctx, b.now, i, e)
			}
			part := tableColumn{column: c.ID, part: "column"}
			if err := b.try(part, "column "+name+of, err); err != nil {
				return err
			}
		}
		if c.DefaultText != "" {
			e, err := b.env.parse(c.DefaultText)
			if err == nil {
				_, err = b.env.bindDefault(ctx, c.Name, c.Type, e)
			}
			part := tableColumn{column: c.ID, part: "default"}
			if err := b.try(part, "default value for column "+name+of, err); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *bindings) checks(ctx context.Context) error {
	for _, c := range b.now.Checks {
		e, err := b.env.parse(c.Text)
		if err == nil {
			_, err = b.env.bindCheck(ctx, b.now, e)
		}
		what := "constraint " + sqlname.Quote(c.Name) + " on " + b.env.describe(b.was)
		if err := b.try(tableColumn{part: "check", name: c.Name}, what, err); err != nil {
			return err
		}
	}
	return nil
}

func (b *bindings) indexes(ctx context.Context) error {
	for i := range b.now.Indexes {
		ix := &b.now.Indexes[i]
		err := b.index(ctx, ix)
		part := tableColumn{part: "index", name: ix.Name}
		if err := b.try(part, "index "+sqlname.Quote(ix.Name), err); err != nil {
			return err
		}
	}
	return nil
}

// index binds the predicate and the expressions of an index.
func (b *bindings) index(ctx context.Context, ix *table.Index) error {
	if ix.WhereText != "" {
		e, err := b.env.parse(ix.WhereText)
		if err != nil {
			return err
		}
		if _, err := bind.IndexPredicate(ctx, b.env.Planner, b.now, e); err != nil {
			return err
		}
	}
	for _, k := range ix.Columns {
		x := b.now.Expr(b.now.Part(k.ColumnID))
		if x == nil {
			continue
		}
		e, err := b.env.parse(x.Text)
		if err != nil {
			return err
		}
		if _, _, err := bind.IndexExpr(ctx, b.env.Planner, b.now, e); err != nil {
			return err
		}
	}
	return nil
}

func (b *bindings) policies(ctx context.Context) error {
	for i := range b.now.Policies {
		p := &b.now.Policies[i]
		holds, err := b.env.policyHolds(ctx, b.now, p)
		if err != nil {
			return err
		}
		if !holds {
			b.broken = append(b.broken, storedPart{relation: b.was,
				part: tableColumn{table: b.was.ID, part: "policy", name: p.Name},
				what: b.env.describePolicy(b.was, p)})
		}
	}
	return nil
}

// partsWithout notes what rests on a part of a type. As in PostgreSQL the newest relation is
// followed first and reported last, each before what rests on it in turn.
func (dr *dropper) partsWithout(ctx context.Context, parts []storedPart, on string) error {
	var details, cascaded []string
	for i := len(parts) - 1; i >= 0; i-- {
		n := len(dr.details)
		if err := dr.partWithout(ctx, &parts[i], on); err != nil {
			return err
		}
		details = append(slices.Clone(dr.details[n:]), details...)
		cascaded = append(slices.Clone(dr.cascaded[n:]), cascaded...)
		dr.details, dr.cascaded = dr.details[:n], dr.cascaded[:n]
	}
	dr.details = append(dr.details, details...)
	dr.cascaded = append(dr.cascaded, cascaded...)
	return nil
}

func (dr *dropper) partWithout(ctx context.Context, p *storedPart, on string) error {
	switch {
	case p.domain != nil:
		dr.depends(p.what, on)
		dr.parts = append(dr.parts, typePart{of: p.domain.ID, check: p.check})
	case dr.going[p.relation.ID]:
	case p.part.part == "":
		dr.going[p.relation.ID] = true
		dr.depends(p.what, on)
		return dr.follow(ctx, p.relation)
	default:
		if err := dr.env.lockWhole(ctx, "ALTER TYPE", p.relation); err != nil {
			return err
		}
		dr.depends(p.what, on)
		dr.columns = append(dr.columns, p.part)
	}
	return nil
}
