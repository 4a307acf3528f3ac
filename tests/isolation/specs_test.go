package isolation

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// without lists the specs that are left out, with the reason. A change that brings a feature takes
// its specs off the list.
var without = map[string]string{
	"deadlock-parallel":           "CREATE FUNCTION",
	"insert-conflict-do-update-2": "indexes on expressions",
}

// million is the spec whose table has a million rows. It runs on disk, where the rows take no
// memory for long, and once: its sessions name their level, SERIALIZABLE, so the default is none of
// its concern.
const million = "multiple-row-versions"

// needs finds features in the text of specs that are not in the list; comments apart.
var needs = []string{"trigger", "plpgsql", "partition"}

var comments = regexp.MustCompile(`(?m)#.*$`)

// PostgreSQL's own specs, with the expected output that comes with them. Where they leave the level
// to the default, the outcome is the same at all. In PostgreSQL it is not for tuplelock-update:
// above READ COMMITTED its statements fail, and so they do here at SERIALIZABLE; at REPEATABLE READ
// minidb runs a statement again that is not in a block.
func TestPostgresSpecs(t *testing.T) {
	const dir = "../../../shared/suites/pgisolation"
	if len(specs(t, dir)) == 0 {
		t.Skip("PostgreSQL's specs are not beside the repository: ../shared/suites/pgisolation")
	}
	for _, level := range []string{"read committed", "repeatable read", "serializable"} {
		t.Run(level, func(t *testing.T) { runSpecs(t, dir, level) })
	}
}

// Specs for what PostgreSQL's do not look at. The expected output is what isolationtester makes of
// them on PostgreSQL 15.
func TestOwnSpecs(t *testing.T) {
	require.NotEmpty(t, specs(t, "testdata"))
	runSpecs(t, "testdata", "read committed")
}

func specs(t *testing.T, dir string) []string {
	files, err := filepath.Glob(filepath.Join(dir, "specs", "*.spec"))
	require.NoError(t, err)
	return files
}

func runSpecs(t *testing.T, suite, level string) {
	for _, f := range specs(t, suite) {
		name := strings.TrimSuffix(filepath.Base(f), ".spec")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(f)
			require.NoError(t, err)
			if why := without[name]; why != "" {
				t.Skip(why)
			}
			if name == "tuplelock-update" && level == "serializable" {
				t.Skip("its statements fail at SERIALIZABLE, as they do in PostgreSQL")
			}
			onDisk := name == million
			if onDisk && (testing.Short() || level != "read committed") {
				t.Skip("a million rows, once and not with -short")
			}
			for _, n := range needs {
				if strings.Contains(strings.ToLower(comments.ReplaceAllString(string(text), "")),
					n) {
					t.Skip(n)
				}
			}
			s, err := parseSpec(string(text))
			require.NoError(t, err)
			want := expectations(t, suite, name)
			dir := ""
			if onDisk {
				dir = t.TempDir()
			}
			// of its own: a session's advisory locks end some time after its connection
			cfg := serve(t, dir)
			cfg.RuntimeParams["default_transaction_isolation"] = level
			r := &tester{spec: s, control: dial(t, cfg)}
			defer r.control.close()
			for range s.sessions {
				c := dial(t, cfg)
				defer c.close()
				r.clients = append(r.clients, c)
			}
			for i, p := range s.permutations {
				compare(t, name, i, want, lines(r.permutation(p)))
			}
		})
	}
}

// compare wants the output of permutation i to be one of those that PostgreSQL may give.
func compare(t *testing.T, name string, i int, want [][]string, got string) {
	t.Helper()
	for _, w := range want {
		require.Greater(t, len(w), i, "the expected file has fewer permutations")
		if w[i] == got {
			return
		}
	}
	require.Equal(t, want[0][i], got, "permutation %d", i+1)
}

// expectations reads the expected files, of which there may be several, cut by permutation.
func expectations(t *testing.T, dir, name string) (out [][]string) {
	t.Helper()
	files := []string{filepath.Join(dir, "expected", name+".out")}
	variants, err := filepath.Glob(filepath.Join(dir, "expected", name+"_[0-9].out"))
	require.NoError(t, err)
	for _, f := range append(files, variants...) {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		parts := strings.Split("\n"+string(text), "\nstarting permutation:")[1:]
		for i, p := range parts {
			_, p, _ = strings.Cut(p, "\n")
			parts[i] = lines(p)
		}
		out = append(out, parts)
	}
	return out
}

// lines drops blank lines and the blanks at line ends.
func lines(s string) string {
	var out []string
	for _, l := range strings.Split(s, "\n") {
		if l = strings.TrimRight(l, " \t\r"); l != "" {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}
