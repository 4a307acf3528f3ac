package parse

import (
	"context"
	"math"
	"strconv"

	"github.com/minidb/minidb/planner/ast"
)

// maxShapeLiterals and maxShapeText bound the texts that have a shape: long ones are loads of rows.
const (
	maxShapeLiterals = 64
	maxShapeText     = 8 << 10
)

// Shape is a text of one statement, a SELECT, INSERT, UPDATE or DELETE, with its literals apart:
// texts of equal Text have the same tree but for the values of these literals.
type Shape struct {
	// Text has a NUL and the kind in the place of each literal, which no text that is parsed
	// contains.
	Text     []byte
	Literals []ShapeLiteral
	// First and End are where the statement lies in the text, from 0: without blanks and semicolon.
	First, End int
}

// ShapeLiteral is one literal: a string, or digits that make an int4.
type ShapeLiteral struct {
	Kind ast.LiteralKind
	Text string
	Int  int32   // of LiteralInt
	Pos  ast.Pos // as in ast.Literal
	// of the minus right before digits, which may be the sign or an operator; 0 if there is none
	Minus ast.Pos
}

// ShapeOf cuts a text into its shape. It reuses the memory of s. It returns false for a text
// without a shape: another kind of statement or several of them, one with parameters, without
// literals, or with errors.
func ShapeOf(text string, s *Shape) bool {
	if len(text) > maxShapeText {
		return false
	}
	p, err := open(context.Background(), text)
	if err != nil {
		return false
	}
	defer p.close()
	switch p.toks[0].kw {
	case "select", "insert", "update", "delete":
	default:
		return false
	}
	s.Text, s.Literals = s.Text[:0], s.Literals[:0]
	s.First, s.End = int(p.toks[0].pos), 0
	from := 0
	for i := range p.toks {
		t := &p.toks[i]
		lit := ShapeLiteral{Text: t.str, Pos: ast.Pos(t.pos) + 1}
		switch t.kind {
		case tokEOF:
			if s.End == 0 {
				s.End = int(p.toks[i-1].end)
			}
			s.Text = append(s.Text, text[from:]...)
			return len(s.Literals) > 0
		case tokError, tokParam:
			return false
		case tokPunct:
			if t.ch == ';' {
				if p.toks[i+1].kind != tokEOF {
					return false
				}
				s.End = int(p.toks[i-1].end)
			}
			continue
		case tokString:
			lit.Kind = ast.LiteralString
		case tokInt:
			n, err := strconv.ParseInt(t.str, 10, 64)
			if err != nil || n > math.MaxInt32 {
				continue
			}
			lit.Kind, lit.Int = ast.LiteralInt, int32(n)
			if before := &p.toks[i-1]; before.is('-') {
				lit.Minus = ast.Pos(before.pos) + 1
			}
		default:
			continue
		}
		if len(s.Literals) == maxShapeLiterals {
			return false
		}
		s.Text = append(append(s.Text, text[from:t.pos]...), 0, byte(lit.Kind))
		s.Literals = append(s.Literals, lit)
		from = int(t.end)
	}
	return false
}
