package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/minidb/minidb"

// layers lists the layers from the lowest up: a package may import packages of its own layer and of
// those before it. The longest matching prefix decides; "." is the root package.
var layers = []struct {
	name     string
	prefixes []string
}{
	{"foundation", []string{"internal/lru", "internal/failure", "internal/sqlerr",
		"internal/sqlname", "internal/memory", "internal/scram", "internal/are",
		"internal/scratch"}},
	{"kv", []string{"kv"}},
	{"txn", []string{"txn"}},
	{"table", []string{"table"}},
	{"planner", []string{"planner"}},
	{"sql", []string{"sql"}},
	{"metrics", []string{"metrics"}},
	{"root", []string{"."}},
	{"recipes", []string{"recipes"}},
	{"tools", []string{"internal", "examples"}},
	{"cmd", []string{"cmd", "tests"}},
}

// libraryImporters lists the packages that may import each foreign library, tests aside. ADR 3 says
// what each is for.
var libraryImporters = map[string][]string{
	// bench: the raw side of its ratios
	"github.com/cockroachdb/pebble": {"kv/pebblekv", "internal/bench"},
	"github.com/jackc/pgproto3":     {"sql/pgwire"},
	"github.com/KimMachineGun":      {"internal/memory"},
	"github.com/prometheus":         {"metrics"},
	"github.com/pingcap/tidb":       {"sql/parse"},
	"github.com/jackc/pgx": {"internal/pgtest", "internal/shell", "internal/sqllogic",
		"internal/bench/compare", "cmd/minidb", "examples"},
	"golang.org/x/crypto":               {"planner/pgcrypto"}, // Blowfish and CAST5
	"golang.org/x/net":                  {"examples"},
	"golang.org/x/text":                 {"internal/scram", "planner/builtin"},
	"github.com/cockroachdb/apd":        {"table", "planner/builtin", "sql/exec"},
	"github.com/tidwall/btree":          {"kv", "txn"},
	"github.com/peterh/liner":           {"internal/shell"},
	"github.com/mattn/go-runewidth":     {"internal/shell"},
	"github.com/mattn/go-isatty":        {"cmd/minidb"},
	"modernc.org/sqlite":                {"internal/bench"},
	"github.com/klauspost/compress":     {"txn/backup"},
	"filippo.io/age":                    {"txn/backup"},
	"golang.org/x/time":                 {"txn/backup"},
	"github.com/stretchr/testify":       {"kv/kvtest", "txn/txntest"},
	"github.com/lib/pq":                 nil,
	"github.com/cockroachdb/datadriven": nil,
	"go.uber.org/goleak":                nil,
}

// allowedImports lists packages that may import only these of the module's own packages, themselves
// aside: what makes a phase a function, a node data and a step pure is what it cannot reach.
var allowedImports = map[string][]string{
	"kv": {},
	// the protocol's steps: an engine's rows and timestamps, and the modes of row locks
	"txn/mvcc":          {"kv", "txn/tso", "txn/rowlock"},
	"txn/mvcc/mvcctest": {"kv", "txn/mvcc", "txn/tso", "txn/rowlock"},
	"txn/rowlock":       {}, // memory, whatever the store is
	"txn/tso/elected":   {"kv", "txn/tso", "txn/wait"},
	"txn/wait":          {"txn/mvcc", "txn/rowlock", "txn/tso"},
	"txn/lease":         {"kv", "txn/mvcc", "txn/tso"},
	"txn/hints":         {"kv", "txn/mvcc", "txn/tso", "txn/gc"}, // the memory of one process
	"txn/resolve":       {"kv", "txn/mvcc", "txn/tso", "txn/hints"},
	"txn/secondaries":   {"kv", "txn/mvcc", "txn/tso", "txn/hints"},
	// the door: not txn
	"txn/shared": {"kv", "txn/mvcc", "txn/tso", "txn/rowlock", "txn/lease", "txn/wait", "txn/gc"},
	"txn/buffer": {"kv", "txn/mvcc", "txn/tso"}, // memory, whatever the store is
	// the coordinator, which knows no Txn
	"txn/commit": {"kv", "txn/mvcc", "txn/tso", "txn/hints", "txn/gc", "txn/resolve", "txn/rowlock",
		"txn/secondaries", "txn/shared", "txn/ssi", "txn/wait", "txn/lockwait"},
	"txn/lockwait": {"txn/mvcc", "txn/tso", "txn/rowlock", "txn/wait", "txn/shared"},
	"table/types": {"internal/sqlerr", "internal/sqlname", "internal/are", "table/extension",
		"table/geometry", "table/xml"},
	"table/geometry":   {"internal/sqlerr"},
	"table/xml":        {"internal/sqlerr"},
	"table/extension":  {},
	"table/trigram":    {},
	"table/acl":        {"internal/sqlerr"},
	"table/codec":      {"kv", "table/types", "internal/sqlerr"},
	"table/colfmt":     {"table/types"},
	"internal/scratch": {},
	// plans from schema and statistics, no store
	"planner": {"planner", "table", "internal/are", "internal/lru", "internal/failure",
		"internal/sqlerr", "internal/sqlname", "internal/memory"},
	"planner/ast":      {},
	"planner/expr":     {"table/types"},
	"planner/opt":      {"planner/ast", "planner/expr", "table"},
	"planner/physical": {"planner/expr", "planner/opt", "table"},
	"planner/logical":  {"planner/expr", "planner/opt", "table", "internal/memory"},
	// the planner's phases: none names another, but that all may estimate
	"planner/bind": {"planner/ast", "planner/builtin", "planner/expr", "planner/logical",
		"planner/opt", "table", "internal/failure", "internal/sqlerr"},
	"planner/estimate": {"planner/builtin", "planner/eval", "planner/expr", "planner/logical",
		"planner/opt", "table"},
	"planner/rule": {"planner/estimate", "planner/eval", "planner/expr", "planner/logical",
		"planner/opt", "table"},
	"planner/choose": {"planner/estimate", "planner/builtin", "planner/expr", "planner/logical",
		"planner/opt", "planner/physical",
		"table", "internal/sqlerr"},
	"sql/parse":      {"planner/ast", "internal/sqlerr", "internal/sqlname", "internal/memory"},
	"sql/settings":   {"table/types", "internal/sqlerr", "internal/sqlname"},
	"sql/exec/spill": {"table/types", "table/colfmt", "internal/scratch", "internal/sqlerr"},
	"sql/exec": {"sql/exec/spill", "planner/physical", "planner/opt", "planner/expr",
		"planner/eval", "planner/builtin", "table", "txn", "kv", "internal"},
}

