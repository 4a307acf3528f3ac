package isolation

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// tester runs the permutations of a spec and writes what isolationtester would.
type tester struct {
	spec    *spec
	control *client
	clients []*client
	out     strings.Builder
	active  []*turn // by session, the turn that is not reported yet
	notices []int   // by session, as many as it has sent
}

func (r *tester) permutation(turns []turn) string {
	r.out.Reset()
	r.active, r.notices = make([]*turn, len(r.clients)), make([]int, len(r.clients))
	for _, s := range r.spec.setups {
		r.plain(r.control, s, true)
	}
	for i, s := range r.spec.sessions {
		r.plain(r.clients[i], s.setup, true)
	}
	var waiting []*turn
	for i := range turns {
		t := &turns[i]
		for r.active[t.session] != nil { // the session is busy: it must come free first
			n := len(waiting)
			waiting = r.completeAll(waiting)
			require.Less(r.control.t, len(waiting), n, "step %s: its session is blocked for good",
				t.name)
		}
		r.active[t.session] = t
		r.clients[t.session].start(t.sql)
		busy := !r.complete(t, true)
		waiting = r.completeAll(waiting)
		if busy {
			waiting = append(waiting, t)
		}
	}
	for n := -1; len(waiting) > 0; {
		require.NotEqual(r.control.t, n, len(waiting), "steps block each other")
		n = len(waiting)
		waiting = r.completeAll(waiting)
	}
	for i, s := range r.spec.sessions {
		r.plain(r.clients[i], s.teardown, false)
	}
	r.plain(r.control, r.spec.teardown, false)
	return r.out.String()
}

// plain runs setup and teardown and prints the rows of its last statement.
func (r *tester) plain(c *client, sql string, must bool) {
	if sql == "" {
		return
	}
	o := c.run(sql)
	if must {
		require.NoError(c.t, o.err, sql)
	}
	r.flush()
	if o.err == nil && len(o.results) > 0 {
		r.rows(o.results[len(o.results)-1])
	}
}

// completeAll reports the turns that have ended, and returns the others. A turn that is reported
// may be what another's mark waits for.
func (r *tester) completeAll(waiting []*turn) []*turn {
	for again := true; again; {
		again = false
		var left []*turn
		for _, t := range waiting {
			if !r.complete(t, false) {
				left = append(left, t)
			}
		}
		again = len(left) < len(waiting) && len(left) > 0
		waiting = left
	}
	return waiting
}

// complete reports a turn that has ended. launched says that it was just begun: if it waits, that
// is reported.
func (r *tester) complete(t *turn, launched bool) bool {
	c := r.clients[t.session]
	if launched && t.held || !c.settled(r.control) || r.marked(t) {
		if launched {
			r.flush()
			fmt.Fprintf(&r.out, "step %s: %s <waiting ...>\n", t.name, t.sql)
		}
		return false
	}
	r.flush()
	if launched {
		fmt.Fprintf(&r.out, "step %s: %s\n", t.name, t.sql)
	} else {
		fmt.Fprintf(&r.out, "step %s: <... completed>\n", t.name)
	}
	for _, res := range c.got.results {
		if res.Err == nil {
			r.rows(res)
		}
	}
	var pe *pgconn.PgError
	if errors.As(c.got.err, &pe) {
		fmt.Fprintf(&r.out, "%s:  %s\n", pe.Severity, pe.Message)
	}
	r.notified(t.session)
	r.active[t.session] = nil
	return true
}

// marked reports whether a mark of the permutation holds the report back.
func (r *tester) marked(t *turn) bool {
	r.flush()
	for _, a := range t.after {
		o := r.active[a.step.session]
		if a.notices > 0 && r.notices[a.step.session] < a.notices || a.notices == 0 && o != nil &&
			o.step == a.step {
			return true
		}
	}
	return false
}

func (r *tester) flush() {
	for i, c := range r.clients {
		c.mu.Lock()
		for _, n := range c.notices {
			fmt.Fprintf(&r.out, "%s: %s:  %s\n", r.spec.sessions[i].name, n.Severity, n.Message)
			r.notices[i]++
		}
		c.notices = nil
		c.mu.Unlock()
	}
}

// notified reports what a session whose turn has ended was sent by NOTIFY.
func (r *tester) notified(session int) {
	c := r.clients[session]
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.notifications {
		from := "PID " + strconv.Itoa(int(n.PID))
		for i, o := range r.clients {
			if o.pc.PID() == n.PID {
				from = r.spec.sessions[i].name
			}
		}
		fmt.Fprintf(&r.out, "%s: NOTIFY \"%s\" with payload \"%s\" from %s\n",
			r.spec.sessions[session].name, n.Channel, n.Payload, from)
	}
	c.notifications = nil
}

var numberLike = regexp.MustCompile(`^[-0-9. ][-0-9.eE ]*$`)

// rows prints as libpq's PQprint does with header and align.
func (r *tester) rows(res *pgconn.Result) {
	n := len(res.FieldDescriptions)
	if n == 0 {
		return
	}
	width, left := make([]int, n), make([]bool, n)
	for j, fd := range res.FieldDescriptions {
		width[j] = len(fd.Name)
		for _, row := range res.Rows {
			v := string(row[j])
			width[j] = max(width[j], len(v))
			if v != "" && (!numberLike.MatchString(v) || v[len(v)-1] < '0' || v[len(v)-1] > '9') {
				left[j] = true
			}
		}
	}
	line := func(cell func(int) string, sep string) {
		cells := make([]string, n)
		for j := range cells {
			format := "%*s"
			if left[j] {
				format = "%-*s"
			}
			cells[j] = fmt.Sprintf(format, width[j], cell(j))
		}
		r.out.WriteString(strings.Join(cells, sep) + "\n")
	}
	line(func(j int) string { return res.FieldDescriptions[j].Name }, "|")
	line(func(j int) string { return strings.Repeat("-", width[j]) }, "+")
	for _, row := range res.Rows {
		line(func(j int) string { return string(row[j]) }, "|")
	}
	s := "s"
	if len(res.Rows) == 1 {
		s = ""
	}
	fmt.Fprintf(&r.out, "(%d row%s)\n\n", len(res.Rows), s)
}
