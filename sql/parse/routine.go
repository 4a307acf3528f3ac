package parse

import (
	"github.com/minidb/minidb/planner/ast"
)

// routine parses the name of a function with the types of its arguments, which may be left out.
func (p *parser) routine() ast.Routine {
	r := ast.Routine{Name: p.qualified()}
	if !p.punct('(') {
		return r
	}
	r.Given = true
	if p.punct(')') {
		return r
	}
	p.list(func() {
		if t, output := p.routineArgument(); !output {
			r.Args = append(r.Args, t)
		}
	})
	p.wantPunct(')')
	return r
}

// routineArgument parses [mode] [name] type. An output argument is no part of what identifies a
// function.
func (p *parser) routineArgument() (t ast.TypeName, output bool) {
	mode := p.acceptMode()
	if p.atArgumentName() {
		p.next()
		if mode == "" {
			mode = p.acceptMode() // the mode may also follow the name
		}
	}
	return p.typeName(), mode == "out"
}

func (p *parser) acceptMode() keyword {
	for _, mode := range []keyword{"in", "out", "inout", "variadic"} {
		if p.accept(mode) {
			return mode
		}
	}
	return ""
}

// atArgumentName reports whether the next token is a name, and not the beginning of a type.
func (p *parser) atArgumentName() bool {
	next := p.peek(1)
	switch {
	case !p.tok().typeOrFunctionName(), p.at("double") && next.kw == "precision":
		return false
	case next.is(','), next.is(')'), next.is('.'), next.is('('), next.is('['), next.is('%'):
		return false
	}
	return next.kw != "array"
}
