package plpgsql

import (
	"fmt"
	"strings"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/sql/parse"
	"github.com/minidb/minidb/table/types"
)

// statement reads one statement with its semicolon; nil for NULL.
func (p *parser) statement() Statement {
	p.enter()
	defer p.leave()
	if p.startsAssignment() {
		return p.assignment()
	}
	label := ""
	if p.atSymbol("<<") {
		label = p.label()
		if !p.at("declare") && !p.at("begin") && !p.at("loop") && !p.at("while") &&
			!p.at("for") && !p.at("foreach") {
			p.unexpected()
		}
	}
	if p.tok().Kind != parse.WordToken {
		return p.execute()
	}
	switch word := p.tok().Text; word {
	case "declare", "begin":
		b := p.block(label)
		p.wantSymbol(";")
		return b
	case "loop":
		return p.loop(label)
	case "while":
		return p.while(label)
	case "for":
		return p.forLoop(label)
	case "foreach":
		return p.forEach(label)
	case "execute":
		return p.dynamic()
	default:
		if read := p.unlabeled(word); read != nil {
			return read()
		}
		if reserved[word] {
			p.unexpected()
		}
		return p.execute()
	}
}

// unlabeled returns the function that reads a statement that takes no label, by its first word; nil
// if it is an SQL statement.
func (p *parser) unlabeled(word string) func() Statement {
	switch word {
	case "if":
		return p.ifStatement
	case "case":
		return p.caseStatement
	case "exit", "continue":
		return p.exit
	case "return":
		return p.returnStatement
	case "null":
		return p.null
	case "raise":
		return p.raise
	case "assert":
		return p.assert
	case "perform":
		return p.perform
	case "get":
		return p.diagnostics
	case "open":
		return p.open
	case "fetch", "move":
		return p.fetch
	case "close":
		return p.closeCursor
	case "call", "commit", "rollback":
		return p.unsupported
	}
	return nil
}

func (p *parser) unsupported() Statement {
	panic(failure.Unsupported(p.pos(), strings.ToUpper(p.tok().Text)+" in PL/pgSQL"))
}

// startsAssignment reports whether the next statement is an assignment, by what is behind its name.
func (p *parser) startsAssignment() bool {
	if !identifier(p.tok()) {
		return false
	}
	if p.beforeAssignment() {
		return true
	}
	if n := p.peek(1); n.Kind != parse.SymbolToken || n.Text != "." {
		return false
	}
	// name.name … := …; no SQL statement begins with a word and a dot
	return true
}

// assignment reads target := value;
func (p *parser) assignment() Statement {
	s := &Assign{Place: p.place()}
	start := p.i
	names, rest := p.assigned()
	s.Target = p.resolve(start, names)
	if s.Target.Variable.Constant {
		panic(failure.At(p.toks[start].Pos+1, sqlerr.ErrorInAssignment,
			"variable \"%s\" is declared CONSTANT", s.Target.Variable.Name))
	}
	p.skipTo(":=", ":=", "=")
	operator := p.next()
	value := p.i
	p.skipTo(";", ";")
	if rest {
		s.Value = p.partAssignment(start, operator, names)
	} else {
		s.Value = p.rightSide(Assignment, start, value, p.i)
		s.Value.coerceTo(s.Target)
	}
	p.wantSymbol(";")
	return s
}

// assigned reads the names of the target of an assignment, and reports whether a part of that is
// meant: what follows, or what the last names say.
func (p *parser) assigned() (names []string, part bool) {
	names = p.names()
	v, parts := p.scope.Find(names...)
	if v != nil && v.IsRow() && len(names) > parts+1 {
		return names[:parts+1], true
	}
	return names, p.atSymbol("[") || p.atSymbol(".")
}

const updatePrefix = "UPDATE t SET "

// partAssignment reads an assignment to a part of a variable or of its field, which names name: as
// UPDATE has it, whose grammar is the same.
func (p *parser) partAssignment(start int, operator *parse.Token, names []string) *Query {
	from, to := p.toks[start].Pos, p.toks[p.i-1].End
	q := p.newQuery(Assignment, p.src[from:to])
	q.Shift = len(updatePrefix)
	text := updatePrefix + p.src[from:operator.Pos] +
		strings.Repeat(" ", operator.End-operator.Pos-1) + "=" + p.src[operator.End:to]
	update := p.parseSQL(text, from-len(updatePrefix)).(*ast.Update)
	if update.From != nil || update.Where != nil || update.Returning != nil ||
		len(update.Set) != 1 || len(update.Set[0].Columns) != 1 {
		panic(failure.Unsupported(from+1, "a query that is assigned to a part of a variable"))
	}
	set := update.Set[0]
	target := set.Columns[0]
	last := len(names) - 1
	q.Statement = &ast.Select{Body: &ast.SelectCore{Items: []ast.SelectItem{{
		Expr: &ast.AssignPart{Pos: target.Pos, Name: names[last],
			Base: &ast.ColumnRef{Pos: target.Pos, Qualifier: names[:last], Name: names[last]},
			Path: target.Path[last:], Value: set.Value}}}}}
	return q
}

// target reads a variable, perhaps with a field.
func (p *parser) target() *Target {
	start := p.i
	return p.resolve(start, p.names())
}

