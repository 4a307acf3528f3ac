package parse

import (
	"strconv"
	"strings"
	"sync"

	"github.com/minidb/minidb/internal/sqlerr"
	tidb "github.com/pingcap/tidb/pkg/parser"
	tidbast "github.com/pingcap/tidb/pkg/parser/ast"
)

// tidbParser is one TiDB parser; it serves one goroutine at a time.
type tidbParser = tidb.Parser

// tidbParsers pools parsers: a new one costs 17 KB.
var tidbParsers = sync.Pool{New: func() any {
	t := tidb.New()
	t.SetParserConfig(tidb.ParserConfig{EnableWindowFunction: false, SkipPositionRecording: true})
	return t
}}

// parseUnit gives the text of u to the TiDB parser. Its words are this package's own, so the only
// errors left are those of order, and they are reported at the user's token.
func (p *parser) parseUnit(u *unit) (tree *tidbast.SelectStmt) {
	t := tidbParsers.Get().(*tidbParser)
	text := string(u.out)
	stmts, _, err := t.ParseSQL(text)
	if err != nil {
		tidbParsers.Put(t)
		p.unexpectedAt(u.sourceAt(errorOffset(err, len(text))))
		return nil
	}
	if len(stmts) == 1 {
		tree, _ = stmts[0].(*tidbast.SelectStmt)
	}
	if cap(u.out) <= 1<<20 { // its stacks grew with a large text: drop it
		tidbParsers.Put(t)
	}
	if tree == nil {
		p.fail(sqlerr.New(sqlerr.InternalError, "query was not read as one: %.200q", text))
	}
	return tree
}

// errorOffset finds `column N`, the offset after the word that was not expected.
func errorOffset(err error, end int) int {
	msg := err.Error()
	_, after, ok := strings.Cut(msg, " column ")
	if !ok {
		return end
	}
	digits, _, _ := strings.Cut(after, " ")
	n, err := strconv.Atoi(digits)
	if err != nil {
		return end
	}
	return n
}
