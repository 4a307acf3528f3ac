package lint

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// codeName is a name in backticks of a document that looks like the module's own:
	// `txn.Store.Begin`, `Session.Retry`, `catalog.Check(…)`.
	codeName = regexp.MustCompile("`(\\w+)\\.([A-Z]\\w*)(?:\\.(\\w+))?(?:\\([^`]*\\))?`")
	// docLink is a link of a package comment: [Store.Begin], [kv.Engine].
	docLink = regexp.MustCompile(`(?m)^// .*?\[(\w+)(?:\.([A-Z]\w*))?\](?:[^(]|$)`)
)

// declared holds the names that the module declares: "txn.Store" and "Store.Begin".
type declared struct {
	packages, types map[string]bool
	names           map[string]bool
}

// declarations collects the names of the product.
func declarations(t *testing.T) *declared {
	d := &declared{packages: map[string]bool{}, types: map[string]bool{}, names: map[string]bool{}}
	eachDecl(t, func(f *file, _ *token.FileSet, decl ast.Decl) {
		pkg := packageOf(f)
		d.packages[pkg] = true
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			owner := pkg
			if decl.Recv != nil {
				owner = receiver(decl)
			}
			d.names[owner+"."+decl.Name.Name] = true
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						d.names[pkg+"."+name.Name] = true
					}
				case *ast.TypeSpec:
					d.addType(pkg, spec)
				}
			}
		}
	})
	return d
}

// packageOf returns the name of a file's package.
func packageOf(f *file) string {
	if name := filepath.Base(filepath.Dir(f.path)); name != "." {
		return name
	}
	return "minidb"
}

// addType adds a type with its fields, or an interface with its methods.
func (d *declared) addType(pkg string, spec *ast.TypeSpec) {
	d.names[pkg+"."+spec.Name.Name] = true
	if spec.Name.IsExported() {
		d.types[spec.Name.Name] = true
	}
	var fields *ast.FieldList
	switch typ := spec.Type.(type) {
	case *ast.StructType:
		fields = typ.Fields
	case *ast.InterfaceType:
		fields = typ.Methods
	default:
		return
	}
	for _, field := range fields.List {
		for _, name := range field.Names {
			d.names[spec.Name.Name+"."+name.Name] = true
		}
	}
}

// receiver returns the name of a method's type.
func receiver(fn *ast.FuncDecl) string {
	typ := fn.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if generic, ok := typ.(*ast.IndexExpr); ok {
		typ = generic.X
	}
	if name, ok := typ.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

// has reports whether first.second, and second.third unless that is empty, are declared. A first
// part that is neither a package nor a type of the module is another project's.
func (d *declared) has(first, second, third string) bool {
	if !d.packages[first] && !d.types[first] {
		return true
	}
	return d.names[first+"."+second] && (third == "" || d.names[second+"."+third])
}

// TestDocumentsNameWhatIsDeclared: names of the module in backticks, and links of package comments.
func TestDocumentsNameWhatIsDeclared(t *testing.T) {
	d, checked := declarations(t), 0
	for _, f := range files(t, ".md") {
		if strings.HasPrefix(f.path, "CHANGELOG") {
			continue // history, which may name what is gone
		}
		for _, m := range codeName.FindAllStringSubmatch(string(f.text), -1) {
			if checked++; !d.has(m[1], m[2], m[3]) {
				t.Errorf("%s names %s, which is not declared", f.path, m[0])
			}
		}
	}
	for _, f := range files(t, ".go") {
		if filepath.Base(f.path) != "doc.go" {
			continue
		}
		pkg := packageOf(f)
		for _, m := range docLink.FindAllStringSubmatch(string(f.text), -1) {
			checked++
			if known := m[2] == "" && d.names[pkg+"."+m[1]] || m[2] != "" &&
				d.has(m[1], m[2], ""); !known {
				t.Errorf("%s links to %s.%s, which is not declared", f.path, m[1], m[2])
			}
		}
	}
	if checked < 30 {
		t.Errorf("only %d names were found", checked)
	}
}

// TestDocumentsNameTestsThatExist: a test that holds something is there.
func TestDocumentsNameTestsThatExist(t *testing.T) {
	known := map[string]bool{}
	eachDecl(t, func(f *file, _ *token.FileSet, decl ast.Decl) {
		if fn, ok := decl.(*ast.FuncDecl); ok && f.isTest() {
			known[fn.Name.Name] = true
		}
	})
	named := regexp.MustCompile(`\bTest[A-Z]\w+`)
	checked := 0
	for _, f := range files(t, ".md") {
		for _, name := range named.FindAllString(string(f.text), -1) {
			if checked++; !known[name] {
				t.Errorf("%s names %s, which is no test", f.path, name)
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d tests were found", checked)
	}
}
