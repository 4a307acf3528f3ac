package main

import (
	"bytes"
	"fmt"
	"go/scanner"
	"go/token"
	"unicode/utf8"
)

const columnsMax = 100

// addLines counts the lines of a file by what they hold.
func (f *figures) addLines(file *sourceFile) {
	lines := bytes.Split(bytes.TrimSuffix(file.text, []byte("\n")), []byte("\n"))
	f.lines += len(lines)
	switch {
	case len(lines) > 800:
		f.filesOver800++
		fallthrough
	case len(lines) > 500:
		f.filesOver500++
	}
	code, comment := kinds(file.text, len(lines))
	for i, line := range lines {
		switch {
		case code[i]:
			f.codeLines++
		case comment[i]:
			f.commentLines++
		default:
			f.blankLines++
		}
		if width(line) > columnsMax {
			f.wideLines++
			f.found("line over 100 columns", "%s:%d", file.name, i+1)
		}
	}
}

// width is the number of columns that a line takes, with tabs of four.
func width(line []byte) int { return utf8.RuneCount(line) + 3*bytes.Count(line, []byte("\t")) }

// kinds reports which lines hold tokens of code and which hold comments.
func kinds(text []byte, lines int) (code, comment []bool) {
	code, comment = make([]bool, lines+1), make([]bool, lines+1)
	fset := token.NewFileSet()
	file := fset.AddFile("", fset.Base(), len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, scanner.ScanComments)
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return code, comment
		}
		first := file.Line(pos)
		last := first + bytes.Count([]byte(literal), []byte("\n"))
		if tok == token.SEMICOLON {
			last = first // an automatic semicolon's literal is the newline
		}
		for n := first; n <= last && n <= lines; n++ {
			if tok == token.COMMENT {
				comment[n-1] = true
			} else {
				code[n-1] = true
			}
		}
	}
}

func (f *figures) found(limit, format string, args ...any) {
	if f.findings == nil {
		f.findings = map[string][]string{}
	}
	f.findings[limit] = append(f.findings[limit], fmt.Sprintf(format, args...))
}