// resolve finds the target that names mean, which begin at the token start.
func (p *parser) resolve(start int, names []string) *Target {
	v, parts := p.scope.Find(names...)
	switch {
	case v != nil && parts == len(names):
		return &Target{Variable: v}
	case v != nil && v.IsRow() && parts+1 == len(names):
		return &Target{Variable: v, Field: names[parts]}
	}
	panic(failure.At(p.toks[start].Pos+1, sqlerr.SyntaxError, "\"%s\" is not a known variable",
		strings.Join(names, ".")))
}

func (p *parser) null() Statement {
	p.next()
	p.wantSymbol(";")
	return nil
}

// ifStatement reads IF … THEN … [ELSIF …] [ELSE …] END IF;
func (p *parser) ifStatement() Statement {
	s := &If{Place: p.place()}
	for {
		b := Branch{Line: p.place().Line}
		p.next()
		b.Cond = p.until(Expression, "THEN", "then")
		p.want("then")
		b.Body = p.statements("elsif", "elseif", "else", "end")
		s.Branches = append(s.Branches, b)
		if !p.at("elsif") && !p.at("elseif") {
			break
		}
	}
	if p.accept("else") {
		s.Else = p.statements("end")
	}
	p.want("end", "if")
	p.wantSymbol(";")
	return s
}

// caseStatement reads CASE [operand] WHEN … THEN … [ELSE …] END CASE;
func (p *parser) caseStatement() Statement {
	s := &Case{Place: p.place()}
	p.next()
	outside := p.scope
	if !p.at("when") {
		s.Operand = p.until(Expression, "WHEN", "when")
	}
	for p.at("when") {
		b := Branch{Line: p.place().Line}
		p.next()
		if s.Operand == nil {
			b.Cond = p.until(Expression, "THEN", "then")
		} else {
			b.Cond = p.comparison(s)
		}
		p.want("then")
		b.Body = p.statements("when", "else", "end")
		s.Branches = append(s.Branches, b)
	}
	if len(s.Branches) == 0 {
		p.unexpected()
	}
	if p.accept("else") {
		s.HasElse = true
		s.Else = p.statements("end")
	}
	p.want("end", "case")
	p.wantSymbol(";")
	p.scope = outside
	return s
}

// comparison reads the values of WHEN as the condition operand IN (values). The operand is a
// variable, whose type is known when the CASE runs.
func (p *parser) comparison(s *Case) *Query {
	if s.Variable == nil {
		// as in PostgreSQL; no program has such a name by accident, as it would need quotes
		s.Variable = p.declare(&Variable{Type: types.TText, Operand: true,
			Name: fmt.Sprintf("__Case__Variable_%d__", len(p.program.Variables))})
	}
	start := p.i
	p.skipTo("THEN", "then")
	if p.i == start {
		p.failNear("missing expression")
	}
	from, to := p.toks[start].Pos, p.toks[p.i-1].End
	prefix := "\"" + s.Variable.Name + "\" IN ("
	q := p.newQuery(Expression, prefix+p.src[from:to]+")")
	q.Shift = len(selectPrefix)
	q.Statement = p.parseSQL(selectPrefix+q.Text, from-len(selectPrefix)-len(prefix))
	return q
}

// exit reads EXIT and CONTINUE.
func (p *parser) exit() Statement {
	s := &Exit{Place: p.place()}
	start := p.next()
	s.Continue = start.Text == "continue"
	if identifier(p.tok()) {
		label := p.tok().Text
		switch level := p.scope.label(label); {
		case level == nil:
			p.fail(sqlerr.SyntaxError, "there is no label \"%s\" attached to any block or loop "+
				"enclosing this statement", label)
		case s.Continue && level.kind != loopLabel:
			p.fail(sqlerr.SyntaxError, "block label \"%s\" cannot be used in CONTINUE", label)
		}
		s.Label = label
		p.next()
	} else if !p.scope.inLoop() {
		message := "EXIT cannot be used outside a loop, unless it has a label"
		if s.Continue {
			message = "CONTINUE cannot be used outside a loop"
		}
		panic(failure.At(start.Pos+1, sqlerr.SyntaxError, "%s", message))
	}
	if p.accept("when") {
		s.Cond = p.until(Expression, ";", ";")
	}
	p.wantSymbol(";")
	return s
}

// returnStatement reads RETURN;
func (p *parser) returnStatement() Statement {
	s, pos := &Return{Place: p.place()}, p.pos()
	p.next()
	switch {
	case p.at("next"):
		panic(failure.At(pos, sqlerr.DatatypeMismatch,
			"cannot use RETURN NEXT in a non-SETOF function"))
	case p.at("query"):
		panic(failure.At(pos, sqlerr.DatatypeMismatch,
			"cannot use RETURN QUERY in a non-SETOF function"))
	case !p.atSymbol(";"):
		p.fail(sqlerr.DatatypeMismatch,
			"RETURN cannot have a parameter in function returning void")
	}
	p.wantSymbol(";")
	return s
}

// assert reads ASSERT condition [, message];
func (p *parser) assert() Statement {
	s := &Assert{Place: p.place()}
	p.next()
	s.Cond = p.until(Expression, ";", ",", ";")
	if p.symbol(",") {
		s.Message = p.until(Expression, ";", ";")
	}
	p.wantSymbol(";")
	return s
}
