package eval

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// The scripts in testdata hold one expression per line and the result of PostgreSQL 15.18:
//
//	lpad('hi', '5'::int4, 'xy') => text xyxhi
//	'1'::int4 / '0'::int4 => !22012 division by zero
//
// The language is a small part of SQL, which is easy to parse: literals 'text' with an optional
// ::type, integers, NULL, calls, one prefix or infix operator per pair of parentheses.

func testRuntime() *expr.Runtime {
	at := time.Date(2024, 2, 29, 12, 34, 56, 789012000, time.UTC)
	return &expr.Runtime{TxnTime: at, StatementTime: at, Location: time.UTC,
		Format: types.DefaultFormat}
}

func TestExpressionsAgreeWithPostgreSQL(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		f, err := os.Open(file)
		require.NoError(t, err)
		lines := bufio.NewScanner(f)
		for n := 1; lines.Scan(); n++ {
			line := lines.Text()
			if line == "" || line[0] == '#' {
				continue
			}
			text, want, ok := strings.Cut(line, " => ")
			require.True(t, ok, line)
			if got := evaluate(text); got != want {
				t.Errorf("%s:%d: %s\n  want %s\n  got  %s", file, n, text, want, got)
			}
		}
		require.NoError(t, lines.Err())
		require.NoError(t, f.Close())
	}
}

// evaluate binds an expression, evaluates it by row, by vector, folded and over columns, and
// formats the result. A difference between these is also a result.
func evaluate(text string) string {
	e, err := bindText(text)
	if err != nil {
		return showError(err)
	}
	got := byRow(e)
	if v := byVector(e); v != got {
		return fmt.Sprintf("row %s, vector %s", got, v)
	}
	if v := byColumns(e); v != got {
		return fmt.Sprintf("row %s, columns %s", got, v)
	}
	if v := byRow(Fold(e, testRuntime())); v != got {
		return fmt.Sprintf("row %s, folded %s", got, v)
	}
	return got
}

func showError(err error) string {
	var e *sqlerr.Error
	if errors.As(err, &e) {
		return "!" + e.Code + " " + strings.ReplaceAll(e.Message, "\n", `\n`)
	}
	return "!" + err.Error()
}

func showDatum(t *types.Type, d types.Datum) string {
	name := strings.Trim(builtin.Signature("", []*types.Type{t}), "()")
	if d.Null {
		return name + " NULL"
	}
	text := types.Text(t, d, &types.DefaultFormat)
	return name + " " + strings.ReplaceAll(text, "\n", `\n`)
}

func byRow(e expr.Expr) string {
	p, err := Compile(e)
	if err != nil {
		return showError(err)
	}
	d, err := p.EvalRow(&Context{Runtime: testRuntime()}, nil)
	if err != nil {
		return showError(err)
	}
	return showDatum(e.Type(), d)
}

func byVector(e expr.Expr) string {
	return overBatch(e, &types.Batch{Len: 3}, []int32{0, 2})
}

// byColumns evaluates an expression whose constants are replaced by columns, between rows of NULLs.
func byColumns(e expr.Expr) string {
	b := &types.Batch{Len: 4}
	e = expr.Rewrite(e, func(n expr.Expr) expr.Expr {
		k, ok := n.(*expr.Const)
		if !ok {
			return n
		}
		v := types.NewVec(k.T, 4)
		for i := range 4 {
			if i%2 == 0 {
				v.Append(types.Null)
			} else {
				v.Append(k.Value)
			}
		}
		b.Cols = append(b.Cols, v)
		return &expr.Col{T: k.T, Index: len(b.Cols) - 1}
	})
	return overBatch(e, b, []int32{1, 3})
}

func overBatch(e expr.Expr, b *types.Batch, sel []int32) string {
	p, err := Compile(e)
	if err != nil {
		return showError(err)
	}
	var out types.Vec
	if err := p.Eval(&Context{Runtime: testRuntime()}, b, sel, &out); err != nil {
		return showError(err)
	}
	first := showDatum(e.Type(), out.Get(int(sel[0])))
	for _, i := range sel[1:] {
		if s := showDatum(e.Type(), out.Get(int(i))); s != first {
			return first + " and " + s
		}
	}
	return first
}

// textParser parses the language of the scripts.
type textParser struct {
	s string
	i int
}

func bindText(s string) (expr.Expr, error) {
	p := &textParser{s: s}
	e, err := p.expr()
	if err == nil && p.i != len(s) {
		return nil, fmt.Errorf("left over: %q", s[p.i:])
	}
	return e, err
}

func (p *textParser) space() {
	for p.i < len(p.s) && p.s[p.i] == ' ' {
		p.i++
	}
}

const operatorChars = "+-*/<>=~!@#%^&|?"

func (p *textParser) operator() string {
	p.space()
	start := p.i
	for p.i < len(p.s) && strings.IndexByte(operatorChars, p.s[p.i]) >= 0 {
		p.i++
	}
	return p.s[start:p.i]
}

func (p *textParser) expr() (expr.Expr, error) {
	if op := p.operator(); op != "" {
		arg, err := p.primary()
		if err != nil {
			return nil, err
		}
		return bindOperator(op, nil, arg)
	}
	left, err := p.primary()
	if err != nil {
		return nil, err
	}
	op := p.operator()
	if op == "" {
		return left, nil
	}
	right, err := p.primary()
	if err != nil {
		return nil, err
	}
	return bindOperator(op, left, right)
}

