package mutants

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// Mutant is one change of the product that tests must notice.
type Mutant struct {
	// the package's directory and the file's name, as in "txn/mvcc/skipped_conflict_check"
	Name    string
	Does    string // what the mutated code does
	Breaks  string // the invariants and clauses of papers that no longer hold
	Imports []string
	Killers []Killer
	Hunks   []Hunk
}

// Killer is a test that fails with the mutant and passes without.
type Killer struct {
	Package string         // its directory, from the module's root
	Test    string         // full name, subtests included, as `go test -v` prints it
	Env     []string       // NAME=value, for the runs with the mutant
	Says    *regexp.Regexp // what the failing test must print, or nil
}

// Hunk replaces one text in the body of one function.
type Hunk struct {
	Dir      string // the package's directory, from the module's root
	Function string // "function" or "type.method"
	Old, New string // whole lines
}

// Load reads the mutants of all packages of the module in root.
func Load(root string) (all []*Mutant, err error) {
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".git"):
			return filepath.SkipDir
		case filepath.Base(filepath.Dir(file)) != "mutants" || filepath.Ext(file) != ".patch":
			return nil
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		dir, base := path.Split(filepath.ToSlash(rel))
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		m, err := parse(string(text))
		if err != nil {
			return fmt.Errorf("%s: %w", rel, err)
		}
		m.Name = path.Join(strings.TrimSuffix(dir, "testdata/mutants/"),
			strings.TrimSuffix(base, ".patch"))
		all = append(all, m)
		return nil
	})
	return all, err
}

// parse reads the text of one mutant, all but its name.
func parse(text string) (*Mutant, error) {
	m := new(Mutant)
	inHunk := false
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		var err error
		switch {
		case strings.HasPrefix(line, "@@ "):
			inHunk = true
			err = m.beginHunk(strings.TrimPrefix(line, "@@ "))
		case line == "" && strings.HasPrefix(lines[i+1], "@@ "): // the last line is not empty
		case inHunk:
			err = m.Hunks[len(m.Hunks)-1].addLine(line)
		case line != "":
			err = m.addHeader(line)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	if m.Does == "" || m.Breaks == "" || len(m.Killers) == 0 || len(m.Hunks) == 0 {
		return nil, fmt.Errorf("does, breaks, a killer and a hunk are needed")
	}
	return m, nil
}

// addHeader reads a line "key: value".
func (m *Mutant) addHeader(line string) error {
	key, value, found := strings.Cut(line, ":")
	value = strings.TrimSpace(value)
	switch {
	case !found || value == "":
		return fmt.Errorf("%q is not \"key: value\"", line)
	case key == "does":
		m.Does = value
	case key == "breaks":
		m.Breaks = value
	case key == "import":
		m.Imports = append(m.Imports, value)
	case key == "killer":
		return m.addKiller(value)
	default:
		return fmt.Errorf("unknown key %q", key)
	}
	return nil
}

// addKiller reads "package test [NAME=value]… [says regexp]".
func (m *Mutant) addKiller(value string) (err error) {
	value, says, _ := strings.Cut(value, " says ")
	fields := strings.Fields(value)
	if len(fields) < 2 {
		return fmt.Errorf("a killer is a package and a test")
	}
	k := Killer{Package: fields[0], Test: fields[1], Env: fields[2:]}
	for _, v := range k.Env {
		if !strings.Contains(v, "=") {
			return fmt.Errorf("%q is not NAME=value", v)
		}
	}
	if says != "" {
		k.Says, err = regexp.Compile(says)
	}
	m.Killers = append(m.Killers, k)
	return err
}

// beginHunk reads "package.function" or "package.type.method". The package of the module's root is
// written "./minidb".
func (m *Mutant) beginHunk(target string) error {
	dir, base := path.Split(target)
	name, function, found := strings.Cut(base, ".")
	if !found {
		return fmt.Errorf("%q is not package.function", target)
	}
	if dir == "./" {
		dir, name = "", "."
	}
	m.Hunks = append(m.Hunks, Hunk{Dir: dir + name, Function: function})
	return nil
}

// addLine reads one line of the hunk. An empty line is an empty line of the function.
func (h *Hunk) addLine(line string) error {
	if line == "" {
		line = " "
	}
	switch rest := line[1:] + "\n"; line[0] {
	case ' ':
		h.Old += rest
		h.New += rest
	case '-':
		h.Old += rest
	case '+':
		h.New += rest
	default:
		return fmt.Errorf("%q begins with neither a blank, \"-\" nor \"+\"", line)
	}
	return nil
}
