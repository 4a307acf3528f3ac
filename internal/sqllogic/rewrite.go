package sqllogic

import (
	"context"
	"fmt"
	"strings"
)

// Rewrite runs a script and returns it with the results and SQLSTATEs that the database gave in the
// place of those that were written: how scripts of our own get their expectations from PostgreSQL.
func (r *Runner) Rewrite(ctx context.Context, script string) (string, error) {
	if err := r.Conn.Reset(ctx); err != nil {
		return "", err
	}
	var out []string
	for block := range strings.SplitSeq(strings.ReplaceAll(script, "\r\n", "\n"), "\n\n") {
		var lines []string
		for l := range strings.SplitSeq(block, "\n") {
			if !strings.HasPrefix(l, "#") && strings.TrimSpace(l) != "" {
				lines = append(lines, l)
			}
		}
		text := strings.Trim(block, "\n")
		if len(lines) > 0 {
			rec, ok, err := parseBlock(lines, 1)
			if err != nil {
				return "", fmt.Errorf("%w in\n%s", err, block)
			}
			if ok && !rec.Skipped(r.Label) {
				text = r.rewriteBlock(ctx, text, &rec)
			}
		}
		out = append(out, text)
	}
	return strings.TrimRight(strings.Join(out, "\n\n"), "\n") + "\n", nil
}

func (r *Runner) rewriteBlock(ctx context.Context, text string, rec *Record) string {
	switch rec.Kind {
	case Statement:
		_, err := r.Conn.Run(ctx, rec.SQL)
		header := "statement ok"
		if err != nil {
			header = "statement error " + Code(err)
		}
		return replaceHeader(text, "statement ", header)
	case Query:
		res, err := r.Conn.Run(ctx, rec.SQL)
		if err != nil {
			text, _, _ = strings.Cut(text, "\n----")
			return replaceHeader(text, "query ", "statement error "+Code(err))
		}
		types := rec.Types
		if len(types) != len(res.Bools) && len(res.Rows) > 0 {
			types = strings.Repeat("T", len(res.Bools))
			text = replaceHeader(text, "query ",
				strings.TrimRight("query "+types+" "+rec.Sort+" "+rec.Label, " "))
		}
		var vals []string
		for _, row := range res.Rows {
			for i, v := range row {
				vals = append(vals, render(v.Text, v.Null, res.Bools[i], types[i]))
			}
		}
		sortValues(vals, len(types), rec.Sort)
		if r := len(vals); r > 200 {
			vals = []string{fmt.Sprintf("%d values hashing to %s", r, hashValues(vals))}
		}
		sql, _, _ := strings.Cut(text, "\n----")
		return strings.Join(append([]string{sql, "----"}, vals...), "\n")
	}
	return text
}

// replaceHeader replaces the first line that begins with prefix.
func replaceHeader(text, prefix, header string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, prefix) {
			lines[i] = header
			break
		}
	}
	return strings.Join(lines, "\n")
}
