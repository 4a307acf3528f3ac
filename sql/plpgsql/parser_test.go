package plpgsql_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/sql/plpgsql"
	"github.com/minidb/minidb/table/types"
)

// builtins is a catalog with the built-in types, and a relation t with the column a.
type builtins struct{}

func (builtins) Type(_ context.Context, name ast.TypeName) (*types.Type, error) {
	t, ok := types.ByName(name.Name)
	if !ok {
		return nil, sqlerr.New(sqlerr.UndefinedObject, "type \"%s\" does not exist", name.Name)
	}
	if name.ArrayDims > 0 {
		return types.ArrayOf(t), nil
	}
	return t, nil
}

func (builtins) RowType(_ context.Context, name ast.Name) (*types.Type, error) {
	if name.Name != "t" {
		return nil, nil
	}
	return types.RowOf([]types.Attribute{{Name: "a", Type: types.TInt4}}), nil
}

func (builtins) ColumnType(_ context.Context, relation ast.Name, column string) (*types.Type,
	error) {
	if relation.Name != "t" || column != "a" {
		return nil, nil
	}
	return types.TInt4, nil
}

func parse(body string) (*plpgsql.Program, error) {
	return plpgsql.Parse(context.Background(), builtins{}, "f", body)
}

// bodies are statements of every kind.
var bodies = []string{
	"<<l>> DECLARE a int := 1; b CONSTANT text NOT NULL DEFAULT 'x'; c t.a%TYPE; d t%ROWTYPE; " +
		"e record; f a%TYPE; g ALIAS FOR a; BEGIN l.a := 2; d.a := a + 1; END l;",
	"BEGIN IF 1 = 1 THEN NULL; ELSIF 2 = 2 THEN NULL; ELSEIF true THEN NULL; ELSE NULL; " +
		"END IF; END",
	"BEGIN CASE 1 WHEN 1, 2 THEN NULL; ELSE NULL; END CASE; CASE WHEN true THEN NULL; " +
		"END CASE; END",
	"DECLARE i int; BEGIN <<l>> LOOP EXIT l WHEN i > 1; CONTINUE l; END LOOP l; WHILE true LOOP " +
		"EXIT; END LOOP; FOR i IN REVERSE 10..1 BY 2 LOOP NULL; END LOOP; END",
	"DECLARE r record; a int; b int[]; BEGIN FOR r IN SELECT 1 LOOP NULL; END LOOP; FOR r IN " +
		"EXECUTE 'x' USING 1, 2 LOOP NULL; END LOOP; FOREACH a IN ARRAY b LOOP NULL; END LOOP; " +
		"FOREACH b SLICE 1 IN ARRAY b LOOP NULL; END LOOP; END",
	"DECLARE a text; BEGIN RAISE; EXCEPTION WHEN division_by_zero OR SQLSTATE '12345' THEN " +
		"GET STACKED DIAGNOSTICS a = MESSAGE_TEXT; WHEN OTHERS THEN RAISE 'a % %%', 1 " +
		"USING HINT = 'h', ERRCODE = '22012'; RAISE NOTICE unique_violation; END",
	"DECLARE a int; b t%ROWTYPE; BEGIN SELECT 1 INTO STRICT a; INSERT INTO t VALUES (1) " +
		"RETURNING a INTO a; EXECUTE 'x' INTO a USING 1; PERFORM 1; " +
		"GET DIAGNOSTICS a = ROW_COUNT; SELECT * INTO b FROM t; ASSERT a = 1, 'no'; RETURN; END",
	"DECLARE c CURSOR (n int) FOR SELECT n; d SCROLL CURSOR IS SELECT 1; e refcursor; x int; " +
		"BEGIN OPEN c(1); OPEN c (n := 2); FETCH c INTO x; FETCH NEXT FROM c INTO x; " +
		"MOVE LAST FROM d; FETCH ABSOLUTE 2 FROM d INTO x; CLOSE c; OPEN e FOR SELECT 1; " +
		"OPEN e NO SCROLL FOR " +
		"EXECUTE 'x' USING 1; FOR r IN c(3) LOOP NULL; END LOOP; END",
	"#variable_conflict use_column\nDECLARE a int[]; BEGIN a[1] := 2; a[1:2] = '{}'; " +
		"CREATE TABLE x (a int); BEGIN NULL; END; END",
}

