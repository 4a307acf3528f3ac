package parse

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/minidb/minidb/planner/ast"
)

// printer writes a tree as a compact s-expression. Zero fields are left out; positions are shown as
// @n when asked for.
type printer struct {
	sb        strings.Builder
	positions bool
}

// sprint is the tree of v without positions.
func sprint(v any) string {
	p := printer{}
	p.value(reflect.ValueOf(v))
	return p.sb.String()
}

// sprintPositions is the tree of v with them.
func sprintPositions(v any) string {
	p := printer{positions: true}
	p.value(reflect.ValueOf(v))
	return p.sb.String()
}

func (p *printer) at(pos ast.Pos) {
	if p.positions {
		fmt.Fprintf(&p.sb, "@%d", pos)
	}
}

func (p *printer) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Invalid:
		p.sb.WriteString("nil")
	case reflect.Interface:
		p.value(v.Elem())
	case reflect.Pointer:
		if v.IsNil() {
			p.sb.WriteString("nil")
			return
		}
		if e, ok := v.Interface().(ast.Expr); ok && p.short(e) {
			return
		}
		p.value(v.Elem())
	case reflect.Struct:
		p.structure(v)
	case reflect.Slice:
		p.sb.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				p.sb.WriteByte(' ')
			}
			p.value(v.Index(i))
		}
		p.sb.WriteByte(']')
	case reflect.String:
		s := v.String()
		if s == "" || strings.ContainsAny(s, " ()[]\"'\n\\=") {
			s = strconv.Quote(s)
		}
		p.sb.WriteString(s)
	default:
		fmt.Fprint(&p.sb, v.Interface())
	}
}

// short writes the commonest expressions without the names of their fields.
func (p *printer) short(e ast.Expr) bool {
	switch n := e.(type) {
	case *ast.Literal:
		switch n.Kind {
		case ast.LiteralNull:
			p.sb.WriteString("null")
		case ast.LiteralBool, ast.LiteralInt, ast.LiteralNumber:
			p.sb.WriteString(n.Text)
		case ast.LiteralBits:
			p.sb.WriteString("b'" + n.Text + "'")
		default:
			p.sb.WriteString("'" + strings.ReplaceAll(strconv.Quote(n.Text), `"`, "") + "'")
		}
	case *ast.Param:
		fmt.Fprintf(&p.sb, "$%d", n.N)
	case *ast.ColumnRef:
		p.sb.WriteString(strings.Join(append(append([]string{}, n.Qualifier...), n.Name), "."))
	case *ast.Star:
		p.sb.WriteString(strings.Join(append(append([]string{}, n.Qualifier...), "*"), "."))
	case *ast.Binary:
		p.form(n.Op, n.Pos, n.Left, n.Right)
		return true
	case *ast.Unary:
		p.form(n.Op, n.Pos, n.Operand)
		return true
	case *ast.Default:
		p.sb.WriteString("DEFAULT")
	default:
		return false
	}
	p.at(e.At())
	return true
}

func (p *printer) form(head string, pos ast.Pos, parts ...ast.Expr) {
	p.sb.WriteString("(" + head)
	p.at(pos)
	for _, e := range parts {
		p.sb.WriteByte(' ')
		p.value(reflect.ValueOf(e))
	}
	p.sb.WriteByte(')')
}

func (p *printer) structure(v reflect.Value) {
	switch n := v.Interface().(type) {
	case ast.Name:
		s := n.Name
		if n.Schema != "" {
			s = n.Schema + "." + s
		}
		if n.Database != "" {
			s = n.Database + "." + s
		}
		p.sb.WriteString(s)
		p.at(n.Pos)
		return
	case ast.Ident:
		p.sb.WriteString(n.Name)
		p.at(n.Pos)
		return
	case ast.TypeName:
		p.typeName(n)
		return
	case ast.Target:
		if n.Path == nil {
			p.value(reflect.ValueOf(n.Ident))
			return
		}
	}
	t := v.Type()
	p.sb.WriteString("(" + t.Name())
	for i := range t.NumField() {
		f, x := t.Field(i), v.Field(i)
		if f.Name == "Pos" {
			p.at(x.Interface().(ast.Pos))
			continue
		}
		if x.IsZero() {
			continue
		}
		p.sb.WriteByte(' ')
		if x.Kind() == reflect.Bool {
			p.sb.WriteString(strings.ToLower(f.Name))
			continue
		}
		if f.Anonymous {
			p.value(x)
			continue
		}
		p.sb.WriteString(strings.ToLower(f.Name) + "=")
		p.value(x)
	}
	p.sb.WriteByte(')')
}

func (p *printer) typeName(n ast.TypeName) {
	if n.Schema != "" {
		p.sb.WriteString(n.Schema + ".")
	}
	p.sb.WriteString(n.Name)
	for i, m := range n.Mods {
		p.sb.WriteString(map[bool]string{true: "(", false: ","}[i == 0] + strconv.Itoa(m))
	}
	if len(n.Mods) > 0 {
		p.sb.WriteByte(')')
	}
	if n.Fields != "" {
		p.sb.WriteString("<" + n.Fields + ">")
	}
	p.sb.WriteString(strings.Repeat("[]", n.ArrayDims))
	p.at(n.Pos)
}
