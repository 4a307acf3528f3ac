package isolation

import (
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// anomaly is a case of Hermitage (github.com/ept/hermitage): lines "N SQL" for transaction N.
type anomaly struct {
	name     string
	script   string
	happened func(h *history) bool
}

const (
	begin2 = "1 begin\n2 begin\n"
	begin3 = begin2 + "3 begin\n"
)

var anomalies = []anomaly{
	{"G0", begin2 + `1 update test set value = 11 where id = 1
2 update test set value = 12 where id = 1
1 update test set value = 21 where id = 2
1 commit
2 update test set value = 22 where id = 2
2 commit`, func(h *history) bool { return h.final != "1=11 2=21" && h.final != "1=12 2=22" }},
	{"G1a", begin2 + `1 update test set value = 101 where id = 1
2 select * from test
1 rollback
2 select * from test
2 commit`, func(h *history) bool { return h.saw(2, "1=101") }},
	{"G1b", begin2 + `1 update test set value = 101 where id = 1
2 select * from test
1 update test set value = 11 where id = 1
1 commit
2 select * from test
2 commit`, func(h *history) bool { return h.saw(2, "1=101") }},
	{"G1c", begin2 + `1 update test set value = 11 where id = 1
2 update test set value = 22 where id = 2
1 select * from test where id = 2
2 select * from test where id = 1
1 commit
2 commit`, func(h *history) bool { return h.saw(1, "2=22") && h.saw(2, "1=11") }},
	{"OTV", begin3 + `1 update test set value = 11 where id = 1
1 update test set value = 19 where id = 2
2 update test set value = 12 where id = 1
1 commit
3 select * from test
2 update test set value = 18 where id = 2
3 select * from test
2 commit
3 select * from test
3 commit`, func(h *history) bool {
		whole := []string{"1=10 2=20", "1=11 2=19", "1=12 2=18"}
		return slices.ContainsFunc(h.read[3],
			func(r string) bool { return !slices.Contains(whole, r) })
	}},
	{"PMP", begin2 + `1 select * from test where value = 30
2 insert into test (id, value) values (3, 30)
2 commit
1 select * from test where value % 3 = 0
1 commit`, func(h *history) bool { return h.saw(1, "3=30") }},
	{"PMP-write", begin2 + `1 update test set value = value + 10
2 delete from test where value = 20
1 commit
2 select * from test where value = 20
2 commit`, func(h *history) bool { return h.committed(2) && h.saw(2, "1=20") }},
	{"P4", begin2 + `1 select * from test where id = 1
2 select * from test where id = 1
1 update test set value = 11 where id = 1
2 update test set value = 11 where id = 1
1 commit
2 commit`, func(h *history) bool { return h.committed(1, 2) }},
	{"G-single", begin2 + `1 select * from test where id = 1
2 select * from test where id = 1
2 select * from test where id = 2
2 update test set value = 12 where id = 1
2 update test set value = 18 where id = 2
2 commit
1 select * from test where id = 2
1 commit`, func(h *history) bool { return h.saw(1, "1=10") && h.saw(1, "2=18") }},
	{"G-single-dependencies", begin2 + `1 select * from test where value % 5 = 0
2 update test set value = 12 where value = 10
2 commit
1 select * from test where value % 3 = 0
1 commit`, func(h *history) bool { return h.saw(1, "1=12") }},
	{"G-single-write-1", begin2 + `1 select * from test where id = 1
2 select * from test
2 update test set value = 12 where id = 1
2 update test set value = 18 where id = 2
2 commit
1 delete from test where value = 20
1 select * from test where id = 2
1 commit`, func(h *history) bool { return h.committed(1) && h.saw(1, "1=10") && h.saw(1, "2=18") }},
	{"G-single-write-2", begin2 + `1 select * from test where id = 1
2 select * from test
2 update test set value = 12 where id = 1
1 delete from test where value = 20
2 update test set value = 18 where id = 2
1 rollback
2 commit`, func(h *history) bool { return h.final != "1=12 2=18" && h.final != "1=10 2=20" }},
	{"G2-item", begin2 + `1 select * from test where id in (1,2)
2 select * from test where id in (1,2)
1 update test set value = 11 where id = 1
2 update test set value = 21 where id = 2
1 commit
2 commit`, func(h *history) bool { return h.committed(1, 2) }},
	{"G2", begin2 + `1 select * from test where value % 3 = 0
2 select * from test where value % 3 = 0
1 insert into test (id, value) values (3, 30)
2 insert into test (id, value) values (4, 42)
1 commit
2 commit`, func(h *history) bool { return h.committed(1, 2) }},
	{"G2-two-edges", `1 begin
1 select * from test
2 begin
2 update test set value = value + 5 where id = 2
2 commit
3 begin
3 select * from test
3 commit
1 update test set value = 0 where id = 1
1 commit`, func(h *history) bool { return h.committed(1, 2, 3) && h.saw(3, "2=25") }},
}

// allowed is what PostgreSQL 15 lets happen.
var allowed = map[string]string{
	"read committed": "PMP PMP-write P4 G-single G-single-dependencies G-single-write-1 G2-item " +
		"G2 G2-two-edges",
	"repeatable read": "G2-item G2 G2-two-edges",
	"serializable":    "",
}

func TestHermitage(t *testing.T) {
	cfg := serve(t, "")
	control := dial(t, cfg)
	defer control.close()
	for level, names := range allowed {
		for _, a := range anomalies {
			t.Run(level+"/"+a.name, func(t *testing.T) {
				control.t = t
				control.must("drop table if exists test; create table test (id int primary key, " +
					"value int);insert into test (id, value) values (1, 10), (2, 20)")
				h := &history{read: map[int][]string{}, ended: map[int]string{}}
				sessions := map[int]*player{}
				for n := 1; n <= 3; n++ {
					p := &player{client: dial(t, cfg), n: n, h: h, level: level}
					defer p.close()
					sessions[n] = p
				}
				for _, line := range strings.Split(a.script, "\n") {
					p := sessions[int(line[0]-'0')]
					p.queue = append(p.queue, line[2:])
					for moved := true; moved; { // what one step ends may let others go on
						moved = false
						for n := 1; n <= 3; n++ {
							moved = sessions[n].step(control) || moved
						}
					}
				}
				h.final = readable(control.must("select id, value from test")[0].Rows)
				require.Equal(t, slices.Contains(strings.Fields(names), a.name), a.happened(h),
					"%+v", h)
			})
		}
	}
}

// player is a transaction of a script; its statements queue up while it is blocked.
type player struct {
	*client
	n       int
	h       *history
	level   string
	queue   []string
	current string
}

// step moves the player on, and reports whether it did.
func (p *player) step(watcher *client) bool {
	if p.current == "" {
		if len(p.queue) == 0 || p.h.ended[p.n] != "" {
			return false
		}
		p.current, p.queue = p.queue[0], p.queue[1:]
		sql := p.current
		if sql == "begin" {
			sql = "begin isolation level " + p.level
		}
		p.start(sql)
	}
	if !p.settled(watcher) {
		return false
	}
	switch o := p.got; {
	case o.err != nil:
		require.Contains(p.t, []string{"40001", "40P01"}, state(o.err), "%s: %v", p.current, o.err)
		p.h.ended[p.n] = state(o.err)
		_ = p.run("rollback")
	case p.current == "commit", p.current == "rollback":
		p.h.ended[p.n] = p.current
	case strings.HasPrefix(p.current, "select"):
		p.h.read[p.n] = append(p.h.read[p.n], readable(o.results[0].Rows))
	}
	p.current = ""
	return true
}

// history is what the transactions of a script saw.
type history struct {
	read  map[int][]string // reads as "id=value …"
	ended map[int]string   // "commit", "rollback" or the SQLSTATE
	final string
}

func (h *history) committed(ns ...int) bool {
	return !slices.ContainsFunc(ns, func(n int) bool { return h.ended[n] != "commit" })
}

func (h *history) saw(n int, row string) bool {
	return slices.Contains(strings.Fields(strings.Join(h.read[n], " ")), row)
}

func readable(rows [][][]byte) string {
	var out []string
	for _, r := range rows {
		out = append(out, string(r[0])+"="+string(r[1]))
	}
	sort.Strings(out)
	return strings.Join(out, " ")
}