func TestBodiesAreRead(t *testing.T) {
	for _, body := range bodies {
		_, err := parse(body)
		require.NoError(t, err, "%s", body)
	}
}

// Statements know their lines, and variables the scopes that hide them.
func TestTheTreeHasLinesAndVariables(t *testing.T) {
	p, err := parse("\nDECLARE\n  a int;\nBEGIN\n  DECLARE a text; BEGIN\n    a := 'x';\n  END;\n" +
		"  a := 1;\nEND")
	require.NoError(t, err)
	require.Equal(t, 4, p.Body.At())
	inner := p.Body.Body[0].(*plpgsql.Block).Body[0].(*plpgsql.Assign)
	outer := p.Body.Body[1].(*plpgsql.Assign)
	require.Equal(t, []int{6, 8}, []int{inner.At(), outer.At()})
	require.Same(t, types.TText, inner.Target.Variable.Type)
	require.Same(t, types.TInt4, outer.Target.Variable.Type)
	require.Equal(t, "a := 'x'", inner.Value.Text)
}

// A query sees the variables that were declared before it.
func TestScopes(t *testing.T) {
	p, err := parse("<<l>> DECLARE a int; b int := a; BEGIN <<m>> DECLARE a int; BEGIN a := 1; " +
		"END; END")
	require.NoError(t, err)
	byDefault := p.Body.Variables[1].Default.Scope
	v, parts := byDefault.Find("a")
	require.Equal(t, []any{"a", 1}, []any{v.Name, parts})
	v, _ = byDefault.Find("b")
	require.Nil(t, v)
	scope := p.Body.Body[0].(*plpgsql.Block).Body[0].(*plpgsql.Assign).Value.Scope
	inner, _ := scope.Find("m", "a")
	outer, parts := scope.Find("l", "a")
	require.NotSame(t, inner, outer)
	require.Equal(t, 2, parts)
	found, _ := scope.Find("f", "found")
	require.Same(t, p.Found, found)
}

func TestWhatIsRefused(t *testing.T) {
	for _, c := range []struct {
		body, code string
		position   int
	}{
		{"", sqlerr.SyntaxError, 1},
		{"BEGIN x := 1; END", sqlerr.SyntaxError, 7},
		{"BEGIN COMMIT; END", sqlerr.FeatureNotSupported, 7},
		{"BEGIN CALL f(); END", sqlerr.FeatureNotSupported, 7},
		{"BEGIN SELECT 1 +; END", sqlerr.SyntaxError, 17},
		{"BEGIN IF (1 THEN NULL; END IF; END", sqlerr.SyntaxError, 22},
		{"BEGIN RAISE nosuch; END", sqlerr.UndefinedObject, 0},
		{"DECLARE a int; a int; BEGIN END", sqlerr.SyntaxError, 16},
		{"DECLARE a nosuch; BEGIN END", sqlerr.UndefinedObject, 11},
		{"BEGIN EXIT; END", sqlerr.SyntaxError, 7},
		{"BEGIN 'x", sqlerr.SyntaxError, 7},
		{"BEGIN NULL;; END", sqlerr.SyntaxError, 12},
		{strings.Repeat("BEGIN ", 600), sqlerr.StatementTooComplex, 6*500 + 1},
	} {
		_, err := parse(c.body)
		var e *sqlerr.Error
		require.ErrorAs(t, err, &e, "%s", c.body)
		require.Equal(t, []any{c.code, c.position}, []any{e.Code, e.Position}, "%.40s: %v", c.body,
			err)
	}
}

// FuzzParse: the parser never panics, and its errors are positions within the body.
func FuzzParse(f *testing.F) {
	for _, body := range bodies {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		_, err := parse(body)
		var e *sqlerr.Error
		if err == nil {
			return
		}
		if !errors.As(err, &e) {
			t.Fatalf("%q: %v", body, err)
		}
		if e.Position < 0 || e.Position > len(body)+1 {
			t.Fatalf("%q: %v at %d of %d", body, err, e.Position, len(body))
		}
	})
}
