package deparse

import (
	"strings"

	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/table/types"
)

// call writes a function call.
func (p *printer) call(n *call) {
	if n.words && p.keywordCall(n) {
		return
	}
	if n.schema != "" {
		p.write(sqlname.Quote(n.schema), ".")
	}
	p.write(sqlname.Quote(n.name), "(")
	p.callArgs(n)
	if n.within {
		p.write(") WITHIN GROUP (ORDER BY ")
		p.sortKeys(n.order)
	} else if len(n.order) > 0 {
		p.write(" ORDER BY ")
		p.sortKeys(n.order)
	}
	p.write(")")
	if n.filter != nil {
		p.write(" FILTER (WHERE ")
		p.expr(n.filter, false)
		p.write(")")
	}
	if n.over != nil {
		p.write(" OVER ")
		if n.over.named() {
			p.write(sqlname.Quote(n.over.ref))
		} else {
			p.window(n.over)
		}
	}
}

// callArgs writes the arguments of a call.
func (p *printer) callArgs(n *call) {
	if n.distinct {
		p.write("DISTINCT ")
	}
	if n.star {
		p.write("*")
	}
	for i, a := range n.args {
		if i > 0 {
			p.write(", ")
		}
		if i < len(n.argNames) && n.argNames[i] != "" {
			p.write(sqlname.Quote(n.argNames[i]), " => ")
		}
		if n.variadic && i == len(n.args)-1 {
			p.write("VARIADIC ")
		}
		p.expr(a, true)
	}
}

// named reports whether an OVER clause is nothing but the name of a window.
func (w *window) named() bool {
	return w.ref != "" && len(w.partition) == 0 && len(w.order) == 0 && w.frame == nil
}

// keywordCall writes a call for which SQL has key words. It returns false for any other call.
func (p *printer) keywordCall(n *call) bool {
	a := n.args
	switch {
	case n.name == "timezone" && len(a) == 2:
		p.write("(")
		p.operand(a[1], false, n)
		p.write(" AT TIME ZONE ")
		p.operand(a[0], false, n)
		p.write(")")
	case n.name == "extract" && len(a) == 2:
		p.write("EXTRACT(", constantText(a[0]), " FROM ")
		p.expr(a[1], false)
		p.write(")")
	case n.name == "position" && len(a) == 2:
		p.write("POSITION((")
		p.expr(a[1], false)
		p.write(") IN (")
		p.expr(a[0], false)
		p.write("))")
	case n.name == "substring" && len(a) == 3 && a[1].typ().OID == types.OIDText:
		p.separated("SUBSTRING(", a, " SIMILAR ", " ESCAPE ")
	case n.name == "substring" && len(a) >= 2 && a[1].typ().OID != types.OIDText:
		p.separated("SUBSTRING(", a, " FROM ", " FOR ")
	case n.name == "overlay" && len(a) >= 3:
		p.separated("OVERLAY(", a, " PLACING ", " FROM ", " FOR ")
	case n.name == "normalize" && len(a) == 1:
		p.separated("NORMALIZE(", a)
	case n.name == "normalize" && len(a) == 2:
		p.write("NORMALIZE(")
		p.expr(a[0], false)
		p.write(", ", constantText(a[1]), ")")
	case n.name == "is_normalized":
		p.write("(")
		p.operand(a[0], false, n)
		p.write(" IS")
		if len(a) == 2 {
			p.write(" ", constantText(a[1]))
		}
		p.write(" NORMALIZED)")
	case n.name == "pg_collation_for" && len(a) == 1:
		p.separated("COLLATION FOR (", a)
	case n.name == "overlaps" && len(a) == 4:
		p.separated("((", a, ", ", ") OVERLAPS (", ", ")
		p.write(")")
	default:
		return p.trimCall(n)
	}
	return true
}

// constantText returns the text of an argument that was written as a word.
func constantText(n node) string {
	if c, ok := n.(*constant); ok {
		return c.text
	}
	return ""
}

// separated writes arguments separated by words.
func (p *printer) separated(head string, args []node, words ...string) {
	p.write(head)
	for i, a := range args {
		if i > 0 {
			p.write(words[i-1])
		}
		p.expr(a, false)
	}
	p.write(")")
}

var trimWords = map[string]string{"btrim": "BOTH", "ltrim": "LEADING", "rtrim": "TRAILING"}

func (p *printer) trimCall(n *call) bool {
	word, ok := trimWords[n.name]
	if !ok || len(n.args) == 0 || len(n.args) > 2 {
		return false
	}
	p.write("TRIM(", word)
	if len(n.args) == 2 {
		p.write(" ")
		p.expr(n.args[1], false)
	}
	p.write(" FROM ")
	p.expr(n.args[0], false)
	p.write(")")
	return true
}

// sortKeys writes the items of ORDER BY.
func (p *printer) sortKeys(keys []sortKey) {
	for i, k := range keys {
		if i > 0 {
			p.write(", ")
		}
		if k.position > 0 {
			p.write(position(k.position))
		} else {
			p.sortItem(k.n)
		}
		switch {
		case k.desc && k.nullsFirst:
			p.write(" DESC")
		case k.desc:
			p.write(" DESC NULLS LAST")
		case k.nullsFirst:
			p.write(" NULLS FIRST")
		}
	}
}

// sortItem writes an expression of ORDER BY, GROUP BY or DISTINCT ON. The type of a constant is
// shown, since a number alone would mean a result column. An expression that looks like a call is
// put in parentheses.
func (p *printer) sortItem(n node) {
	if c, ok := n.(*constant); ok {
		p.constant(c, true, true)
		return
	}
	parens := p.opts.Pretty
	switch n := n.(type) {
	case *column, *wholeRow:
		parens = false
	case *call:
		parens = true
	case *coercion:
		parens = parens || n.kind == byFunction
	}
	if parens {
		p.write("(")
	}
	p.expr(n, true)
	if parens {
		p.write(")")
	}
}

// window writes the definition of a window.
func (p *printer) window(w *window) {
	space := ""
	part := func(words ...string) {
		p.write(space)
		p.write(words...)
		space = " "
	}
	p.write("(")
	if w.ref != "" {
		part(sqlname.Quote(w.ref))
	}
	if len(w.partition) > 0 {
		part("PARTITION BY ")
		for i, n := range w.partition {
			if i > 0 {
				p.write(", ")
			}
			p.sortItem(n)
		}
	}
	if len(w.order) > 0 {
		part("ORDER BY ")
		p.sortKeys(w.order)
	}
	if w.frame != nil && !w.defaultFrame() {
		part(strings.ToUpper(w.frame.Mode), " ")
		p.frame(w)
	}
	p.write(")")
}

// defaultFrame reports whether a frame is the one that applies if none is written.
func (w *window) defaultFrame() bool {
	f := w.frame
	return f.Mode == "range" && f.StartKind == "unbounded preceding" &&
		f.EndKind == "current row" &&
		!f.Between && (f.Exclude == "" || f.Exclude == "no others")
}

func (p *printer) frame(w *window) {
	f := w.frame
	bound := func(kind string, offset node) {
		if offset != nil {
			p.expr(offset, false)
			p.write(" ")
		}
		p.write(strings.ToUpper(kind))
	}
	if f.Between {
		p.write("BETWEEN ")
		bound(f.StartKind, w.start)
		p.write(" AND ")
		bound(f.EndKind, w.end)
	} else {
		bound(f.StartKind, w.start)
	}
	if f.Exclude != "" && f.Exclude != "no others" {
		p.write(" EXCLUDE ", strings.ToUpper(f.Exclude))
	}
}
