package parse

import (
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// atAsOf reports whether AS OF SYSTEM TIME or AS OF TIMESTAMP is next. AS OF alone is an alias.
func (p *parser) atAsOf() bool {
	return p.tok().kw == "as" &&
		(p.at("as", "of", "system", "time") || p.at("as", "of", "timestamp"))
}

// asOf parses AS OF SYSTEM TIME x, CockroachDB's words, or AS OF TIMESTAMP x, TiDB's.
func (p *parser) asOf() *ast.AsOf {
	a := &ast.AsOf{Pos: p.pos()}
	if !p.accept("as", "of", "system", "time") {
		p.accept("as", "of", "timestamp")
	}
	first := p.i
	a.Moment, a.Text = p.expr(), p.textFrom(first)
	for i := first; i < p.i && p.err == nil; i++ {
		a.Params = a.Params || p.toks[i].kind == tokParam
	}
	return a
}

// pastReads is what the statement's AS OF clauses say, and of which tables. A statement reads at
// one moment, so the clause must be said of all that it reads: of its outermost FROM as a whole, or
// of every table. Else "now" beside "then" would silently be then on both sides.
type pastReads struct {
	asOf  *ast.AsOf         // the first; all say the same
	end   int               // the token behind the last
	whole []*ast.SelectCore // whose FROM ends in one
	reads []pastRead        // the tables of all FROM clauses so far
	ctes  []string          // names that are no tables here, innermost last
}

// pastRead is a table in FROM.
type pastRead struct {
	name    string
	covered bool // a clause is said of it
}

// reset begins a statement.
func (r *pastReads) reset() {
	clear(r.whole)
	clear(r.reads)
	*r = pastReads{whole: r.whole[:0], reads: r.reads[:0], ctes: r.ctes[:0]}
}

// read notes a relation that is read, unless it is a query of a WITH clause, which reads tables
// itself.
func (r *pastReads) read(n *ast.Name) {
	if n.Schema == "" && slices.Contains(r.ctes, n.Name) {
		return
	}
	r.reads = append(r.reads, pastRead{name: n.Name})
}

// leave forgets the WITH queries that were in sight since there were so many.
func (r *pastReads) leave(ctes int) { r.ctes = r.ctes[:ctes] }

// mark is where the tables to come will be.
func (r *pastReads) mark() int { return len(r.reads) }

// cover says a clause of the tables since the mark.
func (r *pastReads) cover(from int) {
	for i := range r.reads[from:] {
		r.reads[from+i].covered = true
	}
}

// uncovered is a table of which no clause is said, or "".
func (r *pastReads) uncovered() string {
	for i := range r.reads {
		if !r.reads[i].covered {
			return r.reads[i].name
		}
	}
	return ""
}

// fromAsOf parses the clause behind an entry of FROM, or behind all of them: it is said of the
// tables since the mark.
func (p *parser) fromAsOf(from int) {
	if !p.atAsOf() {
		return
	}
	a := p.asOf()
	switch {
	case p.past.asOf == nil:
		p.past.asOf = a
	case p.past.asOf.Text != a.Text:
		p.failAt(a.Pos, sqlerr.FeatureNotSupported, "a statement cannot read at several times")
	}
	p.past.end = p.i
	p.past.cover(from)
}

// keepAsOf hands what fromAsOf found to the query of the statement that reads at that moment.
func (p *parser) keepAsOf(stmt ast.Statement) {
	a := p.past.asOf
	if a == nil || p.err != nil {
		return
	}
	q := pastQuery(stmt)
	if q == nil {
		p.failAt(a.Pos, sqlerr.FeatureNotSupported, "AS OF SYSTEM TIME is only allowed in SELECT")
		return
	}
	if name := p.past.uncovered(); name != "" && !slices.Contains(p.past.whole, outermost(q)) {
		p.fail(sqlerr.New(sqlerr.FeatureNotSupported,
			"AS OF SYSTEM TIME for a part of a statement is not supported").At(int(a.Pos)).
			WithDetail("A statement reads at one moment, and table \"%s\" would be read in the "+
				"past too.", name).
			WithHint("Say it at the end of the outermost FROM, or of every table."))
		return
	}
	q.AsOf = a
}

// outermost is the SELECT that a query is, but for parentheses; nil when it is a set operation.
func outermost(q *ast.Select) *ast.SelectCore {
	for {
		switch b := q.Body.(type) {
		case *ast.SelectCore:
			return b
		case *ast.Select:
			q = b
		default:
			return nil
		}
	}
}

// pastQuery is the query of a statement that does nothing but read, or nil.
func pastQuery(stmt ast.Statement) *ast.Select {
	switch st := stmt.(type) {
	case *ast.Select:
		if !hasInto(st.Body) {
			return st
		}
	case *ast.Explain:
		return pastQuery(st.Statement)
	case *ast.Prepare:
		return pastQuery(st.Statement)
	case *ast.DeclareCursor:
		return st.Query
	case *ast.Copy:
		return st.Query
	}
	return nil
}

func hasInto(body ast.QueryBody) bool {
	switch b := body.(type) {
	case *ast.SelectCore:
		return b.Into != nil
	case *ast.SetOp:
		return hasInto(b.Left)
	case *ast.Select:
		return hasInto(b.Body)
	}
	return false
}
