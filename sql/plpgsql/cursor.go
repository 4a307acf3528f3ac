package plpgsql

import (
	"strconv"
	"strings"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table/types"
)

// cursorVariable reads the variable of a cursor.
func (p *parser) cursorVariable() *Variable {
	pos := p.pos()
	t := p.target()
	if t.Field != "" || t.Variable.IsRow() {
		panic(failure.At(pos, sqlerr.DatatypeMismatch, "cursor variable must be a simple variable"))
	}
	if t.Variable.Type != types.TRefCursor {
		panic(failure.At(pos, sqlerr.DatatypeMismatch,
			"variable \"%s\" must be of type cursor or refcursor", t.Variable.Name))
	}
	return t.Variable
}

// open reads OPEN cursor [(arguments)]; or OPEN cursor [[NO] SCROLL] FOR {query | EXECUTE text};
func (p *parser) open() Statement {
	s := &Open{Place: p.place()}
	p.next()
	s.Cursor = p.cursorVariable()
	if s.Cursor.Cursor != nil {
		s.Scroll, s.Arguments = s.Cursor.Cursor.Scroll, p.cursorArguments(s.Cursor)
		p.wantSymbol(";")
		return s
	}
	s.Scroll = p.scroll()
	if !p.at("for") {
		p.failNear("syntax error, expected \"FOR\"")
	}
	p.next()
	if p.accept("execute") {
		s.Dynamic = p.until(Expression, ";", "using", ";")
		if p.accept("using") {
			s.Using = p.using(";", ";")
		}
		p.wantSymbol(";")
		return s
	}
	s.Query = p.sql(p.i, nil)
	p.wantSymbol(";")
	return s
}

// cursorArguments reads the arguments of a bound cursor, by position or by name.
func (p *parser) cursorArguments(v *Variable) []*Query {
	want := v.Cursor.Arguments
	if !p.atSymbol("(") {
		if len(want) > 0 {
			p.fail(sqlerr.SyntaxError, "cursor \"%s\" has arguments", v.Name)
		}
		return nil
	}
	if len(want) == 0 {
		p.fail(sqlerr.SyntaxError, "cursor \"%s\" has no arguments", v.Name)
	}
	p.next()
	out := make([]*Query, len(want))
	for n := 0; ; n++ {
		i := p.argumentNamed(v, n)
		if i >= len(want) {
			p.fail(sqlerr.SyntaxError, "too many arguments for cursor \"%s\"", v.Name)
		}
		if out[i] != nil {
			p.fail(sqlerr.SyntaxError,
				"value for parameter \"%s\" of cursor \"%s\" specified more than once",
				want[i].Name, v.Name)
		}
		out[i] = p.until(Expression, ")", ",", ")")
		if !p.symbol(",") {
			break
		}
	}
	for _, q := range out {
		if q == nil {
			p.fail(sqlerr.SyntaxError, "not enough arguments for cursor \"%s\"", v.Name)
		}
	}
	p.wantSymbol(")")
	return out
}

// argumentNamed returns the index of the argument that comes next: that of name := or name =>, else
// n.
func (p *parser) argumentNamed(v *Variable, n int) int {
	if t := p.peek(1); !identifier(p.tok()) || t.Text != ":=" && t.Text != "=>" {
		return n
	}
	for i, a := range v.Cursor.Arguments {
		if a.Name == p.tok().Text {
			p.next()
			p.next()
			return i
		}
	}
	p.fail(sqlerr.SyntaxError, "cursor \"%s\" has no argument named \"%s\"", v.Name, p.tok().Text)
	return 0
}

// fetch reads {FETCH | MOVE} [direction {FROM | IN}] cursor [INTO target];
func (p *parser) fetch() Statement {
	s := &Fetch{Place: p.place(), Direction: ast.FetchNext, Count: 1}
	s.Move = p.next().Text == "move"
	p.direction(s)
	s.Cursor = p.cursorVariable()
	if !s.Move {
		if s.All || s.Direction == ast.FetchForward && (s.Count != 1 || s.CountOf != nil) ||
			s.Direction == ast.FetchBackward && (s.Count != 1 || s.CountOf != nil) {
			panic(failure.At(0, sqlerr.FeatureNotSupported,
				"FETCH statement cannot return multiple rows"))
		}
		if !p.at("into") {
			p.unexpected()
		}
		p.next()
		s.Into = p.intoTargets()
	}
	p.wantSymbol(";")
	return s
}

// direction reads what is in front of the cursor's name.
func (p *parser) direction(s *Fetch) {
	if v, _ := p.scope.Find(p.tok().Text); v != nil && identifier(p.tok()) &&
		(p.peek(1).Text == "into" || p.peek(1).Text == ";") {
		return
	}
	switch word := p.tok().Text; word {
	case "next", "prior", "first", "last":
		s.Direction = ast.FetchDirection(word)
		p.next()
	case "absolute", "relative":
		s.Direction = ast.FetchDirection(word)
		p.next()
		p.fetchCount(s)
	case "forward", "backward":
		s.Direction = ast.FetchDirection(word)
		p.next()
		if s.All = p.accept("all"); !s.All && !p.at("from") && !p.at("in") {
			p.fetchCount(s)
		}
	case "all":
		s.Direction, s.All = ast.FetchForward, true
		p.next()
	case "from", "in":
	default:
		s.Direction = ast.FetchForward
		p.fetchCount(s)
	}
	if !p.accept("from") {
		p.want("in")
	}
}

// fetchCount reads a count: a number, or an expression.
func (p *parser) fetchCount(s *Fetch) {
	q := p.until(Expression, "FROM", "from", "in")
	if n, err := strconv.ParseInt(strings.ReplaceAll(q.Text, " ", ""), 10, 64); err == nil {
		s.Count = n
		return
	}
	s.CountOf = q
}

// closeCursor reads CLOSE cursor;
func (p *parser) closeCursor() Statement {
	s := &Close{Place: p.place()}
	p.next()
	s.Cursor = p.cursorVariable()
	p.wantSymbol(";")
	return s
}
