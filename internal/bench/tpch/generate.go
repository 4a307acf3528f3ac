package tpch

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"
)

// Generator makes the rows of a scale: 866,000 at 0.1. Each table has dice of its own, so a table
// is the same whatever was made before it.
type Generator struct {
	Scale float64
	Seed  uint64
}

// Write writes the rows of a table in COPY's text format.
func (g Generator) Write(w io.Writer, table string) error {
	buffered := bufio.NewWriterSize(w, 64<<10)
	out := &rows{w: buffered, g: g}
	switch table {
	case "region":
		out.regions()
	case "nation":
		out.nations()
	case "supplier":
		out.suppliers()
	case "customer":
		out.customers()
	case "part":
		out.parts()
	case "partsupp":
		out.offers()
	case "orders", "lineitem":
		out.orders(table == "lineitem")
	default:
		return fmt.Errorf("tpch: no table %s", table)
	}
	return buffered.Flush()
}

// rows writes the rows of a table.
type rows struct {
	w *bufio.Writer // keeps its first error, which Flush returns
	g Generator
	*rand.Rand
}

// begin gives a table its dice. Orders share theirs with their lines.
func (r *rows) begin(n uint64) { r.Rand = rand.New(rand.NewPCG(r.g.Seed, n)) }

// of is how many rows a table has of which there are n at scale 1. With fewer than a hundred
// suppliers a part could have one of them twice.
func (g Generator) of(n int) int { return max(int(g.Scale*float64(n)), 100) }

func (g Generator) suppliers() int { return g.of(10_000) }
func (g Generator) parts() int     { return g.of(200_000) }
func (g Generator) customers() int { return g.of(150_000) }

func (r *rows) row(format string, fields ...any) {
	fmt.Fprintf(r.w, strings.ReplaceAll(format, " ", "\t")+"\n", fields...)
}

func (r *rows) between(low, high int) int { return low + r.IntN(high-low+1) }

func (r *rows) one(of []string) string { return of[r.IntN(len(of))] }

