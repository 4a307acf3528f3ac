package mutants

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// source is a package whose functions get mutated copies.
type source struct {
	name      string
	functions map[string]*function // "function" or "type.method"
	files     []*file
}

// file is one file of a package, without tests.
type file struct {
	path    string // from the module's root
	text    string
	tree    *ast.File
	inserts []insert
	copies  []string
	imports []string // that copies need and the file lacks
}

// insert is a text to put at an offset of a file.
type insert struct {
	at   int
	text string
}

// function is one function of a file. Offsets are those of its file.
type function struct {
	file     *file
	decl     *ast.FuncDecl
	at       func(token.Pos) int
	call     string   // what follows the name of a copy in a call: type arguments and arguments
	branches []string // the branches to its copies
}

// parsePackage reads the package's files that this platform builds.
func parsePackage(root, dir string) (*source, error) {
	found, err := build.ImportDir(filepath.Join(root, filepath.FromSlash(dir)), 0)
	if err != nil {
		return nil, err
	}
	p := &source{name: found.Name, functions: map[string]*function{}}
	for _, name := range found.GoFiles {
		f := &file{path: path.Join(dir, name)}
		text, err := os.ReadFile(filepath.Join(found.Dir, name))
		if err != nil {
			return nil, err
		}
		fset := token.NewFileSet()
		if f.tree, err = parser.ParseFile(fset, f.path, text,
			parser.SkipObjectResolution); err != nil {
			return nil, err
		}
		f.text = string(text)
		p.files = append(p.files, f)
		at := func(pos token.Pos) int { return fset.Position(pos).Offset }
		for _, d := range f.tree.Decls {
			if decl, ok := d.(*ast.FuncDecl); ok && decl.Body != nil {
				p.functions[nameOf(decl)] = &function{file: f, decl: decl, at: at}
			}
		}
	}
	return p, nil
}

// nameOf returns "function" or "type.method".
func nameOf(decl *ast.FuncDecl) string {
	if decl.Recv == nil {
		return decl.Name.Name
	}
	recv := decl.Recv.List[0].Type
	for {
		switch t := recv.(type) {
		case *ast.StarExpr:
			recv = t.X
		case *ast.IndexExpr:
			recv = t.X
		case *ast.IndexListExpr:
			recv = t.X
		default:
			return recv.(*ast.Ident).Name + "." + decl.Name.Name
		}
	}
}

// body is the function's text from its opening brace on.
func (f *function) body() string {
	return f.file.text[f.at(f.decl.Body.Lbrace):f.at(f.decl.End())]
}

// addCopy adds a copy with another body, to which the function switches when mutant n is chosen. A
// line directive gives the copy the line numbers of origin.
func (f *function) addCopy(n int, origin, body string) {
	if len(f.branches) == 0 {
		f.call = f.typeArguments() + "(" + f.arguments() + ")"
	}
	start, nameEnd := f.at(f.decl.Pos()), f.at(f.decl.Name.End())
	copied := fmt.Sprintf("%sMutant%d", f.decl.Name.Name, n)
	head := f.file.text[start:f.at(f.decl.Name.Pos())] + copied +
		f.file.text[nameEnd:f.at(f.decl.Body.Lbrace)]
	f.file.copies = append(f.file.copies, "//line "+origin+":1\n"+head+body)

	if f.decl.Recv != nil {
		copied = f.named(f.decl.Recv.List[0], "mutated")[0] + "." + copied
	}
	branch := fmt.Sprintf(" if chosenMutant == %d { ", n)
	if f.decl.Type.Results == nil {
		branch += copied + f.call + "; return };"
	} else {
		branch += "return " + copied + f.call + " };"
	}
	f.branches = append(f.branches, branch)
}

func (f *function) typeArguments() string {
	if f.decl.Type.TypeParams == nil {
		return ""
	}
	var names []string
	for _, field := range f.decl.Type.TypeParams.List {
		for _, name := range field.Names {
			names = append(names, name.Name)
		}
	}
	return "[" + strings.Join(names, ", ") + "]"
}

func (f *function) arguments() string {
	var names []string
	for i, field := range f.decl.Type.Params.List {
		names = append(names, f.named(field, fmt.Sprintf("mutated%d", i))...)
		if _, variadic := field.Type.(*ast.Ellipsis); variadic {
			names[len(names)-1] += "..."
		}
	}
	return strings.Join(names, ", ")
}

// named returns the names of a receiver or parameters, and gives names to those that have none.
func (f *function) named(field *ast.Field, otherwise string) (names []string) {
	if len(field.Names) == 0 {
		f.file.insert(f.at(field.Type.Pos()), otherwise+" ")
		return []string{otherwise}
	}
	for i, name := range field.Names {
		if name.Name == "_" {
			own := fmt.Sprintf("%s_%d", otherwise, i)
			f.file.insert(f.at(name.Pos()), own+"/*")
			f.file.insert(f.at(name.End()), "*/")
			names = append(names, own)
			continue
		}
		names = append(names, name.Name)
	}
	return names
}

func (f *file) insert(at int, text string) {
	i := insert{at, text}
	if !slices.Contains(f.inserts, i) {
		f.inserts = append(f.inserts, i)
	}
}

// needImports notes the imports that the new text uses and the file lacks.
func (f *file) needImports(paths []string, text string) {
	for _, imported := range paths {
		has := slices.Contains(f.imports, imported)
		for _, spec := range f.tree.Imports {
			has = has || spec.Path.Value == fmt.Sprintf("%q", imported)
		}
		if !has && strings.Contains(text, path.Base(imported)+".") {
			f.imports = append(f.imports, imported)
		}
	}
}

// finish adds the package's changed files. What is inserted adds no line, so that a failing test
// names the lines of the product; copies are at the end.
func (p *source) finish(files map[string]string) {
	for _, fn := range p.functions {
		if len(fn.branches) > 0 {
			fn.file.insert(fn.at(fn.decl.Body.Lbrace)+1, strings.Join(fn.branches, ""))
		}
	}
	for _, f := range p.files {
		if len(f.copies) == 0 {
			continue
		}
		for _, imported := range f.imports {
			f.insert(int(f.tree.Name.End()-f.tree.FileStart), fmt.Sprintf("; import %q", imported))
		}
		slices.SortStableFunc(f.inserts, func(a, b insert) int { return a.at - b.at })
		var b strings.Builder
		last := 0
		for _, i := range f.inserts {
			b.WriteString(f.text[last:i.at] + i.text)
			last = i.at
		}
		b.WriteString(f.text[last:])
		for _, c := range f.copies {
			b.WriteString("\n" + c + "\n")
		}
		files[f.path] = b.String()
	}
}
