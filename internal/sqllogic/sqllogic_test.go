package sqllogic

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// scripted returns the results of statements from a table.
type scripted map[string]*Result

type codedError string

func (e codedError) Error() string    { return "no such answer" }
func (e codedError) SQLState() string { return string(e) }

func (s scripted) Run(_ context.Context, sql string) (*Result, error) {
	if r, ok := s[sql]; ok {
		return r, nil
	}
	return nil, codedError("42P01")
}
func (s scripted) Reset(context.Context) error { return nil }
func (s scripted) Close() error                { return nil }

func runScript(t *testing.T, conn Conn, script string) (Tally, []Failure) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.test")
	require.NoError(t, os.WriteFile(path, []byte(script), 0o600))
	var failures []Failure
	r := &Runner{Conn: conn, Label: "postgresql",
		OnFailure: func(f Failure) { failures = append(failures, f) }}
	tally, err := r.File(context.Background(), path)
	require.NoError(t, err)
	return tally, failures
}

func TestAScriptIsJudgedRecordByRecord(t *testing.T) {
	conn := scripted{
		"ok": {},
		"select": {Bools: []bool{false, true}, Rows: [][]Value{
			{{Text: "2.9"}, {Text: "t"}}, {{Null: true}, {Text: "f"}}}},
		"text": {Bools: []bool{false}, Rows: [][]Value{{{Text: ""}}, {{Text: "a\tb"}}}},
	}
	tally, failures := runScript(t, conn, `
# a comment
statement ok
ok

statement error 42P01
missing

statement error 23505
missing

statement error
ok

skipif postgresql
statement ok
missing

onlyif mysql
skipif postgresql
halt

query II rowsort
select
----
2
1
NULL
0

query T
text
----
(empty)
a@b

query T valuesort
text
----
wrong
`)
	require.Equal(t, Tally{Passed: 4, Failed: 3, Skipped: 1}, tally)
	require.Len(t, failures, 3)
	require.Equal(t, 9, failures[0].Line)
	require.Equal(t, "4 passed, 3 failed, 1 skipped", tally.String())
}

func TestHaltEndsAFileUnlessItsConditionIsForOthers(t *testing.T) {
	tally, _ := runScript(t, scripted{"ok": {}}, "skipif postgresql\nhalt\n\nstatement "+
		"ok\nok\n\nhalt\n\nstatement ok\nok\n")
	require.Equal(t, Tally{Passed: 1}, tally)
}

func TestResultsAboveTheThresholdAreHashed(t *testing.T) {
	rows := make([][]Value, 3)
	for i := range rows {
		rows[i] = []Value{{Text: "x"}}
	}
	conn := scripted{"q": {Bools: []bool{false}, Rows: rows}}
	want := "3 values hashing to " + hashValues([]string{"x", "x", "x"})
	tally, failures := runScript(t, conn, "hash-threshold 2\n\nquery T nosort\nq\n----\n"+want+"\n")
	require.Empty(t, failures)
	require.Equal(t, 1, tally.Passed)
}

func TestEqualLabelsWantEqualResults(t *testing.T) {
	conn := scripted{
		"a": {Bools: []bool{false}, Rows: [][]Value{{{Text: "1"}}}},
		"b": {Bools: []bool{false}, Rows: [][]Value{{{Text: "2"}}}},
	}
	tally, failures := runScript(t, conn, "query I nosort L\na\n----\n1\n\nquery I nosort "+
		"L\nb\n----\n2\n")
	require.Equal(t, Tally{Passed: 1, Failed: 1}, tally)
	require.Contains(t, failures[0].Reason, "label")
}

func TestKnownRecordsAreFoundByTheTailOfTheirPath(t *testing.T) {
	k, err := ReadKnown(strings.NewReader("# why\nindex/view/1.test:7 views\n"))
	require.NoError(t, err)
	require.True(t, k.Has("/somewhere/index/view/1.test", 7))
	require.True(t, k.Has("index/view/1.test", 7))
	require.False(t, k.Has("/somewhere/index/view/1.test", 8))
	require.False(t, k.Has("/somewhere/other/1.test", 7))
	_, err = ReadKnown(strings.NewReader("nonsense\n"))
	require.Error(t, err)
}

func FuzzParse(f *testing.F) {
	f.Add("query I rowsort x\nselect 1\n----\n1\n\nstatement ok\nselect\n")
	f.Fuzz(func(t *testing.T, s string) {
		records, err := Parse(strings.NewReader(s))
		if err == nil {
			for _, r := range records {
				require.Positive(t, r.Line)
			}
		}
	})
}

func TestRewriteWritesWhatTheDatabaseAnswered(t *testing.T) {
	conn := scripted{"ok": {}, "q": {Bools: []bool{false}, Rows: [][]Value{{{Text: "7"}}}}}
	r := &Runner{Conn: conn, Label: "postgresql"}
	got, err := r.Rewrite(context.Background(),
		"# kept\nstatement ok\nmissing\n\nstatement error\nok\n\nquery I\nq\n----\nwrong\n")
	require.NoError(t, err)
	require.Equal(t, "# kept\nstatement error 42P01\nmissing\n\nstatement ok\nok\n\nquery "+
		"I\nq\n----\n7\n", got)
}
