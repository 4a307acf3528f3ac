package plpgsql

import (
	"strings"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql/parse"
)

// raise reads RAISE [level] [{format [, arguments] | condition | SQLSTATE code}] [USING …];
func (p *parser) raise() Statement {
	s := &Raise{Place: p.place(), Level: "EXCEPTION"}
	p.next()
	if p.symbol(";") {
		s.Again = true
		return s
	}
	for _, level := range []string{"exception", "warning", "notice", "info", "log", "debug"} {
		if p.accept(level) {
			s.Level = strings.ToUpper(level)
			break
		}
	}
	switch {
	case p.tok().Kind == parse.StringToken:
		s.HasFormat, s.Format = true, p.next().Text
		p.raiseArguments(s)
	case p.at("using"):
	case p.at("sqlstate"):
		p.next()
		if p.tok().Kind != parse.StringToken {
			p.unexpected()
		}
		if !isCode(p.tok().Text) {
			p.failNear("invalid SQLSTATE code")
		}
		s.Condition = p.next().Text
		s.Code = s.Condition
	default:
		s.Condition = p.name()
		s.Code = codeOf(s.Condition)
	}
	if p.accept("using") {
		p.raiseOptions(s)
	}
	p.wantSymbol(";")
	return s
}

// codeOf returns the SQLSTATE of a condition's name.
func codeOf(name string) string {
	codes := codesOf(name)
	if codes == nil {
		panic(failure.At(0, sqlerr.UndefinedObject, "unrecognized exception condition \"%s\"",
			name))
	}
	return codes[0]
}

// CodeOf returns the SQLSTATE that a condition's name or code means; false if there is none.
func CodeOf(condition string) (string, bool) {
	if isCode(condition) {
		return condition, true
	}
	codes := codesOf(condition)
	if codes == nil {
		return "", false
	}
	return codes[0], true
}

// raiseArguments reads what the placeholders of the format stand for.
func (p *parser) raiseArguments(s *Raise) {
	for p.symbol(",") {
		s.Arguments = append(s.Arguments, p.until(Expression, ";", ",", "using", ";"))
	}
	if !p.atSymbol(";") && !p.at("using") {
		p.unexpected()
	}
	switch n := placeholders(s.Format); {
	case n < len(s.Arguments):
		panic(failure.At(0, sqlerr.SyntaxError, "too many parameters specified for RAISE"))
	case n > len(s.Arguments):
		panic(failure.At(0, sqlerr.SyntaxError, "too few parameters specified for RAISE"))
	}
}

// placeholders counts the single % of a format.
func placeholders(format string) (n int) {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		if i+1 < len(format) && format[i+1] == '%' {
			i++
			continue
		}
		n++
	}
	return n
}

var raiseOptions = map[string]string{"errcode": "ERRCODE", "message": "MESSAGE",
	"detail": "DETAIL", "hint": "HINT", "column": "COLUMN", "constraint": "CONSTRAINT",
	"datatype": "DATATYPE", "table": "TABLE", "schema": "SCHEMA"}

func (p *parser) raiseOptions(s *Raise) {
	for {
		name := raiseOptions[p.tok().Text]
		if name == "" || p.tok().Kind != parse.WordToken {
			p.failNear("unrecognized RAISE statement option")
		}
		p.next()
		if !p.symbol("=") && !p.symbol(":=") {
			p.unexpected()
		}
		s.Options = append(s.Options, RaiseOption{name, p.until(Expression, ";", ",", ";")})
		if !p.symbol(",") {
			return
		}
	}
}
