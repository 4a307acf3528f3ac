package mutants

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Overlay holds changed and added files of the module, as `go test -overlay` takes them.
type Overlay struct {
	root     string
	packages map[string]*source // by directory
	files    map[string]string  // path → text
}

// NewOverlay applies all mutants to the module in root, in memory. The errors name each mutant that
// does not apply.
func NewOverlay(root string, all []*Mutant) (*Overlay, []error) {
	o := &Overlay{root: root, packages: map[string]*source{}, files: map[string]string{}}
	var errs []error
	for i, m := range all {
		if err := o.apply(m, i+1); err != nil {
			errs = append(errs, fmt.Errorf("mutant %s: %w", m.Name, err))
		}
	}
	for dir, p := range o.packages {
		p.finish(o.files)
		o.files[path.Join(dir, "chosen_mutant.go")] = chosen(p.name, all)
	}
	return o, errs
}

// chosen is the file that holds the variable.
func chosen(pkg string, all []*Mutant) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\nimport \"os\"\n\nvar chosenMutant = map[string]int{\n", pkg)
	for i, m := range all {
		fmt.Fprintf(&b, "\t%q: %d,\n", m.Name, i+1)
	}
	b.WriteString("}[os.Getenv(\"MINIDB_MUTANT\")]\n")
	return b.String()
}

// apply adds the copies of the functions that mutant number n changes.
func (o *Overlay) apply(m *Mutant, n int) error {
	type target struct{ dir, function string }
	bodies := map[target]string{}
	var order []target // of the file, so that the build cache recognises it
	for _, h := range m.Hunks {
		p, err := o.read(h.Dir)
		if err != nil {
			return err
		}
		f := p.functions[h.Function]
		if f == nil {
			return fmt.Errorf("package %s has no function %s", h.Dir, h.Function)
		}
		at := target{h.Dir, h.Function}
		body, begun := bodies[at]
		if !begun {
			body = f.body()
			order = append(order, at)
		}
		if bodies[at], err = h.replaceIn(body); err != nil {
			return err
		}
		f.file.needImports(m.Imports, h.New)
	}
	origin, err := filepath.Abs(filepath.Join(o.root, m.Name+".mutant"))
	if err != nil {
		return err
	}
	for _, at := range order {
		o.packages[at.dir].functions[at.function].addCopy(n, origin, bodies[at])
	}
	return nil
}

// replaceIn returns the body with the old lines replaced by the new ones.
func (h *Hunk) replaceIn(body string) (string, error) {
	switch n := strings.Count("\n"+body, "\n"+h.Old); {
	case h.Old == "":
		return "", fmt.Errorf("%s: the hunk has no old line", h.Function)
	case h.Old == h.New:
		return "", fmt.Errorf("%s: the hunk changes nothing", h.Function)
	case n != 1:
		return "", fmt.Errorf("%s has the old lines %d times, and must have them once:\n%s",
			h.Function, n, h.Old)
	}
	return strings.Replace("\n"+body, "\n"+h.Old, "\n"+h.New, 1)[1:], nil
}

// read parses the package in the directory, once.
func (o *Overlay) read(dir string) (*source, error) {
	if p := o.packages[dir]; p != nil {
		return p, nil
	}
	p, err := parsePackage(o.root, dir)
	if err == nil {
		o.packages[dir] = p
	}
	return p, err
}

// Write writes the files into dir and returns the path of the overlay's description.
func (o *Overlay) Write(dir string) (description string, err error) {
	replace := map[string]string{}
	for file, text := range o.files {
		to := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			return "", err
		}
		from, err := filepath.Abs(filepath.Join(o.root, file))
		if err != nil {
			return "", err
		}
		replace[from] = to
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	description = filepath.Join(dir, "overlay.json")
	return description, os.WriteFile(description, text, 0o600)
}
