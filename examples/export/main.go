// Command export keeps a table of another database, a PostgreSQL or a minidb, equal to one of this
// one: package recipes, Export.
//
// Writers change the stock of products. An observer sends what has changed to the receiver, at
// least once, each product's states in order and collapsed to the newest, with a number by which
// the receiver drops repetitions. Again and again the process is killed with SIGKILL and started
// anew. The receiver refuses a negative quantity: such a product is given up after two attempts,
// blocks no other one, and is sent when it has changed again. In the end both tables are compared.
//
//	go run ./examples/export                                   # to a minidb of its own, 10 kills
//	go run ./examples/export -receiver postgres://localhost/shop
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

type options struct {
	dir      string
	receiver string // URL
	writers  int
	changes  int // of each writer
	products int
	kills    int
	child    bool // the process that is killed
}

func main() {
	var o options
	flag.StringVar(&o.dir, "data", "",
		"directory for the databases (default: a temporary one, removed at the end)")
	flag.StringVar(&o.receiver, "receiver", "",
		"URL of the receiver (default: a minidb of its own)")
	flag.IntVar(&o.writers, "writers", 4, "number of writers")
	flag.IntVar(&o.changes, "changes", 1000, "changes that each writer makes")
	flag.IntVar(&o.products, "products", 200, "number of products")
	flag.IntVar(&o.kills, "kills", 10, "how many times the process is killed")
	flag.BoolVar(&o.child, "child", false, "internal: be the process that is killed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if o.child {
		err = work(ctx, o)
	} else {
		err = run(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "export:", err)
		os.Exit(1)
	}
}