// engines may be named only where a store is opened; all other packages use kv.Engine.
var (
	engines       = []string{"kv/pebblekv", "kv/memkv", "kv/kvtest", "kv/record", "kv/paged"}
	engineOpeners = []string{".", "kv", "cmd", "internal/bench", "tests", "txn/txntest"}
)

// raisers are the packages whose errors travel as panics: each catches at its exported functions.
var raisers = []string{"planner/bind", "sql/plpgsql"}

// noSQL are the layers whose errors carry no SQLSTATE.
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

// layerOf returns the index into layers, or -1.
func layerOf(rel string) int {
	best, length := -1, -1
	for i, f := range layers {
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
		rel, from := p.rel(), layerOf(p.rel())
		if !under(rel, []string{"internal/lint"}) && from < 0 {
			t.Errorf("%s is in no layer: add it to the list", rel)
			continue
		}
		for _, imp := range p.Imports {
			if imp != module && !strings.HasPrefix(imp, module+"/") {
				continue
			}
			target := (&pkg{ImportPath: imp}).rel()
			if to := layerOf(target); to > from {
				t.Errorf("%s (%s) imports %s (%s), which is above it", rel, layers[from].name,
					target, layers[to].name)
			}
			if target == "internal/sqlerr" && under(rel, noSQL) {
				t.Errorf("%s imports internal/sqlerr: errors of kv and txn carry no SQLSTATE", rel)
			}
			if target == "internal/failure" && !slices.Contains(raisers, rel) {
				t.Errorf("%s imports internal/failure: it returns its errors", rel)
			}
		}
	}
}

// TestListedPackagesExist: a rule about a package that does not exist protects nothing.
func TestListedPackagesExist(t *testing.T) {
	known := map[string]bool{}
	for _, p := range packages(t) {
		for rel := p.rel(); rel != "."; rel = filepath.Dir(rel) {
			known[rel] = true
		}
	}
	known["."] = true
	listed := slices.Concat(slices.Collect(maps.Keys(allowedImports)), engines, engineOpeners,
		noSQL)
	for _, f := range layers {
		listed = append(listed, f.prefixes...)
	}
	for _, places := range libraryImporters {
		listed = append(listed, places...)
	}
	for _, targets := range allowedImports {
		listed = append(listed, targets...)
	}
	for _, rel := range listed {
		if !known[rel] {
			t.Errorf("the lists name %s, which does not exist", rel)
		}
	}
}

func TestPackagesImportOnlyWhatIsAllowed(t *testing.T) {
	for _, p := range packages(t) {
		rel := p.rel()
		listed, length := "", -1
		for name := range allowedImports {
			if under(rel, []string{name}) && len(name) > length && !under(rel, engines) {
				listed, length = name, len(name)
			}
		}
		for _, imp := range p.Imports {
			target := (&pkg{ImportPath: imp}).rel()
			if target == imp {
				continue // not the module's own
			}
			if listed != "" && !under(target, append(allowedImports[listed], rel)) {
				t.Errorf("%s imports %s; it may import %v", rel, target, allowedImports[listed])
			}
			if under(target, engines) && !under(rel, engineOpeners) && rel != "." {
				t.Errorf("%s imports %s: engines are named where a store is opened, %v", rel,
					target, engineOpeners)
			}
		}
	}
}

// TestForeignLibrariesAreListed: each module that go.mod requires for the project's own imports has
// its importers above.
func TestForeignLibrariesAreListed(t *testing.T) {
	required := regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllStringSubmatch(
		document(t, "go.mod"), -1)
	require.NotEmpty(t, required)
	for _, m := range required {
		listed := false
		for lib := range libraryImporters {
			listed = listed || strings.HasPrefix(m[1], lib)
		}
		if !listed {
			t.Errorf("go.mod requires %s, which libraryImporters does not list", m[1])
		}
	}
}

func TestForeignLibrariesHaveFewImporters(t *testing.T) {
	for _, p := range packages(t) {
		for _, imp := range p.Imports {
			for lib, places := range libraryImporters {
				if strings.HasPrefix(imp, lib) && !under(p.rel(), places) {
					t.Errorf("%s imports %s, which only %v may import", p.rel(), imp, places)
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