func (p *textParser) word() string {
	start := p.i
	for p.i < len(p.s) && (p.s[p.i] == '_' || p.s[p.i] >= 'a' && p.s[p.i] <= 'z' ||
		p.s[p.i] >= '0' && p.s[p.i] <= '9') {
		p.i++
	}
	return p.s[start:p.i]
}

func (p *textParser) primary() (expr.Expr, error) {
	p.space()
	switch {
	case p.i >= len(p.s):
		return nil, errors.New("unexpected end")
	case p.s[p.i] == '(':
		p.i++
		e, err := p.expr()
		if err != nil {
			return nil, err
		}
		p.i++
		return p.cast(e)
	case p.s[p.i] == '\'':
		var b strings.Builder
		for p.i++; p.s[p.i] != '\'' || p.i+1 < len(p.s) && p.s[p.i+1] == '\''; p.i++ {
			if p.s[p.i] == '\'' {
				p.i++
			}
			b.WriteByte(p.s[p.i])
		}
		p.i++
		return p.cast(&expr.Const{T: types.TUnknown, Value: types.NewString(b.String())})
	case p.s[p.i] >= '0' && p.s[p.i] <= '9':
		w := p.word()
		d, err := types.ParseText(types.TInt4, w, &types.DefaultFormat)
		if err != nil {
			return nil, err
		}
		return p.cast(&expr.Const{T: types.TInt4, Value: d})
	case strings.HasPrefix(p.s[p.i:], "NULL"):
		p.i += 4
		return p.cast(&expr.Const{T: types.TUnknown, Value: types.Null})
	}
	name := p.word()
	if p.i >= len(p.s) || p.s[p.i] != '(' {
		return nil, fmt.Errorf("unexpected %q", p.s[p.i:])
	}
	p.i++
	var args []expr.Expr
	for p.space(); p.s[p.i] != ')'; p.space() {
		a, err := p.expr()
		if err != nil {
			return nil, err
		}
		args = append(args, a)
		if p.space(); p.s[p.i] == ',' {
			p.i++
		}
	}
	p.i++
	e, err := bindCall(name, args)
	if err != nil {
		return nil, err
	}
	return p.cast(e)
}

func (p *textParser) cast(e expr.Expr) (expr.Expr, error) {
	for strings.HasPrefix(p.s[p.i:], "::") {
		p.i += 2
		name := p.word()
		t, ok := types.ByName(name)
		if !ok {
			return nil, fmt.Errorf("no type %q", name)
		}
		if strings.HasPrefix(p.s[p.i:], "[]") {
			p.i += 2
			t = types.ArrayOf(t)
		}
		var err error
		if e, err = coerceTo(e, t, true); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func coerceTo(e expr.Expr, t *types.Type, explicit bool) (expr.Expr, error) {
	if k, ok := e.(*expr.Const); ok && k.T.OID == types.OIDUnknown {
		if k.Value.Null {
			return &expr.Const{T: t, Value: types.Null}, nil
		}
		d, err := types.ParseText(t, k.Value.S, &types.DefaultFormat)
		return &expr.Const{T: t, Value: d}, err
	}
	if e.Type().OID == t.OID {
		return e, nil
	}
	return &expr.Cast{T: t, Arg: e, Explicit: explicit}, nil
}

func bindArgs(args []expr.Expr, targets []*types.Type) error {
	for i := range args {
		var err error
		if args[i], err = coerceTo(args[i], targets[i], false); err != nil {
			return err
		}
	}
	return nil
}

func bindOperator(op string, left, right expr.Expr) (expr.Expr, error) {
	var lt *types.Type
	args := []expr.Expr{right}
	if left != nil {
		lt, args = left.Type(), []expr.Expr{left, right}
	}
	fn, targets, err := builtin.ResolveOperator(op, lt, right.Type())
	if err != nil {
		return nil, err
	}
	if err := bindArgs(args, targets); err != nil {
		return nil, err
	}
	return &expr.Call{T: builtin.ReturnType(fn, targets), Func: fn, Args: args}, nil
}

func bindCall(name string, args []expr.Expr) (expr.Expr, error) {
	ts := typesOf(args)
	var fn *expr.Func
	var targets []*types.Type
	var err error
	switch name {
	case "greatest", "least":
		t, _, cerr := builtin.CommonTypeFor(strings.ToUpper(name), ts)
		if cerr != nil {
			return nil, cerr
		}
		if fn = builtin.Greatest(t); name == "least" {
			fn = builtin.Least(t)
		}
		for range args {
			targets = append(targets, t)
		}
	case "coalesce":
		t, _, cerr := builtin.CommonTypeFor("COALESCE", ts)
		if cerr != nil {
			return nil, cerr
		}
		for range args {
			targets = append(targets, t)
		}
		if err := bindArgs(args, targets); err != nil {
			return nil, err
		}
		return &expr.Coalesce{T: t, Args: args}, nil
	case "nullif":
		fn, targets, err = builtin.NullIf(ts[0], ts[1])
	default:
		fn, targets, err = builtin.ResolveFunction(name, ts)
	}
	if err != nil {
		return nil, err
	}
	if err := bindArgs(args, targets); err != nil {
		return nil, err
	}
	return &expr.Call{T: builtin.ReturnType(fn, targets), Func: fn, Args: args}, nil
}
