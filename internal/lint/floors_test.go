package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/minidb/minidb"

// floors lists the house from the cellar up: a package may import packages of its own floor and of
// those before it. The longest matching prefix decides; "." is the root package.
var floors = []struct {
	name     string
	prefixes []string
}{
	{"foundation", []string{"internal/invariant", "internal/sqlerr", "internal/planted"}},
	{"kv", []string{"kv"}},
	{"txn", []string{"txn"}},
	{"table", []string{"table"}},
	{"planner", []string{"planner"}},
	{"sql", []string{"sql"}},
	{"root", []string{"."}},
	{"tools", []string{"internal", "examples"}},
	{"cmd", []string{"cmd", "tests"}},
}

// addresses lists the one place where each foreign library may be imported, tests aside.
var addresses = map[string][]string{
	"github.com/cockroachdb/pebble":     {"kv/pebblekv", "internal/bench"}, // bench: the raw side of its ratios
	"github.com/jackc/pgproto3":         {"sql/pgwire"},
	"github.com/pingcap/tidb":           {"sql/parse"},
	"github.com/jackc/pgx":              {"internal/pgtest", "internal/shell", "internal/sqllogic", "cmd/minidb", "examples"},
	"modernc.org/sqlite":                {"internal/bench"},
	"github.com/stretchr/testify":       {"kv/kvtest"},
	"github.com/lib/pq":                 nil,
	"github.com/cockroachdb/datadriven": nil,
	"go.uber.org/goleak":                nil,
}

// noSQL are the floors that know no SQLSTATE.
var noSQL = []string{"kv", "txn"}

type pkg struct {
	ImportPath string
	Dir        string
	Doc        string
	GoFiles    []string
	Imports    []string
}

func (p *pkg) rel() string {
	if p.ImportPath == module {
		return "."
	}
	return strings.TrimPrefix(p.ImportPath, module+"/")
}

func packages(t *testing.T) []*pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Doc,GoFiles,Imports", module+"/...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	var all []*pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(pkg)
		if err := dec.Decode(p); errors.Is(err, io.EOF) {
			return all
		} else {
			require.NoError(t, err)
		}
		all = append(all, p)
	}
}

// floorOf returns the index into floors, or -1.
func floorOf(rel string) int {
	best, length := -1, -1
	for i, f := range floors {
		for _, prefix := range f.prefixes {
			if (rel == prefix || strings.HasPrefix(rel, prefix+"/")) && len(prefix) > length {
				best, length = i, len(prefix)
			}
		}
	}
	return best
}

func under(rel string, prefixes []string) bool {
	for _, p := range prefixes {
		if rel == p || strings.HasPrefix(rel, p+"/") {
			return true
		}
	}
	return false
}

func TestImportsGoDownOnly(t *testing.T) {
	for _, p := range packages(t) {
		rel, from := p.rel(), floorOf(p.rel())
		if !under(rel, []string{"internal/lint"}) && from < 0 {
			t.Errorf("%s stands on no floor: add it to the list", rel)
			continue
		}
		for _, imp := range p.Imports {
			if imp != module && !strings.HasPrefix(imp, module+"/") {
				continue
			}
			target := (&pkg{ImportPath: imp}).rel()
			if to := floorOf(target); to > from {
				t.Errorf("%s (%s) imports %s (%s), which is above it", rel, floors[from].name, target, floors[to].name)
			}
			if target == "internal/sqlerr" && under(rel, noSQL) {
				t.Errorf("%s imports internal/sqlerr: kv and txn know no SQLSTATE", rel)
			}
		}
	}
}

func TestForeignLibrariesHaveOneAddress(t *testing.T) {
	for _, p := range packages(t) {
		for _, imp := range p.Imports {
			for lib, places := range addresses {
				if strings.HasPrefix(imp, lib) && !under(p.rel(), places) {
					t.Errorf("%s imports %s, whose only places are %v", p.rel(), imp, places)
				}
			}
		}
	}
}

func TestPackagesIntroduceThemselves(t *testing.T) {
	for _, p := range packages(t) {
		if len(p.GoFiles) > 0 && p.Doc == "" {
			t.Errorf("%s has no package comment", p.rel())
		}
		for _, word := range []string{"util", "utils", "common", "helpers", "misc"} {
			if base := filepath.Base(p.ImportPath); base == word {
				t.Errorf("%s: a package owns a noun, and %q is none", p.rel(), word)
			}
			for _, f := range p.GoFiles {
				if strings.TrimSuffix(f, ".go") == word {
					t.Errorf("%s/%s: a file is named for its noun or its step", p.rel(), f)
				}
			}
		}
	}
}

func TestFilesStayBelow800Lines(t *testing.T) {
	for _, p := range packages(t) {
		for _, f := range p.GoFiles {
			data, err := os.ReadFile(filepath.Join(p.Dir, f))
			require.NoError(t, err)
			if n := bytes.Count(data, []byte{'\n'}); n > 800 {
				t.Errorf("%s/%s has %d lines: look for its second idea", p.rel(), f, n)
			}
		}
	}
}
