package txn_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// clause is one clause of the checklist: what the protocol promises, under which invariant,
// and a check of the smallest scene in which it shows. The checks are
// deterministic. Each must find nothing, and must find something in each mutant that names it as its
// killer (testdata/mutants, package mutants).
//
// The lines are those of doc_checklist.go: P1 to P16 for what the paper leaves out, § for the paper's
// own sections, T for what TiKV added, I for further invariants.
type clause struct {
	line, says string
	check      func(sc *scene)
}

// checklist is all of them.
func checklist() (all []clause) {
	for _, part := range [][]clause{
		paperClauses, prewriteClauses, absenceClauses, livenessClauses, asyncClauses, onePhaseClauses, kindClauses,
		rowLockClauses, streamedLockClauses, rowRecordClauses, sharedWaitClauses, collectionClauses, ownerClauses, addedClauses,
		knownClauses, streamFateClauses, savepointClauses, doubtClauses, validationClauses,
	} {
		all = append(all, part...)
	}
	return all
}

// name is the name of the function that checks the clause.
func (c *clause) name() string {
	name := runtime.FuncForPC(reflect.ValueOf(c.check).Pointer()).Name()
	return name[strings.LastIndexByte(name, '.')+1:]
}

// TestChecklist runs each check once, by its name, though it may check several clauses.
func TestChecklist(t *testing.T) {
	lines, ran := map[string]bool{}, map[string]bool{}
	for _, c := range checklist() {
		lines[regexp.MustCompile(`^[PT]\d+`).FindString(c.line)] = true
		if !ran[c.name()] {
			ran[c.name()] = true
			t.Run(c.name(), func(t *testing.T) { require.NoError(t, prove(c.check), c.says) })
		}
	}
	for _, line := range []string{
		"P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10", "P11", "P12", "P14", "P15", "P16",
		"P13", "T1", "T2", "T3", "T4", "T5", "T6",
	} {
		require.True(t, lines[line], "nothing checks line %s", line)
	}
}

// TestTheChecklistIsDocumented: doc_checklist.go names each check of its lines.
func TestTheChecklistIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("doc_checklist.go")
	require.NoError(t, err)
	for _, c := range checklist() {
		if c.line[0] != 'I' {
			require.Contains(t, string(doc), c.name(), c.says)
		}
	}
}

// TestEveryClauseHasAMutant: each check is the killer of a mutant, here or in a package below.
func TestEveryClauseHasAMutant(t *testing.T) {
	var mutants strings.Builder
	for _, pattern := range []string{"testdata/mutants/*.patch", "*/testdata/mutants/*.patch"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, name := range files {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			mutants.Write(text)
		}
	}
	for _, c := range checklist() {
		require.Contains(t, mutants.String(), "killer: txn TestChecklist/"+c.name()+"\n", c.says)
	}
}

// TestEveryCitedInvariantIsDefined: doc.go defines each of txn's invariants that a comment anywhere or a line
// of the checklist cites.
func TestEveryCitedInvariantIsDefined(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	cited := map[string]string{} // invariant → who cites it
	for _, c := range checklist() {
		for _, i := range regexp.MustCompile(`I\d+`).FindAllString(c.line, -1) {
			cited[i] = "the checklist: " + c.says
		}
	}
	comment := regexp.MustCompile(`txn: (I\d+(?:, I\d+)*)`)
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range comment.FindAllSubmatch(text, -1) {
			for _, i := range regexp.MustCompile(`I\d+`).FindAllString(string(m[1]), -1) {
				cited[i] = path
			}
		}
		return err
	})
	require.NoError(t, err)
	require.Greater(t, len(cited), 20)
	for i, where := range cited {
		require.True(t, strings.Contains(string(doc), "\n//   - "+i+" ("), "%s, cited by %s", i, where)
	}
}
