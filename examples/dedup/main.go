// Command dedup is Percolator's own example (Peng & Dabek, OSDI 2010, §2.2) as a program one can run:
// a store of documents that finds them by URL and by the hash of their contents.
//
// Writers store documents whose contents collide on purpose. Each document and, when its content is
// new, the entry hash → canonical URL are written in one transaction. Half of the writers are in the
// process that owns the database (embedded handle), half speak PostgreSQL's protocol to it. Again and
// again that process is killed with SIGKILL and started anew. At the end the program proves that no
// content has two canonical URLs, that no acknowledged document is missing, and that every index
// agrees with its table.
//
//	go run ./examples/dedup            # 8 writers, 10 kills
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	var (
		dir     = flag.String("data", "", "data directory (default: a temporary one, removed at the end)")
		writers = flag.Int("writers", 8, "number of writers, half of them embedded")
		kills   = flag.Int("kills", 10, "how many times the server is killed")
		perLife = flag.Int("documents", 150, "documents acknowledged between two kills")
		child   = flag.String("child", "", "internal: own the data directory and serve on this address")
		first   = flag.Int("first", 0, "internal: number of the first document of each embedded writer")
	)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if *child != "" {
		err = serve(ctx, *dir, *child, *writers, *first)
	} else {
		err = run(ctx, options{dir: *dir, writers: *writers, kills: *kills, perLife: *perLife})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "dedup:", err)
		os.Exit(1)
	}
}
