package are

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/minidb/minidb/internal/sqlerr"
)

// Invalid returns the error of an expression with a fault.
func Invalid(fault string) error {
	return sqlerr.New(sqlerr.InvalidRegularExpression, "invalid regular expression: %s", fault)
}

// Check returns an error unless source is an expression that this server can run.
func Check(source string, fl Flags) error {
	text, err := Translate(source, fl)
	if err != nil {
		return err
	}
	if _, err = syntax.Parse(text, syntax.Perl); err != nil {
		return Invalid(Fault(err))
	}
	return nil
}

// Fault returns PostgreSQL's message for an error of package regexp about a translated expression.
func Fault(err error) string {
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

// Translate rewrites an expression into Go's syntax. Back references and lookaround have no
// counterpart there: it returns error 0A000 for them.
func Translate(p string, fl Flags) (string, error) {
	if rest, ok := strings.CutPrefix(p, "***="); ok {
		p, fl.Literal = rest, true
	}
	p = strings.TrimPrefix(p, "***:")
	if strings.HasPrefix(p, "(?") && !fl.Literal { // embedded options are letters only
		if end := strings.IndexByte(p, ')'); end > 2 &&
			strings.Trim(p[2:end], "bceimnpqstwx") == "" {
			opts, err := ParseFlags(p[2:end], fl)
			if err != nil {
				return "", err
			}
			p, fl = p[end+1:], opts
		}
	}
	flags := ""
	if fl.Fold {
		flags += "i"
	}
	if fl.Newline != 'n' && fl.Newline != 'p' {
		flags += "s"
	}
	if fl.Newline == 'n' || fl.Newline == 'w' {
		flags += "m"
	}
	if flags != "" {
		flags = "(?" + flags + ")"
	}
	if fl.Literal {
		return flags + regexp.QuoteMeta(p), nil
	}
	t := translator{in: p, extended: fl.Extended, fold: fl.Fold}
	if err := t.run(); err != nil {
		return "", err
	}
	return flags + t.out.String(), nil
}

type translator struct {
	in       string
	out      strings.Builder
	i        int
	extended bool
	fold     bool
	atom     bool // what was written last may be followed by a quantifier
}

func (t *translator) run() error {
	for t.i < len(t.in) {
		c := t.in[t.i]
		switch {
		case c == '*' || c == '+' || c == '?' || c == '{' && t.digitAt(t.i+1):
			if err := t.quantifier(); err != nil {
				return err
			}
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
				return Invalid("parentheses () not balanced")
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
		case c == '{':
			t.out.WriteString(`\{`)
			t.i, t.atom = t.i+1, true
		case strings.HasPrefix(t.in[t.i:], "(?:"):
			t.out.WriteString("(?:")
			t.i, t.atom = t.i+3, false
		case strings.HasPrefix(t.in[t.i:], "(?"):
			return Invalid("invalid embedded option")
		default:
			t.out.WriteByte(c)
			t.i++
			t.atom = strings.IndexByte("(|^$", c) < 0
		}
	}
	return nil
}

func (t *translator) digitAt(i int) bool {
	return i < len(t.in) && t.in[i] >= '0' && t.in[i] <= '9'
}

// mostRepetitions is PostgreSQL's bound of a repetition count.
const mostRepetitions = 255

// quantifier copies *, +, ? and {m[,[n]]}, each perhaps with a ? behind it. They follow an atom,
// and no constraint or other quantifier.
func (t *translator) quantifier() error {
	if !t.atom {
		return Invalid("quantifier operand invalid")
	}
	start := t.i
	t.i++
	if t.in[start] == '{' {
		if err := t.counts(); err != nil {
			return err
		}
	}
	if t.i < len(t.in) && t.in[t.i] == '?' {
		t.i++
	}
	t.out.WriteString(t.in[start:t.i])
	t.atom = false
	return nil
}

// counts reads m[,[n]]}.
func (t *translator) counts() error {
	least := t.count()
	most := least
	if t.i < len(t.in) && t.in[t.i] == ',' {
		t.i++
		if most = mostRepetitions; t.digitAt(t.i) {
			most = t.count()
		}
	}
	switch {
	case t.i >= len(t.in):
		return Invalid("braces {} not balanced")
	case t.in[t.i] != '}', least > most, most > mostRepetitions:
		return Invalid("invalid repetition count(s)")
	}
	t.i++
	return nil
}

func (t *translator) count() (n int) {
	for ; t.digitAt(t.i); t.i++ {
		n = min(n*10+int(t.in[t.i]-'0'), mostRepetitions+1)
	}
	return n
}

// escape translates the characters after a backslash.
func (t *translator) escape(inBracket bool) error {
	if t.i+1 >= len(t.in) {
		return Invalid(`invalid escape \ sequence`)
	}
	r, n := utf8.DecodeRuneInString(t.in[t.i+1:])
	t.i += 1 + n
	t.atom = inBracket || !strings.ContainsRune("AmMyYZ", r)
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
		return Invalid(`invalid escape \ sequence`)
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
func (t *translator) class(r rune, inBracket bool) {
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

func (t *translator) hex(kind rune) {
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
func (t *translator) bracket() error {
	rest := t.in[t.i:]
	switch {
	case strings.HasPrefix(rest, "[[:<:]]"), strings.HasPrefix(rest, "[[:>:]]"):
		t.out.WriteString(`\b`)
		t.i, t.atom = t.i+7, false
		return nil
	}
	t.out.WriteByte('[')
	t.atom = true
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
	return Invalid("brackets [] not balanced")
}

// named copies [:class:], [.element.] and [=element=] within brackets.
func (t *translator) named() error {
	kind := t.in[t.i+1]
	end := strings.Index(t.in[t.i+2:], string(kind)+"]")
	if end < 0 {
		return Invalid("brackets [] not balanced")
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
