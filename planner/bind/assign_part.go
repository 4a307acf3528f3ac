package bind

import (
	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// part is the part of a column that a target with a path names.
type part struct {
	b     *binder
	sc    *scope
	name  string      // of the column, or of the last field on the way, for messages
	pos   int         // of the target
	t     *types.Type // of the part
	steps []builtin.AssignStep
	args  []expr.Expr // the written bounds
}

// assignPart returns the value of a column after the assignment of a value to a part of it. old is
// the value before.
func (b *binder) assignPart(sc *scope, old expr.Expr, col *table.Column, target *ast.Target,
	value expr.Expr) expr.Expr {
	p := &part{b: b, sc: sc, name: col.Name, pos: int(target.Pos), t: col.Type}
	p.walk(target.Path)
	if !canCast(value.Type(), p.t, assignment) {
		what := "subscripted assignment to \"%s\" requires type %s"
		if target.Path[len(target.Path)-1].Field != "" {
			what = "subfield \"%s\" is of type %s"
		}
		panic(failure.Of(sqlerr.New(sqlerr.DatatypeMismatch, what+" but expression is of type %s",
			p.name, typeName(p.t), typeName(value.Type())).At(p.pos).
			WithHint("You will need to rewrite or cast the expression.")))
	}
	// Of several assignments to parts of a domain's value only the last result must be one.
	if c, ok := old.(*expr.Cast); ok && col.Type.IsDomain() && c.T.OID == col.Type.OID {
		old = c.Arg
	}
	args := append([]expr.Expr{old}, p.args...)
	args = append(args, b.coerce(value, p.t, assignment, p.pos))
	p.steps[0].Domain = nil
	call := &expr.Call{T: col.Type.Base(), Func: builtin.Assign(p.steps), Args: args, Pos: p.pos}
	if !col.Type.IsDomain() {
		return call
	}
	return &expr.Cast{T: col.Type, Arg: call, Pos: p.pos}
}

// assignedPart binds the value of a variable after the assignment to a part of it.
func (b *binder) assignedPart(sc *scope, e *ast.AssignPart) expr.Expr {
	if e.Path == nil {
		value, want := b.expr(sc, e.Value), b.env.Variables.Wanted()
		if !canCast(value.Type(), want, assignment) {
			return value
		}
		return b.coerce(value, want, assignment, exprPos(e.Value))
	}
	base := b.expr(sc, e.Base)
	target := &ast.Target{Ident: ast.Ident{Pos: e.Pos, Name: e.Name}, Path: e.Path}
	return b.assignPart(sc, base, &table.Column{Name: e.Name, Type: base.Type()}, target,
		b.expr(sc, e.Value))
}

// container returns the type below the domains of the value that contains the next part, and its
// domain if it has one.
func (p *part) container() (base, domain *types.Type) {
	if p.t.IsDomain() {
		return p.t.Base(), p.t
	}
	return p.t, nil
}

// walk binds the steps of a path.
func (p *part) walk(path []ast.PathStep) {
	for len(path) > 0 {
		if path[0].Field != "" {
			p.field(&path[0])
			path = path[1:]
			continue
		}
		n := 1
		for n < len(path) && path[n].Field == "" {
			n++
		}
		p.subscripts(path[:n])
		path = path[n:]
	}
}

func (p *part) field(s *ast.PathStep) {
	t, domain := p.container()
	if !t.IsComposite() {
		panic(failure.At(p.pos, sqlerr.DatatypeMismatch,
			"cannot assign to field \"%s\" of column \"%s\" because its type %s is not a "+
				"composite type", s.Field, p.name, typeName(p.t)))
	}
	i := t.Field(s.Field)
	if i < 0 {
		panic(failure.At(p.pos, sqlerr.UndefinedColumn,
			"cannot assign to field \"%s\" of column \"%s\" because there is no such column in "+
				"data type %s", s.Field, p.name, typeName(p.t)))
	}
	p.steps = append(p.steps, builtin.AssignStep{Type: t, Domain: domain, Field: i})
	p.name, p.t = s.Field, t.Fields()[i].Type
}

// subscripts binds the subscripts of an array, a jsonb or an hstore.
func (p *part) subscripts(path []ast.PathStep) {
	if len(path) > arrayDimsMax {
		panic(failure.At(0, sqlerr.ProgramLimitExceeded,
			"number of array dimensions (%d) exceeds the maximum allowed (%d)", len(path),
			arrayDimsMax))
	}
	subs := make([]builtin.AssignSubscript, len(path))
	t, domain := p.container()
	step := builtin.AssignStep{Type: t, Domain: domain, Subscripts: subs}
	p.t = t
	part, _ := t.Parts()
	switch {
	case p.t.OID == types.OIDJSONB:
		p.jsonPath(path, step.Subscripts)
	case part != nil:
		if p.arraySubscripts(path, step.Subscripts) {
			break // a slice is assigned a value of the whole type, and refused when it runs
		}
		p.t = part
	case p.t.OID == types.OIDHStore:
		p.args = append(p.args, p.b.hstoreKey(p.sc, path))
		subs[0] = builtin.AssignSubscript{High: true}
		p.t = types.TText
	case p.t.Elem == nil:
		panic(failure.At(p.pos, sqlerr.DatatypeMismatch,
			"cannot subscript type %s because it does not support subscripting", typeName(p.t)))
	default:
		switch slice := p.arraySubscripts(path, step.Subscripts); {
		case !slice:
			p.t = p.t.Elem
		case !p.t.Nests(): // a vector of pg_catalog
			p.t = types.ArrayOf(p.t.Elem)
		}
	}
	p.steps = append(p.steps, step)
}

func (p *part) jsonPath(path []ast.PathStep, subs []builtin.AssignSubscript) {
	for i, s := range path {
		if s.Slice {
			panic(failure.At(exprPos(sliceBound(s)), sqlerr.DatatypeMismatch,
				"jsonb subscript does not support slices"))
		}
		key, isInt := p.b.jsonKey(p.sc, s.Index)
		subs[i] = builtin.AssignSubscript{High: true, Int: isInt}
		p.args = append(p.args, key)
	}
}

// sliceBound returns a written bound of a slice, which an error refers to.
func sliceBound(s ast.PathStep) ast.Expr {
	if s.High != nil {
		return s.High
	}
	return s.Low
}

// arraySubscripts binds the subscripts of an array. It reports whether one of them is a slice; the
// others then mean slices too: [i] is [1:i].
func (p *part) arraySubscripts(path []ast.PathStep, subs []builtin.AssignSubscript) (slice bool) {
	for _, s := range path {
		slice = slice || s.Slice
	}
	for i, s := range path {
		low, high := s.Low, s.High
		if !s.Slice {
			high = s.Index
			if slice {
				low = &ast.Literal{Pos: s.Pos, Kind: ast.LiteralInt, Text: "1"}
			}
		}
		subs[i] = builtin.AssignSubscript{Slice: slice, Low: low != nil, High: high != nil}
		for _, bound := range []ast.Expr{low, high} {
			if bound != nil {
				p.args = append(p.args, p.b.subscriptIndex(p.sc, bound))
			}
		}
	}
	return slice
}

// refuseDefault refuses DEFAULT as the value of a part of a column.
func refuseDefault(target *ast.Target) {
	what := "an array element"
	if target.Path[0].Field != "" {
		what = "a subfield"
	}
	panic(failure.At(target.Pos, sqlerr.FeatureNotSupported, "cannot set %s to DEFAULT", what))
}
