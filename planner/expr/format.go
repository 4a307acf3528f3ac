package expr

import (
	"strconv"
	"strings"

	"github.com/minidb/minidb/table/types"
)

// Format formats an expression as EXPLAIN shows it, in PostgreSQL's way: operators in parentheses
// and casts as ::.
func Format(e Expr) string {
	f := formatter{}
	f.expr(e)
	return f.b.String()
}

type formatter struct {
	b       strings.Builder
	operand Expr // of the simple CASE that is being formatted
}

func (f *formatter) list(es []Expr) {
	for i, e := range es {
		if i > 0 {
			f.b.WriteString(", ")
		}
		f.expr(e)
	}
}

func (f *formatter) expr(e Expr) {
	switch e := e.(type) {
	case nil:
	case *Const:
		f.constant(e)
	case *Col:
		if e.Name == "" {
			f.b.WriteString("#" + strconv.Itoa(e.Index))
		} else {
			f.b.WriteString(e.Name)
		}
	case *Param:
		f.b.WriteString("$" + strconv.Itoa(e.N))
	case *Var:
		if e.Name == "" {
			f.b.WriteString("@" + strconv.Itoa(e.Slot))
		} else {
			f.b.WriteString(e.Name)
		}
	case *Call:
		f.call(e)
	case *And:
		f.join(e.Args, " AND ")
	case *Or:
		f.join(e.Args, " OR ")
	case *Not:
		f.b.WriteString("(NOT ")
		f.expr(e.Arg)
		f.b.WriteByte(')')
	case *IsNull:
		f.suffix(e.Arg, e.Not, "NULL")
	case *IsBool:
		f.suffix(e.Arg, e.Not, strings.ToUpper(strconv.FormatBool(e.Want)))
	case *Case:
		f.caseExpr(e)
	case *CaseOperand:
		f.expr(f.operand)
	default:
		f.compound(e)
	}
}

func (f *formatter) compound(e Expr) {
	switch e := e.(type) {
	case *Coalesce:
		f.b.WriteString("COALESCE(")
		f.list(e.Args)
		f.b.WriteByte(')')
	case *InList:
		f.b.WriteByte('(')
		f.expr(e.Arg)
		if e.Not {
			f.b.WriteString(" <> ALL (")
		} else {
			f.b.WriteString(" = ANY (")
		}
		f.list(e.List)
		f.b.WriteString("))")
	case *Cast:
		f.cast(e)
	case *ArrayExpr:
		f.b.WriteString("ARRAY[")
		f.list(e.Elems)
		f.b.WriteByte(']')
	case *RowExpr:
		f.b.WriteString("ROW(")
		f.list(e.Elems)
		f.b.WriteByte(')')
	case *Quantified:
		f.b.WriteByte('(')
		f.expr(e.Left)
		f.b.WriteString(" " + e.Op.Name + " " + quantifier(e.All) + " (")
		f.expr(e.Array)
		f.b.WriteString("))")
	case *Subquery:
		f.subquery(e)
	}
}

func quantifier(all bool) string {
	if all {
		return "ALL"
	}
	return "ANY"
}

func (f *formatter) join(es []Expr, word string) {
	f.b.WriteByte('(')
	for i, e := range es {
		if i > 0 {
			f.b.WriteString(word)
		}
		f.expr(e)
	}
	f.b.WriteByte(')')
}

func (f *formatter) suffix(arg Expr, not bool, what string) {
	f.b.WriteByte('(')
	f.expr(arg)
	f.b.WriteString(" IS ")
	if not {
		f.b.WriteString("NOT ")
	}
	f.b.WriteString(what + ")")
}