// comment is a text of whole and cut sentences, of a random length.
func (r *rows) comment(least, most int) string {
	n := r.between(least, most)
	b := make([]byte, 0, n+20)
	for kind := r.IntN(4); len(b) < n; kind = (kind + 1) % 4 {
		b = append(append(b, r.one(sentence[kind])...), ' ')
	}
	return strings.TrimSpace(strings.ReplaceAll(string(b[:n]), "_", " "))
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789, "

func (r *rows) address() string {
	b := make([]byte, r.between(10, 40))
	for i := range b {
		b[i] = letters[r.IntN(len(letters))]
	}
	return string(b)
}

func (r *rows) phone(nation int) string {
	return fmt.Sprintf("%d-%d-%d-%d", nation+10, r.between(100, 999), r.between(100, 999),
		r.between(1000, 9999))
}

// cents prints an amount of hundredths.
type cents int

func (c cents) String() string {
	if c < 0 {
		return "-" + (-c).String()
	}
	return fmt.Sprintf("%d.%02d", int(c)/100, int(c)%100)
}

func (r *rows) balance() cents { return cents(r.between(-99_999, 999_999)) }

func (r *rows) regions() {
	r.begin(1)
	for i, name := range regions {
		r.row("%d %s %s", i, name, r.comment(31, 115))
	}
}

func (r *rows) nations() {
	r.begin(2)
	for i, nation := range nations {
		last := len(nation) - 1
		r.row("%d %s %s %s", i, nation[:last], nation[last:], r.comment(31, 114))
	}
}

// suppliers: of 2,000 one has complaints of customers in its comment, and one has praise.
func (r *rows) suppliers() {
	r.begin(3)
	for key := 1; key <= r.g.suppliers(); key++ {
		nation, comment := r.IntN(len(nations)), r.comment(25, 60)
		switch r.IntN(2000) {
		case 0:
			comment = "Customer " + comment + " Complaints"
		case 1:
			comment = "Customer " + comment + " Recommends"
		}
		r.row("%d Supplier#%09d %s %d %s %v %s", key, key, r.address(), nation, r.phone(nation),
			r.balance(), comment)
	}
}

func (r *rows) customers() {
	r.begin(4)
	for key := 1; key <= r.g.customers(); key++ {
		nation := r.IntN(len(nations))
		r.row("%d Customer#%09d %s %d %s %v %s %s", key, key, r.address(), nation,
			r.phone(nation), r.balance(), r.one(segments), r.comment(29, 116))
	}
}

func (r *rows) parts() {
	r.begin(5)
	for key := 1; key <= r.g.parts(); key++ {
		var name []string
		for _, i := range r.Perm(len(colours))[:5] {
			name = append(name, colours[i])
		}
		maker := r.between(1, 5)
		r.row("%d %s Manufacturer#%d Brand#%d%d %s %d %s %v %s", key, strings.Join(name, " "),
			maker, maker, r.between(1, 5),
			r.one(kinds[0])+" "+r.one(kinds[1])+" "+r.one(kinds[2]), r.between(1, 50),
			r.one(containers[0])+" "+r.one(containers[1]), price(key), r.comment(5, 22))
	}
}

func price(part int) cents { return cents(90_000 + part/10%20_001 + 100*(part%1000)) }

// supplier is the i-th of the four suppliers of a part, which spread the parts over all of them.
func (g Generator) supplier(part, i int) int {
	s := g.suppliers()
	return (part+i*(s/4+(part-1)/s))%s + 1
}

func (r *rows) offers() {
	r.begin(6)
	for part := 1; part <= r.g.parts(); part++ {
		for i := range 4 {
			r.row("%d %d %d %v %s", part, r.g.supplier(part, i), r.between(1, 9999),
				cents(r.between(100, 100_000)), r.comment(49, 198))
		}
	}
}

var (
	first   = time.Date(1992, 1, 1, 0, 0, 0, 0, time.UTC)
	current = day(time.Date(1995, 6, 17, 0, 0, 0, 0, time.UTC).Sub(first).Hours() / 24)
)

// day counts from first, the day of the first orders; current is the day on which the tables are as
// they are: what was to arrive later is still open.
type day int

func (d day) String() string { return first.AddDate(0, 0, int(d)).Format(time.DateOnly) }

// lastOrder is 151 days before the end of 1998.
const lastOrder = 2405

// orders writes the orders or their lines, for both of which the same dice are cast. Of 32 keys the
// first eight are used, and a third of the customers has no order.
func (r *rows) orders(lines bool) {
	r.begin(7)
	for i := range r.g.of(1_500_000) {
		key, customer := i/8*32+i%8+1, r.between(1, r.g.customers())
		for customer%3 == 0 {
			customer = r.between(1, r.g.customers())
		}
		date := day(r.between(0, lastOrder))
		n := r.between(1, 7)
		open, total := 0, 0
		for line := 1; line <= n; line++ {
			l := r.line(date)
			if l.shipped > current {
				open++
			}
			total += l.price * (100 + l.tax) / 100 * (100 - l.discount) / 100
			if lines {
				r.writeLine(key, line, l)
			}
		}
		status := "P"
		switch open {
		case 0:
			status = "F"
		case n:
			status = "O"
		}
		priority, clerk := r.one(priorities), r.between(1, r.g.of(1000))
		comment := r.comment(19, 78)
		if !lines {
			r.row("%d %d %s %v %v %s Clerk#%09d 0 %s", key, customer, status, cents(total), date,
				priority, clerk, comment)
		}
	}
}

// line is a line of an order; amounts are hundredths.
type line struct {
	part, supplier, quantity, price, discount, tax int
	returned, mode, instruction, comment           string
	shipped, committed, received                   day
}

func (r *rows) line(ordered day) line {
	l := line{part: r.between(1, r.g.parts()), quantity: r.between(1, 50),
		discount: r.IntN(11), tax: r.IntN(9), shipped: ordered + day(r.between(1, 121)),
		committed: ordered + day(r.between(30, 90)), returned: "N"}
	l.supplier = r.g.supplier(l.part, r.IntN(4))
	l.price = l.quantity * int(price(l.part))
	l.received = l.shipped + day(r.between(1, 30))
	if l.received <= current {
		l.returned = r.one([]string{"A", "R"})
	}
	l.instruction, l.mode = r.one(instructions), strings.ReplaceAll(r.one(modes), "_", " ")
	l.comment = r.comment(10, 43)
	return l
}

func (r *rows) writeLine(order, number int, l line) {
	status := "F"
	if l.shipped > current {
		status = "O"
	}
	r.row("%d %d %d %d %d %v %v %v %s %s %v %v %v %s %s %s", order, l.part, l.supplier, number,
		l.quantity, cents(l.price), cents(l.discount), cents(l.tax), l.returned, status, l.shipped,
		l.committed, l.received, l.instruction, l.mode, l.comment)
}
