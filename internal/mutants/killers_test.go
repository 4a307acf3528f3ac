package mutants

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

// triesMax is how often a killer may be run with its mutant: one whose schedules are random may not
// meet the mutant, or may stop at a history that is wrong in another way first.
const triesMax = 16

// TestMutants runs the killers of all mutants, if MINIDB_MUTANTS is set.
func TestMutants(t *testing.T) {
	if os.Getenv("MINIDB_MUTANTS") == "" {
		t.Skip("MINIDB_MUTANTS is not set")
	}
	all, err := Load(root)
	require.NoError(t, err)
	overlay, errs := NewOverlay(root, all)
	require.Empty(t, errs)
	description, err := overlay.Write(t.TempDir())
	require.NoError(t, err)
	binaries := map[string]*binary{}
	for _, m := range all {
		for _, k := range m.Killers {
			if binaries[k.Package] == nil {
				binaries[k.Package] = &binary{pkg: k.Package, overlay: description,
					dir: t.TempDir()}
			}
			b := binaries[k.Package]
			b.tests = append(b.tests, k.Test)
		}
	}
	for _, m := range all {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			for _, k := range m.Killers {
				b := binaries[k.Package]
				b.prepare(t)
				require.True(t, b.built, "the tests of %s were not built", k.Package)
				require.Contains(t, b.passed, "--- PASS: "+k.Test+" (", "%s, without a mutant",
					k.Package)
				b.kill(t, m, k)
			}
		})
	}
	t.Logf("%d mutants", len(all))
}

// binary is the tests of one package, built with all mutants.
type binary struct {
	pkg, overlay, dir string
	tests             []string // that kill something

	once   sync.Once
	built  bool
	passed string // what they print without a mutant
}

// prepare builds the binary and runs its killers without a mutant, once.
func (b *binary) prepare(t *testing.T) {
	b.once.Do(func() {
		build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", b.overlay, "-o", b.path(),
			"./"+b.pkg)
		build.Dir = root
		out, err := build.CombinedOutput()
		require.NoError(t, err, "%s", out)
		b.built = true
		b.passed = b.run(patterns(b.tests), "MINIDB_MUTANT=")
	})
}

func (b *binary) path() string { return filepath.Join(b.dir, "mutated.test") }

// run runs tests of the binary and returns what they print.
func (b *binary) run(pattern string, env ...string) string {
	cmd := exec.Command(b.path(), "-test.v", "-test.timeout=5m", "-test.run", pattern)
	cmd.Dir = filepath.Join(root, b.pkg)
	cmd.Env = append(os.Environ(), env...)
	out, _ := cmd.CombinedOutput() // a failure is printed
	return string(out)
}

// patterns returns the pattern of -run that matches these tests and no others.
func patterns(tests []string) string {
	var alternatives []string
	for _, test := range tests {
		elements := strings.Split(test, "/")
		for i, e := range elements {
			elements[i] = "^" + regexp.QuoteMeta(e) + "$"
		}
		alternatives = append(alternatives, strings.Join(elements, "/"))
	}
	return strings.Join(alternatives, "|")
}

// kill expects the test to fail with the mutant, and to say what it should.
func (b *binary) kill(t *testing.T, m *Mutant, k Killer) {
	var out string
	for range triesMax {
		out = b.run(patterns([]string{k.Test}), append(k.Env, "MINIDB_MUTANT="+m.Name)...)
		failed := strings.Contains(out, "--- FAIL: "+k.Test+" (")
		if failed && (k.Says == nil || k.Says.MatchString(out)) {
			t.Logf("%s %s:\n%s", k.Package, k.Test, out)
			return
		}
	}
	t.Errorf("%s\n%s %s did not fail as it should:\n%s", m.Does, k.Package, k.Test, out)
}
