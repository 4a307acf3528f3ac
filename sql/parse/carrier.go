package parse

import (
	"slices"
	"strconv"

	"github.com/minidb/minidb/planner/ast"
)

// mark is one word of the text that the TiDB parser reads, with the token of the user that it
// stands for.
type mark struct {
	src  int32 // index of the user's token
	off  int32 // byte offset of the word in unit.out
	node any   // ast.Expr, ast.TableExpr, call, predicate, postfix, *joinShape or nil
}

// The shapes of what is carried. They receive the finished parts and build the node.
type (
	// call carries an operand with parts: q7 ( part , part ).
	call func(parts []ast.Expr) ast.Expr
	// predicate carries an operator with its right side: left LIKE q7 ( part , part ) or left <=>
	// q7.
	predicate func(left ast.Expr, parts []ast.Expr) ast.Expr
	// postfix carries what follows an operand: operand COLLATE BINARY.
	postfix func(operand ast.Expr) ast.Expr
)

// unit is one text for the TiDB parser while it grows: a SELECT core, or a list of expressions
// written as a select list. Its words are in the user's order, so that the word before an operand's
// first word is the operator in front of it, and the word after its last is the postfix behind it.
type unit struct {
	out   []byte
	marks []mark
	names []int32 // the mark of q0, q1, …
}

func (p *parser) newUnit() *unit {
	n := len(p.units)
	if n == 0 {
		return &unit{out: make([]byte, 0, 256), marks: make([]mark, 0, 32)}
	}
	u := p.units[n-1]
	p.units = p.units[:n-1]
	return u
}

// free gives u back; what it held may not be used any more.
func (p *parser) free(u *unit) {
	clear(u.marks)
	u.out, u.marks, u.names = u.out[:0], u.marks[:0], u.names[:0]
	if cap(u.marks) <= maxPooledTokens {
		p.units = append(p.units, u)
	}
}

// word appends a word or punctuation for the token src.
func (u *unit) word(src int, w string) {
	u.marks = append(u.marks, mark{src: int32(src), off: int32(len(u.out))})
	u.out = append(u.out, w...)
	u.out = append(u.out, ' ')
}

// name appends a numbered name that stands for node.
func (u *unit) name(src int, node any) {
	u.names = append(u.names, int32(len(u.marks)))
	u.marks = append(u.marks, mark{src: int32(src), off: int32(len(u.out)), node: node})
	u.out = append(u.out, 'q')
	u.out = strconv.AppendInt(u.out, int64(len(u.names)-1), 10)
	u.out = append(u.out, ' ')
}

// insert puts a word before the mark at. It is rare, so the cost of moving the rest does not
// matter.
func (u *unit) insert(at, src int, w string) {
	off := int(u.marks[at].off)
	u.out = slices.Insert(u.out, off, []byte(w+" ")...)
	u.marks = slices.Insert(u.marks, at, mark{src: int32(src), off: int32(off)})
	for i := at + 1; i < len(u.marks); i++ {
		u.marks[i].off += int32(len(w) + 1)
	}
	for i := range u.names {
		if int(u.names[i]) >= at {
			u.names[i]++
		}
	}
}

// cut takes the text back to where it was when it had so many bytes and marks.
func (u *unit) cut(out, marks int) {
	clear(u.marks[marks:])
	u.out, u.marks = u.out[:out], u.marks[:marks]
	n := len(u.names)
	for n > 0 && int(u.names[n-1]) >= marks {
		n--
	}
	u.names = u.names[:n]
}

// open appends a numbered name and a parenthesis; the parts and a closing word must follow.
func (u *unit) open(src int, node any) {
	u.name(src, node)
	u.word(src, "(")
}

// postfix appends a postfix to the operand just written.
func (u *unit) postfix(src int, f postfix) {
	u.word(src, "COLLATE")
	u.marks[len(u.marks)-1].node = f
	u.word(src, "BINARY")
}

// sourceAt is the user's token from which the byte at off was made.
func (u *unit) sourceAt(off int) int {
	lo, hi := 0, len(u.marks)
	for lo < hi {
		if mid := (lo + hi) / 2; int(u.marks[mid].off) < off {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return 0
	}
	return int(u.marks[lo-1].src)
}

// exprList collects expressions for one TiDB parse. Expressions of a single name never get there:
// rows of literals, the bulk of INSERT, cost no second parse.
type exprList struct {
	p       *parser
	u       *unit
	results []ast.Expr // nil where the TiDB parser has the word
	pending int        // how many are nil
	done    int        // how many are known to be finished
}

// maxListUnit bounds the bytes of one TiDB parse of a list, which cannot be interrupted: longer
// lists are parsed in pieces.
const maxListUnit = 256 << 10

func (p *parser) newExprList() *exprList {
	l := &exprList{p: p, u: p.newUnit()}
	l.u.word(p.i, "SELECT")
	return l
}

// add parses one expression.
func (l *exprList) add() { l.addWith(l.p.aExpr) }

// addWith parses one expression with parse, which writes it to the unit.
func (l *exprList) addWith(parse func(u *unit)) {
	u := l.u
	out, n := len(u.out), len(u.marks)
	if l.pending > 0 {
		u.word(l.p.i, ",")
	}
	first := len(u.marks)
	parse(u)
	if len(u.marks) == first+1 {
		if e, ok := u.marks[first].node.(ast.Expr); ok {
			l.put(e)
			u.cut(out, n)
			return
		}
	}
	l.pending++
	l.results = append(l.results, nil)
	if len(u.out) >= maxListUnit {
		l.flush()
	}
}

// flush has the TiDB parser read what is pending.
func (l *exprList) flush() {
	p, u := l.p, l.u
	if l.pending == 0 || p.err != nil {
		return
	}
	p.look()
	if tree := p.parseUnit(u); tree != nil {
		w := walker{p: p, u: u}
		fields, next := tree.Fields.Fields, 0
		for i := l.done; i < len(l.results); i++ {
			if l.results[i] == nil {
				l.results[i] = w.expr(fields[next].Expr)
				next++
			}
		}
	}
	u.cut(0, 0)
	u.word(p.i, "SELECT")
	l.pending, l.done = 0, len(l.results)
}

// put appends a finished expression.
func (l *exprList) put(e ast.Expr) { l.results = append(l.results, e) }

// finish returns the expressions in order; the list may not be used any more.
func (l *exprList) finish() []ast.Expr {
	p, u := l.p, l.u
	defer p.free(u)
	l.flush()
	if p.err != nil {
		// Callers index the result by what they added.
		for i := range l.results {
			l.results[i] = nil
		}
	}
	return l.results
}

// expr parses one expression by itself.
func (p *parser) expr() ast.Expr {
	l := p.newExprList()
	l.add()
	return l.finish()[0]
}

// exprs parses a comma list of expressions by itself.
func (p *parser) exprs() []ast.Expr {
	l := p.newExprList()
	p.list(l.add)
	return l.finish()
}
