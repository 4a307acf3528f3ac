package builtin

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/minidb/minidb/internal/lru"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// regexKey identifies a compiled expression: its text and the options that PostgreSQL's flag
// letters set.
type regexKey struct {
	pattern string
	flags   regexFlags
}

// regexFlags are the options of regexp_replace and the like.
type regexFlags struct {
	fold     bool // i: ignore case
	literal  bool // q: the pattern is a plain string
	extended bool // x: white space and comments are ignored
	newline  byte // n: 'n' (. and ^$ both), 'p' (. only), 'w' (^$ only), 0 neither
	global   bool // g: not an option of the expression, and never in a key
}

// regexCache keeps compiled expressions.
var regexCache = lru.New[regexKey, *pattern](128)

func compileRegex(source string, fl regexFlags) (*pattern, error) {
	fl.global = false
	key := regexKey{source, fl}
	if re, ok := regexCache.Get(key); ok {
		return re, nil
	}
	text, err := translateRegex(source, fl)
	if err != nil {
		return nil, err
	}
	// POSIX: the leftmost match, and of several the longest.
	longest := !strings.Contains(text, "*?") && !strings.Contains(text, "+?") &&
		!strings.Contains(text, "??") && !strings.Contains(text, "}?")
	re, err := newPattern(text, longest)
	if err != nil {
		return nil, errRegex(regexFault(err))
	}
	regexCache.Put(key, re)
	return re, nil
}

func errRegex(fault string) error {
	return sqlerr.New(sqlerr.InvalidRegularExpression, "invalid regular expression: %s", fault)
}

// regexFault returns PostgreSQL's message for a syntax error.
func regexFault(err error) string {
	msg := err.Error()
	for _, w := range [][2]string{
		{"missing closing )", "parentheses () not balanced"},
		{"unexpected )", "parentheses () not balanced"},
		{"missing closing ]", "brackets [] not balanced"},
		{"missing argument to repetition", "quantifier operand invalid"},
		{"invalid nested repetition", "quantifier operand invalid"},
		{"invalid repeat count", "invalid repetition count(s)"},
		{"invalid character class range", "invalid character range"},
		{"trailing backslash", "invalid escape \\ sequence"},
		{"invalid escape sequence", "invalid escape \\ sequence"},
	} {
		if strings.Contains(msg, w[0]) {
			return w[1]
		}
	}
	return strings.TrimPrefix(msg, "error parsing regexp: ")
}

// translateRegex rewrites PostgreSQL's advanced regular expressions into Go's syntax. Back
// references and lookaround have no counterpart there.
func translateRegex(p string, fl regexFlags) (string, error) {
	if rest, ok := strings.CutPrefix(p, "***="); ok {
		p, fl.literal = rest, true
	}
	p = strings.TrimPrefix(p, "***:")
	if strings.HasPrefix(p, "(?") && !fl.literal { // embedded options are letters only
		if end := strings.IndexByte(p, ')'); end > 2 &&
			strings.Trim(p[2:end], "bceimnpqstwx") == "" {
			opts, err := parseRegexFlags(p[2:end], fl)
			if err != nil {
				return "", err
			}
			p, fl = p[end+1:], opts
		}
	}
	flags := ""
	if fl.fold {
		flags += "i"
	}
	if fl.newline != 'n' && fl.newline != 'p' {
		flags += "s"
	}
	if fl.newline == 'n' || fl.newline == 'w' {
		flags += "m"
	}
	if flags != "" {
		flags = "(?" + flags + ")"
	}
	if fl.literal {
		return flags + regexp.QuoteMeta(p), nil
	}
	t := regexTranslator{in: p, extended: fl.extended, fold: fl.fold}
	if err := t.run(); err != nil {
		return "", err
	}
	return flags + t.out.String(), nil
}

type regexTranslator struct {
	in       string
	out      strings.Builder
	i        int
	extended bool
	fold     bool
}

