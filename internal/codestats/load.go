package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// goPackage is a package as `go list` describes it, with its parsed files.
type goPackage struct {
	ImportPath string
	Dir        string
	Export     string // file with the package's export data
	GoFiles    []string
	Imports    []string
	Module     *struct {
		Path, Dir string
		Main      bool
	}

	fset  *token.FileSet
	files []*sourceFile
	info  *types.Info
}

// sourceFile is one Go file of the product.
type sourceFile struct {
	name string // path from the root of the module
	text []byte
	tree *ast.File
}

// load lists, parses and type-checks the product code of the packages that match the pattern.
func load(pattern string) ([]*goPackage, error) {
	all, err := goList("-export", "-deps", pattern)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	var own []*goPackage
	for _, p := range all {
		exports[p.ImportPath] = p.Export
		if p.Module != nil && p.Module.Main {
			own = append(own, p)
		}
	}
	fset := token.NewFileSet()
	gc := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	for _, p := range own {
		if err := p.check(fset, gc); err != nil {
			return nil, err
		}
	}
	return own, nil
}

func goList(args ...string) ([]*goPackage, error) {
	fields := "-json=ImportPath,Dir,Export,GoFiles,Imports,Module"
	cmd := exec.Command("go", append([]string{"list", fields}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []*goPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(goPackage)
		if err := dec.Decode(p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
}

// reached has the packages that the binary, the Go API and the examples are made of. The others are
// tools of the repository and what only tests import.
func reached() (map[string]bool, error) {
	all, err := goList("-deps", "./cmd/minidb", ".", "./examples/...")
	if err != nil {
		return nil, err
	}
	reached := map[string]bool{}
	for _, p := range all {
		reached[p.ImportPath] = true
	}
	return reached, nil
}

// check parses the files and resolves what their identifiers name.
func (p *goPackage) check(fset *token.FileSet, imports types.Importer) error {
	p.fset = fset
	p.info = &types.Info{Uses: map[*ast.Ident]types.Object{}}
	var trees []*ast.File
	for _, name := range p.GoFiles {
		path := filepath.Join(p.Dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		tree, err := parser.ParseFile(fset, path, text,
			parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(p.Module.Dir, path)
		if err != nil {
			return err
		}
		p.files = append(p.files, &sourceFile{name: filepath.ToSlash(rel), text: text, tree: tree})
		trees = append(trees, tree)
	}
	_, err := (&types.Config{Importer: imports}).Check(p.ImportPath, fset, trees, p.info)
	return err
}

// rel is the package's path from the root of the module; "." is the root.
func (p *goPackage) rel() string {
	if p.ImportPath == p.Module.Path {
		return "."
	}
	return strings.TrimPrefix(p.ImportPath, p.Module.Path+"/")
}
