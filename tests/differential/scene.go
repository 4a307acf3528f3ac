package differential

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

//go:embed scenes
var sceneFiles embed.FS

// scene is what a file of scenes describes: a sequence of statements that build on each other. Its
// statements and words hold further words, such as $base. A word is replaced by one of its
// alternatives, drawn anew at each place; one that begins with a capital letter is drawn once for
// the whole sequence.
//
//	$base: integer | numeric | text        what $base may be
//	$Base: $base                           the same, throughout the sequence
//	columns: integer a, text b             what generated expressions may name, as in
//	                                       $boolean, $integer, $text, $any
//	open                                   what follows comes first, as it is,
//	some 6                                 then so many of these, in any order,
//	  CREATE DOMAIN d AS $base;            each within one line or several, up to the semicolon
//	close                                  and then these
type scene struct {
	name    string
	words   map[string][]string
	columns map[string]string // by type
	parts   []part
}

// part is a list of statements: all of them, or so many chosen ones.
type part struct {
	some       int // 0: all
	statements []string
}

var word = regexp.MustCompile(`\$[A-Za-z][A-Za-z_]*`)

// loadScenes reads the scenes. What is wrong with one is an error that names it.
func loadScenes() (all []*scene, err error) {
	files, err := fs.Glob(sceneFiles, "scenes/*.txt")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := fs.ReadFile(sceneFiles, file)
		if err != nil {
			return nil, err
		}
		s, err := parseScene(strings.TrimSuffix(path.Base(file), ".txt"), string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, s)
	}
	return all, nil
}

func parseScene(name, text string) (*scene, error) {
	s := &scene{name: name, words: map[string][]string{}, columns: map[string]string{}}
	statement := ""
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		head, rest, _ := strings.Cut(line, ":")
		var n int
		switch {
		case statement == "" && (line == "" || strings.HasPrefix(line, "#")):
		case statement == "" && strings.HasPrefix(line, "$"):
			s.words[head] = alternatives(rest)
		case head == "columns":
			for _, column := range strings.Split(rest, ",") {
				typ, column, _ := cutLast(strings.TrimSpace(column), " ")
				s.columns[typ] = column
			}
		case line == "open" || line == "close":
			s.parts = append(s.parts, part{})
		case strings.HasPrefix(line, "some ") && scanned(line, "some %d", &n):
			s.parts = append(s.parts, part{some: n})
		case len(s.parts) == 0:
			return nil, fmt.Errorf("a statement belongs to no part: %s", line)
		default:
			statement = strings.TrimSpace(statement + " " + line)
			if text, ok := strings.CutSuffix(statement, ";"); ok {
				last := &s.parts[len(s.parts)-1]
				last.statements, statement = append(last.statements, text), ""
			}
		}
	}
	if statement != "" {
		return nil, fmt.Errorf("no semicolon ends %s", statement)
	}
	return s, s.check(text)
}

// check reports a word that is nothing.
func (s *scene) check(text string) error {
	for _, w := range word.FindAllString(text, -1) {
		typ, literal := typeOfWord(w)
		if s.words[w] == nil && values[typ] == nil && (typ != "any" || literal) {
			return fmt.Errorf("%s is no word", w)
		}
	}
	return nil
}

// typeOfWord returns the type of the expressions or literals that a word stands for.
func typeOfWord(w string) (typ string, literal bool) {
	typ, literal = strings.CutPrefix(strings.ReplaceAll(w[1:], "_", " "), "a ")
	return typ, literal
}

// alternatives splits a list at the bars that are between blanks; || is an operator.
func alternatives(list string) (out []string) {
	one := ""
	for _, field := range strings.Fields(list) {
		if field != "|" {
			one = strings.TrimSpace(one + " " + field)
			continue
		}
		out, one = append(out, one), ""
	}
	return append(out, one)
}

func scanned(text, form string, n *int) bool {
	_, err := fmt.Sscanf(text, form, n)
	return err == nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// sequence returns the statements of a scene.
func (g *generator) sequence(s *scene) (out []string) {
	once := map[string]string{}
	names := g.names
	g.names = s.columns
	defer func() { g.names = names }()
	for _, p := range s.parts {
		if p.some == 0 {
			for _, text := range p.statements {
				out = append(out, g.fill(s, once, text))
			}
			continue
		}
		for range p.some {
			out = append(out, g.fill(s, once, p.statements[g.rng.IntN(len(p.statements))]))
		}
	}
	return out
}

// fill replaces the words of a text.
func (g *generator) fill(s *scene, once map[string]string, text string) string {
	return word.ReplaceAllStringFunc(text, func(w string) string {
		if chosen, ok := once[w]; ok {
			return chosen
		}
		alternatives := s.words[w]
		if alternatives == nil {
			return g.builtIn(w)
		}
		chosen := g.fill(s, once, alternatives[g.rng.IntN(len(alternatives))])
		if w[1] >= 'A' && w[1] <= 'Z' {
			once[w] = chosen
		}
		return chosen
	})
}

// builtIn is a generated expression of the type that a word names, as $boolean and $any, or a
// literal of it, as $a_boolean.
func (g *generator) builtIn(w string) string {
	switch typ, literal := typeOfWord(w); {
	case literal:
		return g.literal(typ)
	case typ == "any":
		return g.expression(g.anyType(), 1+g.rng.IntN(2))
	default:
		return g.expression(typ, 1+g.rng.IntN(2))
	}
}
