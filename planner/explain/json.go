package explain

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// JSON returns the plan in PostgreSQL's JSON form, with the same names in the same order.
func (p *Plan) JSON() string {
	w := &jsonWriter{p: p}
	w.open("[")
	w.open("{")
	w.key("Plan")
	w.node(p.root)
	w.millis("Planning Time", p.Planning)
	w.millis("Execution Time", p.Execution)
	w.close("}")
	w.close("]")
	return w.out.String()
}

// jsonWriter writes members in the order of the calls.
type jsonWriter struct {
	p     *Plan
	out   strings.Builder
	depth int
	next  bool // a member precedes
	keyed bool // a key was written last
}

// start begins a value: after its key, or on a line of its own.
func (w *jsonWriter) start() {
	if w.keyed {
		w.keyed = false
		return
	}
	if w.next {
		w.out.WriteByte(',')
	}
	if w.depth > 0 {
		w.out.WriteString("\n" + strings.Repeat("  ", w.depth))
	}
}

func (w *jsonWriter) open(bracket string) {
	w.start()
	w.out.WriteString(bracket)
	w.depth++
	w.next = false
}

func (w *jsonWriter) close(bracket string) {
	w.depth--
	w.out.WriteString("\n" + strings.Repeat("  ", w.depth) + bracket)
	w.next = true
}

func (w *jsonWriter) key(name string) {
	w.start()
	w.out.WriteString(quoted(name) + ": ")
	w.keyed = true
}

// member writes a member whose value is JSON already.
func (w *jsonWriter) member(name, value string) {
	w.key(name)
	w.out.WriteString(value)
	w.keyed, w.next = false, true
}

func (w *jsonWriter) millis(name string, d time.Duration) {
	if d != 0 {
		w.member(name, fmt.Sprintf("%.3f", millis(d)))
	}
}

func (w *jsonWriter) details(ds []Detail) {
	for _, d := range ds {
		switch {
		case d.Count:
			w.member(d.Label, d.Text)
			continue
		case d.List == nil:
			w.member(d.Label, quoted(d.Text))
			continue
		}
		items := make([]string, len(d.List))
		for i, s := range d.List {
			items[i] = quoted(s)
		}
		w.member(d.Label, "["+strings.Join(items, ", ")+"]")
	}
}

func (w *jsonWriter) node(n *node) {
	w.open("{")
	w.details(n.properties)
	if n.relation != "" {
		w.member("Parent Relationship", quoted(n.relation))
	}
	if n.name != "" {
		w.member("Subplan Name", quoted(n.name))
	}
	w.figures(&n.what)
	w.details(n.details)
	if len(n.children) > 0 {
		w.key("Plans")
		w.open("[")
		for _, c := range n.children {
			w.node(c)
		}
		w.close("]")
	}
	w.close("}")
}

func (w *jsonWriter) figures(f *figures) {
	if !w.p.o.HideCosts {
		w.member("Startup Cost", "0.00")
		w.member("Total Cost", fmt.Sprintf("%.2f", f.cost))
		w.member("Plan Rows", fmt.Sprintf("%.0f", f.rows))
		w.member("Plan Width", fmt.Sprint(f.width))
	}
	if w.p.o.Actual == nil {
		return
	}
	if !w.p.o.HideTiming {
		w.member("Actual Startup Time", fmt.Sprintf("%.3f", millis(f.startup)))
		w.member("Actual Total Time", fmt.Sprintf("%.3f", millis(f.elapsed)))
	}
	w.member("Actual Rows", fmt.Sprint(f.actual))
	w.member("Actual Loops", fmt.Sprint(f.loops))
}

func quoted(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string can always be encoded
	return strings.TrimSuffix(b.String(), "\n")
}
