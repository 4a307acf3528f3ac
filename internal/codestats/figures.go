package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"io"
	"maps"
	"slices"
)

// figures are the sums over all packages.
type figures struct {
	lines, codeLines, commentLines, blankLines, wideLines int
	reachedLines                                          int // in packages of the product
	filesOver500, filesOver800                            int
	exported                                              int
	functions                                             []function
	methods                                               map[string]int
	references                                            []packageReferences
	findings                                              map[string][]string
}

// packageReferences counts the references between files of one package, and those that run back.
type packageReferences struct {
	name      string
	all, back int
}

func (f *figures) addPackage(p *goPackage) {
	for _, file := range p.files {
		f.addLines(file)
		f.addFunctions(p, file)
		f.addExported(file)
	}
	f.addReferences(p)
}

func (f *figures) addExported(file *sourceFile) {
	for _, d := range file.tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			f.exported += one(d.Name.IsExported())
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					f.exported += one(s.Name.IsExported())
				case *ast.ValueSpec:
					for _, name := range s.Names {
						f.exported += one(name.IsExported())
					}
				}
			}
		}
	}
}

// print writes the table.
func (f *figures) print(w io.Writer) {
	row := func(name, format string, args ...any) {
		fmt.Fprintf(w, "| %s | "+format+" |\n", append([]any{name}, args...)...)
	}
	percent := func(n, of int) float64 { return 100 * float64(n) / float64(max(1, of)) }
	fmt.Fprintln(w, "| measure | figure |\n|---|---:|")
	row("lines", "%d", f.lines)
	row("lines of code, neither comment nor blank", "%d", f.codeLines)
	row("of these in packages that the binary, the API or the examples use", "%d", f.reachedLines)
	row("functions", "%d", len(f.functions))
	for _, limit := range []int{70, 50} {
		row(fmt.Sprintf("functions over %d lines", limit), "%.2f %%",
			percent(f.over(limit), len(f.functions)))
	}
	row("median / p99 / longest function", "%d / %d / %d", f.quantile(0.5), f.quantile(0.99),
		f.quantile(1))
	row("files over 800 / 500 lines", "%d / %d", f.filesOver800, f.filesOver500)
	row("nesting of 5 and more", "%d", len(f.findings["nesting of 5 and more"]))
	row("cyclomatic complexity over 15", "%.1f %%",
		percent(len(f.findings["cyclomatic over 15"]), len(f.functions)))
	row("more than 5 parameters", "%d", len(f.findings["more than 5 parameters"]))
	row("share of comment lines", "%.1f %%", percent(f.commentLines, f.lines))
	row("share of blank lines", "%.1f %%", percent(f.blankLines, f.lines))
	row("lines over 100 columns", "%d", f.wideLines)
	row("exported names per 1,000 lines", "%.0f", 1000*float64(f.exported)/float64(f.lines))
	for _, name := range f.largestReceivers(6) {
		row("methods of "+name, "%d", f.methods[name])
	}
	slices.SortFunc(f.references,
		func(a, b packageReferences) int { return cmp.Compare(b.back, a.back) })
	for _, r := range f.references {
		if r.back >= 10 || r.name == "txn" || r.name == "sql" {
			row("references that run back in "+r.name, "%d of %d (%.0f %%)", r.back, r.all,
				percent(r.back, r.all))
		}
	}
}

func (f *figures) over(lines int) (n int) {
	for _, fn := range f.functions {
		n += one(fn.lines > lines)
	}
	return n
}

// quantile is the length of function that the share q of all does not exceed.
func (f *figures) quantile(q float64) int {
	slices.SortFunc(f.functions, func(a, b function) int { return cmp.Compare(a.lines, b.lines) })
	return f.functions[int(q*float64(len(f.functions)-1))].lines
}

func (f *figures) largestReceivers(n int) []string {
	names := slices.SortedFunc(maps.Keys(f.methods), func(a, b string) int {
		return cmp.Or(cmp.Compare(f.methods[b], f.methods[a]), cmp.Compare(a, b))
	})
	return names[:min(n, len(names))]
}

func (f *figures) printFindings(w io.Writer) {
	for _, limit := range slices.Sorted(maps.Keys(f.findings)) {
		fmt.Fprintf(w, "%s: %d\n", limit, len(f.findings[limit]))
		for _, line := range f.findings[limit] {
			fmt.Fprintln(w, "\t"+line)
		}
	}
}
