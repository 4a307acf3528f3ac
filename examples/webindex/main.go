// Command webindex is the application that Percolator was made for (Peng & Dabek, OSDI 2010, §1 and
// §2.4): an index of documents that is kept up to date document by document.
//
//	loaders ─▶ documents ─▶ parse ─┬─▶ links ────▶ clusters ─▶ export ─▶ serving table, outside
//	                               ├───────────────▶ ▲
//	                               └─▶ renders ─▶ rendered pages
//	           resources ──────────────▶ ▲
//
// Loaders store documents. An observer parses each one that has changed: it takes what the old text
// said out of all that is derived from it, and puts in what the new one says. Documents with the
// same text are a cluster, and the one with the best rank is its canonical one. Links are counted
// by target and anchor text, and belong to the cluster of their target. What changes in a cluster
// is exported. A page is rendered again when it or a resource that it is made of has changed.
//
// Popular targets and large clusters are hot: thousands of documents change their numbers. None of
// these writes them. They add to queues (package recipes, Combine), which are folded in batches.
//
// With -kill the process is killed with SIGKILL again and again. With -verify all derived tables,
// and the serving table, are compared in the end with what is computed at once from the documents.
//
//	go run ./examples/webindex -verify                           # 10,000 documents
//	go run ./examples/webindex -documents 100000 -kill 10 -verify
//	go run ./examples/webindex -folder ~/site -serving postgres://localhost/postgres -verify
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/pprof"
)

func main() {
	var o options
	flag.StringVar(&o.dir, "data", "",
		"directory for the databases (default: a temporary one, removed at the end)")
	flag.StringVar(&o.folder, "folder", "", "load the HTML files of this folder")
	flag.Uint64Var(&o.seed, "seed", 1, "of the documents that are made up")
	flag.IntVar(&o.documents, "documents", 10_000, "how many documents are made up")
	flag.IntVar(&o.recrawls, "recrawls", -1,
		"how many of them come again, changed or gone (default: a tenth)")
	flag.IntVar(&o.loaders, "loaders", 4, "number of loaders")
	flag.IntVar(&o.batch, "batch", 10, "documents in a transaction of a loader")
	flag.BoolVar(&o.wire, "wire", false, "loaders speak PostgreSQL's protocol")
	flag.StringVar(&o.serving, "serving", "",
		"URL of the database for the serving table (default: a minidb of its own)")
	flag.IntVar(&o.kills, "kill", 0, "how many times the process is killed")
	flag.BoolVar(&o.verify, "verify", false, "compare with a recomputation in the end")
	profile := flag.String("profile", "", "write a profile of the processor's time to this file")
	flag.BoolVar(&o.child, "child", false, "internal: be the process that is killed")
	flag.Parse()
	if o.recrawls < 0 {
		o.recrawls = o.documents / 10
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := profiled(*profile, func() error {
		if o.child {
			return index(ctx, o)
		}
		return run(ctx, o)
	}); err != nil {
		fmt.Fprintln(os.Stderr, "webindex:", err)
		os.Exit(1)
	}
}

// profiled runs f, and profiles it if there is a file for that.
func profiled(file string, f func() error) error {
	if file == "" {
		return f()
	}
	w, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(w); err != nil {
		return err
	}
	defer func() {
		pprof.StopCPUProfile()
		_ = w.Close()
	}()
	return f()
}
