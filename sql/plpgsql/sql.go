package plpgsql

import (
	"strings"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/sql/parse"
)

// execute reads an SQL statement, perhaps with INTO.
func (p *parser) execute() Statement {
	s := &Execute{Place: p.place()}
	p.refuseStatement()
	s.Query = p.sql(p.i, &s.Into)
	p.wantSymbol(";")
	switch s.Query.Statement.(type) {
	case *ast.Select, *ast.Insert, *ast.Update, *ast.Delete, *ast.Merge, *ast.Execute,
		*ast.Explain, *ast.Show, *ast.Fetch:
	default:
		if s.Into != nil {
			panic(failure.At(0, sqlerr.SyntaxError,
				"INTO used with a command that cannot return data"))
		}
	}
	return s
}

// refuseStatement fails where neither a statement nor a variable begins.
func (p *parser) refuseStatement() {
	t := p.tok()
	if t.Kind == parse.WordToken || t.Kind == parse.SymbolToken && t.Text == "(" {
		return
	}
	p.unexpected()
}

// sql cuts an SQL statement from the token start up to a semicolon. INTO and what follows it is
// taken out, and read into *into, unless into is nil.
func (p *parser) sql(start int, into **Into) *Query {
	p.i = start
	cutFrom, cutTo := 0, 0
	first := p.tok().Text
	for !p.atSymbol(";") {
		if p.tok().Kind == parse.EndToken {
			p.unterminated(0, ";")
		}
		if into == nil || !p.at("into") || p.i > start && p.introducesTarget(first) {
			p.next()
			continue
		}
		if *into != nil {
			p.failNear("INTO specified more than once")
		}
		cutFrom = p.tok().Pos
		p.next()
		*into = p.intoClause()
		cutTo = p.toks[p.i-1].End
	}
	if cutTo == 0 {
		return p.sqlText(start, p.i)
	}
	from, to := p.toks[start].Pos, p.toks[p.i-1].End
	text := p.src[from:cutFrom] + strings.Repeat(" ", cutTo-cutFrom) + p.src[cutTo:max(to, cutTo)]
	text = strings.TrimRight(text, " ")
	q := p.newQuery(SQL, text)
	q.Statement = p.parseSQL(text, from)
	return q
}

// introducesTarget reports whether the INTO here belongs to INSERT, MERGE or IMPORT.
func (p *parser) introducesTarget(first string) bool {
	before := &p.toks[p.i-1]
	return before.Kind == parse.WordToken && (before.Text == "insert" || before.Text == "merge") ||
		first == "import"
}

// sqlText parses the tokens from start up to end as an SQL statement.
func (p *parser) sqlText(start, end int) *Query {
	from, to := p.toks[start].Pos, p.toks[end-1].End
	q := p.newQuery(SQL, p.src[from:to])
	q.Statement = p.parseSQL(q.Text, from)
	return q
}

// intoClause reads [STRICT] targets.
func (p *parser) intoClause() *Into {
	strict := p.accept("strict")
	into := p.intoTargets()
	into.Strict = strict
	return into
}

// intoTargets reads a variable that holds a row, or a list of others.
func (p *parser) intoTargets() *Into {
	into := &Into{}
	for {
		pos := p.pos()
		if !identifier(p.tok()) {
			p.unexpected()
		}
		t := p.target()
		if t.Variable.Constant {
			panic(failure.At(pos, sqlerr.ErrorInAssignment,
				"variable \"%s\" is declared CONSTANT", t.Variable.Name))
		}
		if t.Variable.IsRow() && t.Field == "" {
			if into.Targets != nil {
				panic(failure.At(pos, sqlerr.SyntaxError, "\"%s\" is not a scalar variable",
					t.Variable.Name))
			}
			if p.atSymbol(",") {
				panic(failure.At(p.pos(), sqlerr.SyntaxError,
					"record variable cannot be part of multiple-item INTO list"))
			}
			into.Row = t.Variable
			return into
		}
		into.Targets = append(into.Targets, t)
		if !p.symbol(",") {
			return into
		}
	}
}

