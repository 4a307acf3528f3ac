package main

import (
	"go/ast"
	"go/token"
)

// function is what is measured of one declared function.
type function struct {
	name       string
	lines      int
	cyclomatic int
	nesting    int
	parameters int
}

func (f *figures) addFunctions(p *goPackage, file *sourceFile) {
	for _, d := range file.tree.Decls {
		decl, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		fn := function{name: decl.Name.Name, cyclomatic: 1 + branches(decl),
			nesting: nesting(decl.Body),
			lines:   p.fset.Position(decl.End()).Line - p.fset.Position(decl.Pos()).Line + 1}
		for _, field := range decl.Type.Params.List {
			fn.parameters += max(1, len(field.Names))
		}
		f.functions = append(f.functions, fn)
		if decl.Recv != nil {
			f.addMethod(p.rel() + "." + receiver(decl.Recv.List[0].Type))
		}
		where := p.fset.Position(decl.Pos()).Line
		if fn.lines > 70 {
			f.found("function over 70 lines", "%s:%d %s %d", file.name, where, fn.name, fn.lines)
		}
		if fn.cyclomatic > 15 {
			f.found("cyclomatic over 15", "%s:%d %s %d", file.name, where, fn.name, fn.cyclomatic)
		}
		if fn.nesting >= 5 {
			f.found("nesting of 5 and more", "%s:%d %s %d", file.name, where, fn.name, fn.nesting)
		}
		if fn.parameters > 5 {
			f.found("more than 5 parameters", "%s:%d %s %d", file.name, where, fn.name,
				fn.parameters)
		}
	}
}

func (f *figures) addMethod(receiver string) {
	if f.methods == nil {
		f.methods = map[string]int{}
	}
	f.methods[receiver]++
}

func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return "?"
}

// branches counts the decisions below a node.
func branches(n ast.Node) (count int) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			count++
		case *ast.CaseClause:
			if n.List != nil {
				count++
			}
		case *ast.CommClause:
			if n.Comm != nil {
				count++
			}
		case *ast.BinaryExpr:
			if n.Op == token.LAND || n.Op == token.LOR {
				count++
			}
		}
		return true
	})
	return count
}

// nesting is how many control statements enclose the deepest one below n, itself included. An
// else-if counts at the level of its if.
func nesting(n ast.Node) int {
	deepest := 0
	var visit func(n ast.Node, depth int)
	visit = func(n ast.Node, depth int) {
		deepest = max(deepest, depth)
		ast.Inspect(n, func(child ast.Node) bool {
			if child == n || child == nil {
				return true
			}
			switch child := child.(type) {
			case *ast.IfStmt:
				if parent, ok := n.(*ast.IfStmt); ok && parent.Else == child {
					visit(child, depth)
				} else {
					visit(child, depth+1)
				}
				return false
			case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt,
				*ast.SelectStmt:
				visit(child, depth+1)
				return false
			}
			return true
		})
	}
	if n != nil {
		visit(n, 0)
	}
	return deepest
}