func (t *regexTranslator) run() error {
	for t.i < len(t.in) {
		c := t.in[t.i]
		switch {
		case c == '\\':
			if err := t.escape(false); err != nil {
				return err
			}
		case c == '[':
			if err := t.bracket(); err != nil {
				return err
			}
		case c == '(' && strings.HasPrefix(t.in[t.i:], "(?#"):
			end := strings.IndexByte(t.in[t.i:], ')')
			if end < 0 {
				return errRegex("parentheses () not balanced")
			}
			t.i += end + 1
		case c == '(' && t.i+2 < len(t.in) && t.in[t.i+1] == '?' &&
			strings.IndexByte("=!<", t.in[t.i+2]) >= 0:
			return sqlerr.Unsupported(0, "lookaround in regular expressions")
		case t.extended && (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' ||
			c == '\v'):
			t.i++
		case t.extended && c == '#':
			for t.i < len(t.in) && t.in[t.i] != '\n' {
				t.i++
			}
		case c == '{' && (t.i+1 >= len(t.in) || t.in[t.i+1] < '0' || t.in[t.i+1] > '9'):
			t.out.WriteString(`\{`)
			t.i++
		default:
			t.out.WriteByte(c)
			t.i++
		}
	}
	return nil
}

// escape translates the characters after a backslash.
func (t *regexTranslator) escape(inBracket bool) error {
	if t.i+1 >= len(t.in) {
		return errRegex(`invalid escape \ sequence`)
	}
	r, n := utf8.DecodeRuneInString(t.in[t.i+1:])
	t.i += 1 + n
	switch {
	case r == 'm' || r == 'M' || r == 'y':
		t.out.WriteString(`\b`)
	case r == 'Y':
		t.out.WriteString(`\B`)
	case r == 'Z':
		t.out.WriteString(`\z`)
	case r == 'e':
		t.out.WriteString(`\x1b`)
	case r == 'b' && !inBracket:
		t.out.WriteString(`\x08`)
	case r == 'B':
		t.out.WriteString(`\\`)
	case r == '0':
		t.out.WriteString(`\x00`)
	case r >= '1' && r <= '9' && !inBracket:
		return sqlerr.Unsupported(0, "back reference in regular expressions")
	case r == 'u' || r == 'U' || r == 'x':
		t.hex(r)
	case strings.ContainsRune("adDfnrsSvwWtcA", r):
		if r == 'w' || r == 'W' || r == 'd' || r == 'D' || r == 's' || r == 'S' {
			t.class(r, inBracket)
			return nil
		}
		t.out.WriteByte('\\')
		t.out.WriteRune(r)
	case r < utf8.RuneSelf && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'):
		return errRegex(`invalid escape \ sequence`)
	default:
		t.out.WriteString(regexp.QuoteMeta(string(r)))
		if inBracket && (r == '-' || r == '^') {
			s := t.out.String()
			t.out.Reset()
			t.out.WriteString(strings.TrimSuffix(s, string(r)) + `\` + string(r))
		}
	}
	return nil
}

// class writes a class shorthand. Letters and digits beyond ASCII are included, as in PostgreSQL.
func (t *regexTranslator) class(r rune, inBracket bool) {
	body := map[rune]string{
		'w': `\pL\p{Nd}_`, 'W': `\pL\p{Nd}_`, 'd': `0-9`, 'D': `0-9`, 's': `\s\v`, 'S': `\s\v`,
	}[r]
	negated := r == 'W' || r == 'D' || r == 'S'
	switch {
	case negated && inBracket:
		t.out.WriteString(`\` + string(r))
	case negated:
		t.out.WriteString("[^" + body + "]")
	case inBracket:
		t.out.WriteString(body)
	default:
		t.out.WriteString("[" + body + "]")
	}
}

func (t *regexTranslator) hex(kind rune) {
	limit := map[rune]int{'u': 4, 'U': 8, 'x': 255}[kind]
	start := t.i
	for t.i < len(t.in) && t.i-start < limit &&
		strings.IndexByte("0123456789abcdefABCDEF", t.in[t.i]) >= 0 {
		t.i++
	}
	t.out.WriteString(`\x{` + t.in[start:t.i] + `}`)
}

// bracket copies a bracket expression. A ] that comes first is literal, and so is a backslash's
// escape.
func (t *regexTranslator) bracket() error {
	rest := t.in[t.i:]
	switch {
	case strings.HasPrefix(rest, "[[:<:]]"), strings.HasPrefix(rest, "[[:>:]]"):
		t.out.WriteString(`\b`)
		t.i += 7
		return nil
	}
	t.out.WriteByte('[')
	t.i++
	if t.i < len(t.in) && t.in[t.i] == '^' {
		t.out.WriteByte('^')
		t.i++
	}
	for first := true; t.i < len(t.in); first = false {
		c := t.in[t.i]
		switch {
		case c == ']' && !first:
			t.out.WriteByte(']')
			t.i++
			return nil
		case c == '[' && t.i+1 < len(t.in) &&
			(t.in[t.i+1] == ':' || t.in[t.i+1] == '.' || t.in[t.i+1] == '='):
			if err := t.named(); err != nil {
				return err
			}
		case c == '\\':
			if err := t.escape(true); err != nil {
				return err
			}
		case c == '[' || c == ']':
			t.out.WriteByte('\\')
			t.out.WriteByte(c)
			t.i++
		default:
			t.out.WriteByte(c)
			t.i++
		}
	}
	return errRegex("brackets [] not balanced")
}

// named copies [:class:], [.element.] and [=element=] within brackets.
func (t *regexTranslator) named() error {
	kind := t.in[t.i+1]
	end := strings.Index(t.in[t.i+2:], string(kind)+"]")
	if end < 0 {
		return errRegex("brackets [] not balanced")
	}
	name := t.in[t.i+2 : t.i+2+end]
	t.i += end + 4
	if kind != ':' {
		t.out.WriteString(regexp.QuoteMeta(name))
		return nil
	}
	if t.fold && (name == "upper" || name == "lower") {
		name = "alpha" // includes letters without case
	}
	unicode := map[string]string{"alpha": `\pL`, "alnum": `\pL\p{Nd}`, "upper": `\p{Lu}`,
		"lower": `\p{Ll}`}
	if u, ok := unicode[name]; ok {
		t.out.WriteString(u)
	} else {
		t.out.WriteString("[:" + name + ":]")
	}
	return nil
}

// parseRegexFlags applies flag letters to the flags that are set already.
func parseRegexFlags(letters string, fl regexFlags) (regexFlags, error) {
	for _, c := range letters {
		switch c {
		case 'g':
			fl.global = true
		case 'i':
			fl.fold = true
		case 'c':
			fl.fold = false
		case 'n', 'm':
			fl.newline = 'n'
		case 'p', 'w':
			fl.newline = byte(c)
		case 's':
			fl.newline = 0
		case 'x':
			fl.extended = true
		case 't':
			fl.extended = false
		case 'q':
			fl.literal = true
		case 'b', 'e':
		default:
			return fl, errInvalid("invalid regular expression option: \"%c\"", c)
		}
	}
	return fl, nil
}

// similarToEscape turns a SIMILAR TO pattern into a regular expression: x SIMILAR TO p is
// x ~ similar_to_escape(p).
func similarToEscape(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	p, esc := a[0].S, textAt(a, 1, `\`)
	if err := checkEscape(esc); err != nil {
		return types.Null, err
	}
	var b strings.Builder
	b.WriteString("^(?:")
	bracket, separators := false, 0
	for i := 0; i < len(p); {
		r, n := utf8.DecodeRuneInString(p[i:])
		c := string(r)
		i += n
		switch {
		case c == esc && esc != "" && !bracket && strings.HasPrefix(p[i:], `"`):
			// Separates the three parts of a pattern of SUBSTRING; here the parts are concatenated.
			if separators++; separators > 2 {
				return types.Null, sqlerr.New(sqlerr.InvalidUseOfEscapeCharacter,
					"SQL regular expression may not contain more than two escape-double-quote "+
						"separators")
			}
			b.WriteString(")(?:")
			i++
		case c == esc && esc != "":
			if i < len(p) {
				r, n = utf8.DecodeRuneInString(p[i:])
				i += n
				b.WriteString(`\` + string(r))
			}
		case bracket:
			if c == `\` {
				b.WriteByte('\\')
			}
			b.WriteString(c)
			bracket = c != "]"
		case c == "[":
			b.WriteString(c)
			bracket = true
		case c == "%":
			b.WriteString(".*")
		case c == "_":
			b.WriteString(".")
		case c == "(":
			b.WriteString("(?:")
		case strings.ContainsAny(c, `\.^$`):
			b.WriteString(`\` + c)
		default:
			b.WriteString(c)
		}
	}
	b.WriteString(")$")
	return types.NewString(b.String()), nil
}

// regex makes matchers of regular expressions.
func regex(fold bool) func(pattern string) (matcher, error) {
	return func(pattern string) (matcher, error) {
		re, err := compileRegex(pattern, regexFlags{fold: fold})
		if err != nil {
			return nil, err
		}
		return re.matches, nil
	}
}

var regexOperators = []def{
	matching("~(name|text|bpchar,text) bool", true, regex(false)),
	matching("!~(name|text|bpchar,text) bool", false, regex(false)),
	matching("~*(name|text|bpchar,text) bool", true, regex(true)),
	matching("!~*(name|text|bpchar,text) bool", false, regex(true)),
}
