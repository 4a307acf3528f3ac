package plpgsql

import (
	"strconv"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql/parse"
	"github.com/minidb/minidb/table/types"
)

// loopBody reads LOOP … END LOOP [label];
func (p *parser) loopBody(label string) []Statement {
	p.want("loop")
	body := p.statements("end")
	p.want("end", "loop")
	p.endLabel(label)
	p.wantSymbol(";")
	return body
}

// within runs read in the names of a loop.
func (p *parser) within(label string, read func()) {
	outside := p.scope
	p.push(loopLabel, label)
	read()
	p.scope = outside
}

func (p *parser) loop(label string) Statement {
	s := &Loop{Place: p.place(), Label: label}
	p.within(label, func() { s.Body = p.loopBody(label) })
	return s
}

func (p *parser) while(label string) Statement {
	s := &Loop{Place: p.place(), Label: label}
	p.next()
	p.within(label, func() {
		s.Cond = p.until(Expression, "LOOP", "loop")
		s.Body = p.loopBody(label)
	})
	return s
}

// forLoop reads FOR target IN …, which is over integers if there is .. between IN and LOOP.
func (p *parser) forLoop(label string) (s Statement) {
	place := p.place()
	p.next()
	p.within(label, func() {
		start := p.i
		name, namePos := p.tok().Text, p.pos()
		single := identifier(p.tok()) && p.peek(1).Kind == parse.WordToken &&
			p.peek(1).Text == "in"
		for !p.at("in") {
			if p.tok().Kind == parse.EndToken || p.atSymbol(";") {
				p.unexpected()
			}
			p.next()
		}
		p.next()
		if p.overIntegers() {
			if !single {
				panic(failure.At(namePos, sqlerr.SyntaxError,
					"integer FOR loop must have only one target variable"))
			}
			s = p.forInteger(place, label, name)
			return
		}
		in := p.i
		p.i = start
		into := p.rowTarget("loop variable of loop over rows")
		p.want("in")
		p.i = in
		s = p.forQuery(place, label, into)
	})
	return s
}

// overIntegers reports whether the range behind IN has two bounds.
func (p *parser) overIntegers() bool {
	if p.at("reverse") {
		return true
	}
	depth := 0
	for n := 0; ; n++ {
		t := p.peek(n)
		switch {
		case t.Kind == parse.EndToken || t.Kind == parse.WordToken && t.Text == "loop":
			return false
		case t.Kind != parse.SymbolToken:
		case t.Text == "(":
			depth++
		case t.Text == ")":
			depth--
		case t.Text == ";":
			return false
		case t.Text == ".." && depth == 0:
			return true
		}
	}
}

func (p *parser) forInteger(place Place, label, name string) Statement {
	s := &ForInteger{Place: place, Label: label, Reverse: p.accept("reverse")}
	s.Low = p.until(Expression, "..", "..")
	p.wantSymbol("..")
	s.High = p.until(Expression, "LOOP", "loop", "by")
	if p.accept("by") {
		s.Step = p.until(Expression, "LOOP", "loop")
	}
	s.Variable = p.declare(&Variable{Name: name, Type: types.TInt4})
	s.Body = p.loopBody(label)
	return s
}

// forQuery reads the query of a loop, and its body.
func (p *parser) forQuery(place Place, label string, into *Into) Statement {
	s := &ForQuery{Place: place, Label: label, Into: into}
	if p.accept("execute") {
		s.Dynamic = p.until(Expression, "LOOP", "loop", "using")
		if p.accept("using") {
			s.Using = p.using("LOOP", "loop")
		}
		s.Body = p.loopBody(label)
		return s
	}
	if v, _ := p.scope.Find(p.tok().Text); v != nil && identifier(p.tok()) &&
		v.Type == types.TRefCursor && (p.peek(1).Text == "loop" || p.peek(1).Text == "(") {
		return p.forCursor(s, v)
	}
	start := p.i
	p.skipTo("LOOP", "loop")
	if p.i == start {
		p.failNear("missing expression")
	}
	s.Query = p.sqlText(start, p.i)
	s.Body = p.loopBody(label)
	return s
}

// forCursor reads a loop over a bound cursor, which has a variable of its own for the rows.
func (p *parser) forCursor(s *ForQuery, v *Variable) Statement {
	if s.Into.Row == nil && s.Into.Targets != nil && s.Into.Targets[0].Variable == nil {
		p.unexpected()
	}
	if v.Cursor == nil {
		p.fail(sqlerr.SyntaxError, "cursor FOR loop must use a bound cursor variable")
	}
	p.next()
	s.Cursor, s.Arguments = v, p.cursorArguments(v)
	s.Into = &Into{Row: p.declare(&Variable{Name: s.loopVariable(), Type: types.TRecord})}
	s.Body = p.loopBody(s.Label)
	return s
}

// loopVariable is the name of the variable in front of IN.
func (s *ForQuery) loopVariable() string {
	if s.Into.Row != nil {
		return s.Into.Row.Name
	}
	return s.Into.Targets[0].Variable.Name
}

// using reads the expressions behind USING.
func (p *parser) using(expected string, end ...string) (out []*Query) {
	for {
		out = append(out, p.until(Expression, expected, append(end, ",")...))
		if !p.symbol(",") {
			return out
		}
	}
}

func (p *parser) forEach(label string) Statement {
	s := &ForEach{Place: p.place(), Label: label}
	p.next()
	p.within(label, func() {
		s.Into = p.forEachTarget()
		if p.accept("slice") {
			t := p.tok()
			n, err := strconv.Atoi(t.Text)
			if t.Kind != parse.NumberToken || err != nil {
				p.unexpected()
			}
			p.next()
			s.Slice = n
		}
		p.want("in", "array")
		s.Array = p.until(Expression, "LOOP", "loop")
		s.Body = p.loopBody(label)
	})
	return s
}

// forEachTarget is a variable, or a list of them.
func (p *parser) forEachTarget() *Into {
	pos := p.pos()
	if v, _ := p.scope.Find(p.tok().Text); v == nil || !identifier(p.tok()) {
		panic(failure.At(pos, sqlerr.SyntaxError, "loop variable of FOREACH must be a known "+
			"variable or list of variables"))
	}
	return p.intoTargets()
}
