package tools

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// differ are the commands whose output is not PostgreSQL's, with the reason. One that has become
// equal must be taken out.
var differ = map[string]string{
	`\encoding LATIN1`: "UTF8 is the only encoding",
}

// TestPsqlCommandsPrintWhatPostgreSQLPrints runs the backslash commands of testdata/commands.
func TestPsqlCommandsPrintWhatPostgreSQLPrints(t *testing.T) {
	postgres, own := servers(t, "described")
	postgres.fill(t, "described")
	own.fill(t, "described")
	text, err := os.ReadFile("testdata/commands")
	require.NoError(t, err)
	var script strings.Builder
	var commands []string
	for line := range strings.Lines(string(text)) {
		commands = append(commands, strings.TrimSpace(line))
		script.WriteString("\\echo " + mark + "\n" + line)
	}
	file := filepath.Join(t.TempDir(), "commands.sql")
	require.NoError(t, os.WriteFile(file, []byte(script.String()), 0o600))
	theirs, ours := postgres.sections(t, file), own.sections(t, file)
	require.Len(t, theirs, len(commands))
	require.Len(t, ours, len(commands))
	for i, command := range commands {
		if reason, ok := differ[command]; ok {
			assert.NotEqual(t, theirs[i], ours[i], "%s is equal now, but listed: %s", command,
				reason)
			continue
		}
		assert.Equal(t, comparableSection(t, theirs[i]), comparableSection(t, ours[i]), command)
	}
}

// mark is a line between the outputs of two commands.
const mark = "==="

// sections runs a script and splits what it prints at the marks.
func (s server) sections(t *testing.T, file string) []string {
	out, err := s.try(t, "psql", "described", "-f", file)
	require.NoError(t, err)
	return strings.Split(out, mark+"\n")[1:]
}

// What two servers that hold the same print differently: sizes, the number of the session's
// temporary schema, where an error was raised in the source, and how the server is reached.
var (
	size       = regexp.MustCompile(`\|(\d+) (bytes|kB|MB)\|`) // of unaligned output
	temporary  = regexp.MustCompile(`pg_temp_\d+`)
	location   = regexp.MustCompile(`(?m)^(psql:\S+ )?LOCATION: .*\n`)
	connection = regexp.MustCompile(`(You are connected to .* as user "\w+").*`)
)

// comparableSection leaves these out. A size must be one that a database like this can have.
func comparableSection(t *testing.T, text string) string {
	t.Helper()
	for _, m := range size.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(m[1])
		require.NoError(t, err)
		require.True(t, m[2] != "MB" || n < 100, m[0])
	}
	text = size.ReplaceAllString(text, "|a size|")
	text = temporary.ReplaceAllString(text, "pg_temp_N")
	text = location.ReplaceAllString(text, "")
	return connection.ReplaceAllString(text, "$1")
}
