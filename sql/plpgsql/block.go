package plpgsql

import (
	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql/parse"
	"github.com/minidb/minidb/table/types"
)

// block reads [DECLARE …] BEGIN … END [label].
func (p *parser) block(label string) *Block {
	p.enter()
	defer p.leave()
	outside := p.scope
	p.push(blockLabel, label)
	b := &Block{Label: label, Variables: p.declarations()}
	b.Place = p.place()
	p.want("begin")
	b.Body = p.statements("end", "exception")
	if p.accept("exception") {
		p.handlers(b)
	}
	p.want("end")
	p.scope = outside
	p.endLabel(label)
	return b
}

// endLabel reads the label behind END, which must be that of the beginning.
func (p *parser) endLabel(label string) {
	if !identifier(p.tok()) {
		return
	}
	switch end := p.tok().Text; {
	case label == "":
		p.fail(sqlerr.SyntaxError, "end label \"%s\" specified for unlabeled block", end)
	case end != label:
		p.fail(sqlerr.SyntaxError, "end label \"%s\" differs from block's label \"%s\"", end, label)
	}
	p.next()
}

// handlers reads WHEN … THEN …, once or more.
func (p *parser) handlers(b *Block) {
	b.State = p.declare(&Variable{Name: "sqlstate", Type: types.TText, Constant: true,
		Diagnostic: ReturnedSQLState})
	b.Message = p.declare(&Variable{Name: "sqlerrm", Type: types.TText, Constant: true,
		Diagnostic: MessageText})
	was := p.handling
	p.handling = true
	if !p.at("when") {
		p.unexpected()
	}
	for p.accept("when") {
		h := &Handler{Conditions: p.conditions()}
		for p.accept("or") {
			h.Conditions = append(h.Conditions, p.conditions()...)
		}
		p.want("then")
		h.Body = p.statements("end", "when")
		b.Handlers = append(b.Handlers, h)
	}
	p.handling = was
}

// conditions reads the name of a condition, or SQLSTATE 'code'.
func (p *parser) conditions() (out []Condition) {
	if p.at("sqlstate") && p.peek(1).Kind == parse.StringToken {
		p.next()
		if !isCode(p.tok().Text) {
			p.failNear("invalid SQLSTATE code")
		}
		return []Condition{{Code: p.next().Text}}
	}
	name := p.name()
	if name == "others" {
		return []Condition{{Others: true}}
	}
	for _, code := range codesOf(name) {
		out = append(out, Condition{Code: code})
	}
	if out == nil {
		panic(failure.At(0, sqlerr.UndefinedObject, "unrecognized exception condition \"%s\"",
			name))
	}
	return out
}

// statements reads statements until one of the words, which it leaves.
func (p *parser) statements(end ...string) []Statement {
	var out []Statement
	for {
		for _, w := range end {
			if p.at(w) && !p.beforeAssignment() {
				return out
			}
		}
		if p.tok().Kind == parse.EndToken {
			p.unexpected()
		}
		if s := p.statement(); s != nil {
			out = append(out, s)
		}
	}
}

// beforeAssignment reports whether what is next is the target of an assignment, whatever its name.
func (p *parser) beforeAssignment() bool {
	n := p.peek(1)
	return n.Kind == parse.SymbolToken && (n.Text == ":=" || n.Text == "=" || n.Text == "[")
}