// rowTarget is the target of a loop over rows. A bound cursor's loop declares its own variable, so
// an unknown name is left to forQuery.
func (p *parser) rowTarget(what string) *Into {
	pos := p.pos()
	if !identifier(p.tok()) {
		p.unexpected()
	}
	if v, _ := p.scope.Find(p.tok().Text); v == nil && p.peek(1).Text == "in" &&
		p.peek(1).Kind == parse.WordToken {
		name := p.next().Text
		if c, _ := p.scope.Find(p.peek(1).Text); c != nil && c.Cursor != nil {
			return &Into{Row: &Variable{Name: name}}
		}
		panic(failure.At(pos, sqlerr.SyntaxError,
			"%s must be a record variable or list of scalar variables", what))
	}
	return p.intoTargets()
}

// perform reads PERFORM query; which is SELECT query with its result left out.
func (p *parser) perform() Statement {
	s := &Execute{Place: p.place(), Perform: true}
	word := p.next()
	p.skipTo(";", ";")
	to := p.toks[p.i-1].End
	gap := word.End - word.Pos - len("SELECT")
	s.Query = p.newQuery(SQL, "SELECT"+p.src[word.End:to])
	s.Query.Statement = p.parseSQL(s.Query.Text, word.Pos+gap)
	p.wantSymbol(";")
	return s
}

// dynamic reads EXECUTE text [INTO …] [USING …];
func (p *parser) dynamic() Statement {
	s := &Dynamic{Place: p.place()}
	p.next()
	s.Text = p.until(Expression, ";", "into", "using", ";")
	for !p.symbol(";") {
		switch {
		case p.at("into") && s.Into == nil:
			p.next()
			s.Into = p.intoClause()
		case p.at("using") && s.Using == nil:
			p.next()
			s.Using = p.using(";", "into", ";")
		default:
			p.unexpected()
		}
	}
	return s
}

// diagnostics reads GET [CURRENT | STACKED] DIAGNOSTICS target = item, …;
func (p *parser) diagnostics() Statement {
	s, start := &Diagnostics{Place: p.place()}, p.pos()
	p.next()
	if s.Stacked = p.accept("stacked"); !s.Stacked {
		p.accept("current")
	}
	p.want("diagnostics")
	for {
		pos := p.pos()
		if !identifier(p.tok()) {
			p.unexpected()
		}
		t := p.target()
		if t.Variable.IsRow() && t.Field == "" {
			panic(failure.At(pos, sqlerr.SyntaxError, "\"%s\" is not a scalar variable",
				t.Variable.Name))
		}
		if !p.symbol(":=") {
			p.wantSymbol("=")
		}
		s.Items = append(s.Items, DiagnosticItem{t, p.diagnostic(s.Stacked, start)})
		if !p.symbol(",") {
			break
		}
	}
	p.wantSymbol(";")
	return s
}

func (p *parser) diagnostic(stacked bool, start int) Diagnostic {
	word := p.tok().Text
	switch item := Diagnostic(word); item {
	case RowCount, Context:
		if stacked {
			panic(failure.At(start, sqlerr.SyntaxError,
				"diagnostics item %s is not allowed in GET STACKED DIAGNOSTICS",
				strings.ToUpper(word)))
		}
	case ReturnedSQLState, MessageText, ExceptionDetail, ExceptionHint, ExceptionContext,
		ColumnName, ConstraintName, DatatypeName, TableName, SchemaName:
		if !stacked {
			panic(failure.At(start, sqlerr.SyntaxError,
				"diagnostics item %s is not allowed in GET CURRENT DIAGNOSTICS",
				strings.ToUpper(word)))
		}
	default:
		p.failNear("unrecognized GET DIAGNOSTICS item")
	}
	p.next()
	return Diagnostic(word)
}
