package shell

import (
	"context"
	"fmt"
	"strings"
)

const help = `  \q          quit
  \dt         list tables, views and sequences
  \d NAME     describe a table
  \i FILE     run a script
  \x          toggle expanded output
  \timing     toggle the time of each statement
  \?          this help
`

// metaLines runs the backslash commands in front of a script's statement, each on a line of its
// own, and returns the statement.
func (s *Shell) metaLines(ctx context.Context, text string) (rest string, quit bool) {
	for {
		trimmed := strings.TrimLeft(text, " \t\r\n")
		if !strings.HasPrefix(trimmed, `\`) {
			return text, false
		}
		line, rest, _ := strings.Cut(trimmed, "\n")
		if s.meta(ctx, strings.TrimRight(line, "; \t\r")) {
			return "", true
		}
		text = rest
	}
}

// meta runs a command that starts with a backslash and reports whether to quit.
func (s *Shell) meta(ctx context.Context, input string) (quit bool) {
	words := strings.Fields(input)
	arg := ""
	if len(words) > 1 {
		arg = words[1]
	}
	var err error
	switch words[0] {
	case `\q`:
		return true
	case `\?`:
		fmt.Fprint(s.out, help)
	case `\x`:
		s.expanded = !s.expanded
		fmt.Fprintln(s.out, "Expanded display is", onOff(s.expanded)+".")
	case `\timing`:
		s.timing = !s.timing
		fmt.Fprintln(s.out, "Timing is", onOff(s.timing)+".")
	case `\i`:
		err = s.File(ctx, arg)
	case `\d`, `\dt`:
		err = s.statement(ctx, describe(words[0], arg))
	default:
		s.failed = true
		fmt.Fprintf(s.err, "unknown command %s; try \\?\n", words[0])
	}
	if err != nil {
		s.failed = true
		fmt.Fprintln(s.err, err)
	}
	return false
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}

// describe is the query behind \d and \dt.
func describe(command, name string) string {
	if command == `\dt` || name == "" {
		return `SELECT table_schema AS "Schema", table_name AS "Name", table_type AS "Type"
			FROM information_schema.tables
			WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2`
	}
	return `SELECT column_name AS "Column", data_type AS "Type",
		is_nullable AS "Nullable", column_default AS "Default"
		FROM information_schema.columns
		WHERE table_name = '` + strings.ReplaceAll(strings.ToLower(name), "'", "''") + `'
		ORDER BY ordinal_position`
}
