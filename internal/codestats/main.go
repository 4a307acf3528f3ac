package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	list := flag.Bool("list", false, "list what the limits count")
	draw := flag.String("draw", "", "write the drawing of the packages to this file")
	flag.Parse()
	if err := run(*list, *draw); err != nil {
		fmt.Fprintln(os.Stderr, "codestats:", err)
		os.Exit(1)
	}
}

func run(list bool, draw string) error {
	if draw != "" {
		packages, err := goList("./...")
		if err != nil {
			return err
		}
		return os.WriteFile(draw, drawing(packages), 0o644)
	}
	packages, err := load("./...")
	if err != nil {
		return err
	}
	reached, err := reached()
	if err != nil {
		return err
	}
	var f figures
	for _, p := range packages {
		before := f.codeLines
		f.addPackage(p)
		if reached[p.ImportPath] {
			f.reachedLines += f.codeLines - before
		}
	}
	if list {
		f.printFindings(os.Stdout)
		return nil
	}
	f.print(os.Stdout)
	return nil
}
