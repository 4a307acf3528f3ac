// Command dedup is Percolator's own example (Peng & Dabek, OSDI 2010, §2.2) as a program one can
// run: a store of documents that finds them by URL and by the hash of their contents.
//
// Writers store documents whose contents collide on purpose. Each document and, when its content is
// new, the entry hash → canonical URL are written in one transaction. Half of the writers are in
// the process that owns the database (embedded handle), half speak PostgreSQL's protocol to it.
// Again and again that process is killed with SIGKILL and started anew. At the end the program
// proves that no content has two canonical URLs, that no acknowledged document is missing, and that
// every index agrees with its table.
//
// A writer looks for the content first and writes what follows from that. Two that store the same
// new content at the same time both find nothing, and what keeps the second from adding an entry
// depends on the level:
//
//   - read committed, the default: the primary key of the entries alone. The second INSERT waits
//     for the first transaction and gets 23505; without the key both would be stored.
//   - repeatable read, which is snapshot isolation: the key as well. Two inserts of different rows
//     are no conflict of writes.
//   - serializable: the second transaction gets 40001, with a key or without one.
//
// In each case the writer runs its transaction again, and then finds the entry.
//
//	go run ./examples/dedup                               # 8 writers, 10 kills
//	go run ./examples/dedup -isolation serializable
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
		dir = flag.String("data", "", "data directory (default: a temporary one, removed at "+
			"the end)")
		writers = flag.Int("writers", 8, "number of writers, half of them embedded")
		kills   = flag.Int("kills", 10, "how many times the server is killed")
		perLife = flag.Int("documents", 150, "documents acknowledged between two kills")
		child   = flag.String("child", "", "internal: own the data directory and serve on this "+
			"address")
		level = flag.String("isolation", "read committed",
			"isolation level of the writers' transactions")
		first = flag.Int("first", 0, "internal: number of the first document of each embedded "+
			"writer")
	)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if *child != "" {
		err = serve(ctx, *dir, *child, *level, *writers, *first)
	} else {
		err = run(ctx, options{dir: *dir, level: *level, writers: *writers, kills: *kills,
			perLife: *perLife})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "dedup:", err)
		os.Exit(1)
	}
}
