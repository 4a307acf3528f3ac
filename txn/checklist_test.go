package txn_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// clause is one clause of the checklist (docs/percolator.md): what the protocol promises, under
// which invariant, and a check of the smallest scene in which it shows. The checks are
// deterministic. Each must find nothing, and must find something in each mutant that names it as
// its killer (testdata/mutants, package mutants).
type clause struct {
	line, says string
	check      func(sc *scene)
}

// checklist is all of them.
func checklist() (all []clause) {
	for _, part := range [][]clause{
		paperClauses, prewriteClauses, absenceClauses, livenessClauses, asyncClauses,
		onePhaseClauses, kindClauses,
		rowLockClauses, streamedLockClauses, rowRecordClauses, sharedWaitClauses, collectionClauses,
		ownerClauses, addedClauses,
		knownClauses, streamFateClauses, savepointClauses, companionClauses, doubtClauses,
		validationClauses, rowCacheClauses,
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
		"P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10", "P11", "P12", "P14", "P15",
		"P16",
		"P13", "T1", "T2", "T3", "T4", "T5", "T6",
	} {
		require.True(t, lines[line], "nothing checks line %s", line)
	}
}

// checklistPage has a row for each clause. With -rewrite TestTheChecklistIsDocumented makes them
// anew.
const checklistPage = "../docs/percolator.md"

// TestTheChecklistIsDocumented: the page's table is that of the checks.
func TestTheChecklistIsDocumented(t *testing.T) {
	page, err := os.ReadFile(checklistPage)
	require.NoError(t, err)
	prose, _, _ := strings.Cut(string(page), "|")
	want := prose + "| line | clause | invariant | test |\n|---|---|---|---|\n"
	for _, c := range checklist() {
		var lines, invariants []string
		for _, word := range strings.Fields(c.line) {
			if word[0] == 'I' {
				invariants = append(invariants, word)
			} else {
				lines = append(lines, word)
			}
		}
		want += fmt.Sprintf("| %s | %s | %s | %s |\n",
			strings.Join(lines, " "), c.says, strings.Join(invariants, " "), c.name())
	}
	if rewrite := flag.Lookup("rewrite"); rewrite != nil && rewrite.Value.String() == "true" {
		require.NoError(t, os.WriteFile(checklistPage, []byte(want), 0o644))
		return
	}
	require.True(t, want == string(page), "the table is an old one: run go test ./txn -run "+
		"Documented -rewrite")
}

// TestEveryClauseHasAMutant: each check is the killer of a mutant, here, in a package below or in
// that of the engine's contract.
func TestEveryClauseHasAMutant(t *testing.T) {
	var mutants strings.Builder
	for _, pattern := range []string{"testdata/mutants/*.patch", "*/testdata/mutants/*.patch",
		"../kv/testdata/mutants/*.patch"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, name := range files {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			mutants.Write(text)
		}
	}
	for _, c := range checklist() {
		killer := "killer: txn TestChecklist/" + c.name() + "\n"
		require.True(t, strings.Contains(mutants.String(), killer), c.says)
	}
}

// TestEveryCheckedInvariantIsDefined: doc.go states each invariant that a line of the checklist
// names. Package lint looks at those that comments cite.
func TestEveryCheckedInvariantIsDefined(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	for _, c := range checklist() {
		for _, i := range regexp.MustCompile(`I\d+`).FindAllString(c.line, -1) {
			require.Regexp(t, `(?m)^//(   - |\t)`+i+` `, string(doc), c.says)
		}
	}
}
