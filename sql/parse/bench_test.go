package parse

import (
	"strings"
	"testing"
)

func BenchmarkParse(b *testing.B) {
	for name, text := range map[string]string{
		"point":  "select a, b from t where id = $1",
		"insert": "insert into t (a, b, c) values ($1, 'x', 3)",
		"insert100": "insert into t (a, b, c) values (1, 'x', 3)" +
			strings.Repeat(", (2, 'y', -4.5)", 99),
		"update": "update accounts set balance = balance + $1 where id = $2",
		"join": "select o.id, c.name, sum(l.qty * l.price) from orders o join customers c on " +
			"c.id = o.customer_id left join lines l on l.order_id = o.id where o.created >= $1 " +
			"and c.region in ('a', 'b') group by o.id, c.name having count(*) > 1 order by 3 " +
			"desc limit 10",
		"in1000": "select * from t where a in (1" + strings.Repeat(", 2", 999) + ")",
		"ddl": "create table t (id bigint primary key, a text not null default '', check (id " +
			"> 0))",
		"begin": "begin",
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(b.Context(), text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLex(b *testing.B) {
	const text = "select a, b from t where id = $1 and name = 'x' limit 5"
	var l lexer
	b.ReportAllocs()
	for b.Loop() {
		l.lex(b.Context(), text)
	}
}
