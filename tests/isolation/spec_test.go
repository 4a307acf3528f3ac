package isolation

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// spec is a file of PostgreSQL's isolationtester: sessions with steps, and the orders to try.
type spec struct {
	setups       []string
	teardown     string
	sessions     []specSession
	permutations [][]turn
}

type specSession struct {
	name, setup, teardown string
	steps                 []*step
}

type step struct {
	name, sql string
	session   int
}

// turn is a step in a permutation. held: it counts as waiting when it is launched. after: it is not
// reported before these.
type turn struct {
	*step
	held  bool
	after []after
}

// after waits for a step to be done, or for its session to have sent so many notices.
type after struct {
	step    *step
	notices int
}

var specToken = regexp.MustCompile(
	`(?s)^(?:\s+|#[^\n]*(?:\n|$))*` +
		`(\{[^}]*\}|"(?:[^"\n]|"")*"|[A-Za-z_\x80-\xff][\w$\x80-\xff]*|\d+|[,()*])`)

// specReader reads the tokens of a spec.
type specReader struct {
	toks  []string
	steps map[string]*step
}

func (r *specReader) next() string {
	if len(r.toks) == 0 {
		return ""
	}
	t := r.toks[0]
	r.toks = r.toks[1:]
	return t
}

func (r *specReader) peek(t string) bool { return len(r.toks) > 0 && r.toks[0] == t }

func (r *specReader) name() string {
	t := r.next()
	if strings.HasPrefix(t, `"`) {
		return strings.ReplaceAll(t[1:len(t)-1], `""`, `"`)
	}
	return t
}

func (r *specReader) block() string {
	const blank = " \t\r\f" // line ends stay, as in the original
	return strings.TrimRight(strings.TrimLeft(strings.Trim(r.next(), "{}"), blank), blank)
}

func parseSpec(text string) (*spec, error) {
	r := &specReader{steps: map[string]*step{}}
	for m := specToken.FindStringSubmatchIndex(
		text); m != nil; m = specToken.FindStringSubmatchIndex(text) {
		r.toks = append(r.toks, text[m[2]:m[3]])
		text = text[m[1]:]
	}
	s := &spec{}
	var orders []*specReader // permutations, read once all steps are known
	for len(r.toks) > 0 {
		switch t := r.next(); t {
		case "setup":
			if n := len(s.sessions); n > 0 {
				s.sessions[n-1].setup = r.block()
			} else {
				s.setups = append(s.setups, r.block())
			}
		case "teardown":
			if n := len(s.sessions); n > 0 {
				s.sessions[n-1].teardown = r.block()
			} else {
				s.teardown = r.block()
			}
		case "session":
			s.sessions = append(s.sessions, specSession{name: r.name()})
		case "step":
			st := &step{name: r.name(), session: len(s.sessions) - 1}
			st.sql = r.block()
			s.sessions[st.session].steps = append(s.sessions[st.session].steps, st)
			r.steps[st.name] = st
		case "permutation":
			o := &specReader{steps: r.steps}
			for len(r.toks) > 0 && !r.peek("permutation") {
				o.toks = append(o.toks, r.next())
			}
			orders = append(orders, o)
		default:
			return nil, fmt.Errorf("unexpected %q", t)
		}
	}
	for _, o := range orders {
		p, err := o.permutation()
		if err != nil {
			return nil, err
		}
		s.permutations = append(s.permutations, p)
	}
	if len(orders) == 0 {
		s.interleave(make([]int, len(s.sessions)), nil)
	}
	return s, nil
}

// permutation reads names of steps, each with its marks in parentheses.
func (r *specReader) permutation() (out []turn, err error) {
	for len(r.toks) > 0 {
		t := turn{}
		if t.step, err = r.step(); err != nil {
			return nil, err
		}
		if r.peek("(") {
			for r.next(); !r.peek(")") && len(r.toks) > 0; {
				if r.peek("*") {
					r.next()
					t.held = true
				} else {
					var a after
					if a.step, err = r.step(); err != nil {
						return nil, err
					}
					if r.peek("notices") {
						r.next()
						a.notices, _ = strconv.Atoi(r.next())
					}
					t.after = append(t.after, a)
				}
				if r.peek(",") {
					r.next()
				}
			}
			r.next()
		}
		out = append(out, t)
	}
	return out, nil
}

func (r *specReader) step() (*step, error) {
	name := r.name()
	if st := r.steps[name]; st != nil {
		return st, nil
	}
	return nil, fmt.Errorf("unknown step %q", name)
}

// interleave makes every order of the sessions' steps.
func (s *spec) interleave(used []int, before []turn) {
	done := true
	for i := range s.sessions {
		if used[i] < len(s.sessions[i].steps) {
			done = false
			used[i]++
			s.interleave(used,
				append(before[:len(before):len(before)],
					turn{step: s.sessions[i].steps[used[i]-1]}))
			used[i]--
		}
	}
	if done {
		s.permutations = append(s.permutations, before)
	}
}