func (f *formatter) constant(c *Const) {
	if c.Value.Null {
		f.b.WriteString("NULL")
		if c.T.OID != types.OIDUnknown {
			f.b.WriteString("::" + c.T.String())
		}
		return
	}
	format := types.DefaultFormat
	text := string(types.AppendText(nil, c.T, c.Value, &format))
	switch {
	case c.T.Family == types.Bool:
		f.b.WriteString(strconv.FormatBool(c.Value.I != 0))
	case c.T.OID == types.OIDInt4 || c.T.OID == types.OIDNumeric && c.Value.Dec.Form == 0:
		if strings.HasPrefix(text, "-") {
			f.b.WriteString("'" + text + "'::" + c.T.String())
			return
		}
		f.b.WriteString(text)
	default:
		f.b.WriteString("'" + strings.ReplaceAll(text, "'", "''") + "'::" + c.T.String())
	}
}

func (f *formatter) cast(e *Cast) {
	switch e.Arg.(type) {
	case *Col, *Const, *Call, *Param, *Var:
		_, isCall := e.Arg.(*Call)
		if isCall {
			f.expr(e.Arg)
			break
		}
		f.b.WriteByte('(')
		f.expr(e.Arg)
		f.b.WriteByte(')')
	default:
		f.b.WriteByte('(')
		f.expr(e.Arg)
		f.b.WriteByte(')')
	}
	f.b.WriteString("::" + e.T.String())
}

// call formats a function call, or an operator in parentheses.
func (f *formatter) call(e *Call) {
	name := e.Func.Name
	switch {
	case e.Func.Bound:
		f.expr(e.Args[0])
		return
	case name == "is document":
		f.expr(e.Args[0])
		f.b.WriteString(" IS DOCUMENT")
		return
	}
	if name != "IS DISTINCT FROM" && isWord(name) {
		f.b.WriteString(name + "(")
		f.list(e.Args)
		f.b.WriteByte(')')
		return
	}
	f.b.WriteByte('(')
	if len(e.Args) == 2 {
		f.expr(e.Args[0])
		f.b.WriteString(" " + name + " ")
		f.expr(e.Args[1])
	} else {
		f.b.WriteString(name + " ")
		f.list(e.Args)
	}
	f.b.WriteByte(')')
}

// isWord reports whether a name is that of a function, not the spelling of an operator.
func isWord(name string) bool {
	return name != "" && (name[0] == '_' || name[0] >= 'a' && name[0] <= 'z' ||
		name[0] >= 'A' && name[0] <= 'Z')
}

func (f *formatter) caseExpr(e *Case) {
	outer := f.operand
	f.b.WriteString("CASE")
	if e.Operand != nil {
		f.b.WriteByte(' ')
		f.expr(e.Operand)
		f.operand = e.Operand
	}
	for _, w := range e.Whens {
		f.b.WriteString(" WHEN ")
		cond := w.Cond
		if c, ok := cond.(*Call); ok && e.Operand != nil && len(c.Args) == 2 {
			cond = c.Args[1]
		}
		f.expr(cond)
		f.b.WriteString(" THEN ")
		f.expr(w.Result)
	}
	f.operand = outer
	if e.Else != nil {
		f.b.WriteString(" ELSE ")
		f.expr(e.Else)
	}
	f.b.WriteString(" END")
}

func (f *formatter) subquery(e *Subquery) {
	switch e.Kind {
	case Exists:
		f.b.WriteString("EXISTS(SubPlan)")
	case ArrayOf:
		f.b.WriteString("ARRAY(SubPlan)")
	case Scalar:
		f.b.WriteString("(SubPlan)")
	default:
		f.b.WriteByte('(')
		if len(e.Left) == 1 {
			f.expr(e.Left[0])
		} else {
			f.b.WriteString("ROW(")
			f.list(e.Left)
			f.b.WriteByte(')')
		}
		op := "="
		if len(e.Ops) > 0 {
			op = e.Ops[0].Name
		}
		plan := " (SubPlan))"
		if e.Hashed() {
			plan = " (hashed SubPlan))"
		}
		f.b.WriteString(" " + op + " " + quantifier(e.Kind == All) + plan)
	}
}
