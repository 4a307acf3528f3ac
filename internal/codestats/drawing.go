package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// bands are the folders of the product from the top down; a package belongs to the longest that
// fits.
var bands = []string{"cmd", ".", "sql", "planner", "table", "txn", "kv", "internal"}

// notDrawn are tools, tests and what serves only them.
var notDrawn = []string{"tests", "examples", "internal/bench", "internal/codestats",
	"internal/ctxtest", "internal/lint", "internal/mutants", "internal/pgtest", "internal/ports",
	"internal/shell", "internal/sqllogic", "kv/kvtest", "kv/pebblekv/testfs",
	"txn/mvcc/mvcctest"}

// everywhere is the band whose packages may be imported from all others: lines to it would say
// nothing.
const everywhere = "internal"

// Sizes in pixels.
const (
	boxWidth, boxHeight   = 118, 26
	boxGap, rowGap        = 14, 30
	bandGap, bandLabel    = 18, 70
	drawingWidth, maxRows = 1240, 9
)

// box is a package in the drawing.
type box struct {
	name    string
	band    int
	row     int // within its band: packages import from rows below only
	x, y    float64
	imports []*box
}

// drawing returns the packages of the product as an SVG: a band for each folder, and in it each
// package above those that it imports. Of the imports those are drawn that no longer path implies.
func drawing(packages []*goPackage) []byte {
	boxes := boxesOf(packages)
	rows := rowsOf(boxes)
	place(rows)
	var b bytes.Buffer
	height := int(rows[len(rows)-1][0].y) + boxHeight + bandGap
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "+
		"font-family=\"sans-serif\" font-size=\"12\">\n",
		drawingWidth, height)
	fmt.Fprintf(&b, "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", drawingWidth, height)
	drawBands(&b, rows)
	for _, row := range rows {
		for _, from := range row {
			for _, to := range direct(from) {
				fmt.Fprintf(&b, "<path d=\"M%.0f %.0f C%.0f %.0f %.0f %.0f %.0f %.0f\" "+
					"fill=\"none\" stroke=\"#7a8fa6\" stroke-width=\"0.8\"/>\n",
					from.x+boxWidth/2, from.y+boxHeight, from.x+boxWidth/2, from.y+boxHeight+rowGap,
					to.x+boxWidth/2, to.y-rowGap, to.x+boxWidth/2, to.y)
			}
		}
	}
	for _, row := range rows {
		for _, p := range row {
			fmt.Fprintf(&b, "<rect x=\"%.0f\" y=\"%.0f\" width=\"%d\" height=\"%d\" rx=\"4\" "+
				"fill=\"#ffffff\" stroke=\"#2b4a6f\"/>\n",
				p.x, p.y, boxWidth, boxHeight)
			fmt.Fprintf(&b, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">%s</text>\n",
				p.x+boxWidth/2, p.y+boxHeight-9, label(p.name))
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func label(name string) string {
	switch name {
	case ".":
		return "minidb"
	case everywhere:
		return everywhere + " (imported from all above)"
	}
	return name
}

// boxesOf makes a box of each drawn package, sorted by name.
func boxesOf(packages []*goPackage) []*box {
	byPath := map[string]*box{}
	for _, p := range packages {
		if !under(p.rel(), notDrawn) {
			byPath[p.ImportPath] = &box{name: p.rel(), band: bandOf(p.rel())}
		}
	}
	for _, p := range packages {
		from := byPath[p.ImportPath]
		for _, path := range p.Imports {
			if to := byPath[path]; from != nil && to != nil && bands[to.band] != everywhere {
				from.imports = append(from.imports, to)
			}
		}
	}
	return slices.SortedFunc(maps.Values(byPath),
		func(a, b *box) int { return cmp.Compare(a.name, b.name) })
}

func under(name string, folders []string) bool {
	return slices.ContainsFunc(folders,
		func(f string) bool { return name == f || strings.HasPrefix(name, f+"/") })
}

func bandOf(name string) int {
	for i, band := range bands {
		if name == band || strings.HasPrefix(name, band+"/") {
			return i
		}
	}
	return slices.Index(bands, ".")
}

// rowsOf sorts the boxes into rows, from the top down: in its band, a package is above all that it
// imports.
func rowsOf(boxes []*box) (rows [][]*box) {
	for changed := true; changed; {
		changed = false
		for _, p := range boxes {
			for _, to := range p.imports {
				if to.band == p.band && to.row <= p.row {
					to.row, changed = p.row+1, true
				}
			}
		}
	}
	for band := range bands {
		for row := range maxRows {
			var in []*box
			for _, p := range boxes {
				if p.band == band && p.row == row {
					in = append(in, p)
				}
			}
			if len(in) > 0 {
				rows = append(rows, in)
			}
		}
	}
	return rows
}

// place gives each box its position. Within a row, boxes are in the order of the middle of those
// that import them, so that few lines cross.
func place(rows [][]*box) {
	importers := map[*box][]*box{}
	y, band := float64(bandGap), rows[0][0].band
	for _, row := range rows {
		if row[0].band != band {
			band = row[0].band
			y += bandGap
		}
		slices.SortStableFunc(row,
			func(a, b *box) int { return cmp.Compare(middle(importers[a]), middle(importers[b])) })
		total := float64(len(row)*(boxWidth+boxGap) - boxGap)
		x := bandLabel + (drawingWidth-bandLabel-total)/2
		for _, p := range row {
			p.x, p.y = x, y
			x += boxWidth + boxGap
			for _, to := range p.imports {
				importers[to] = append(importers[to], p)
			}
		}
		y += boxHeight + rowGap
	}
}

func middle(boxes []*box) float64 {
	sum := 0.0
	for _, b := range boxes {
		sum += b.x
	}
	return sum / float64(max(1, len(boxes)))
}

// direct are the imports of a package that none of its other imports has, directly or not.
func direct(p *box) (to []*box) {
	for _, candidate := range p.imports {
		implied := slices.ContainsFunc(p.imports,
			func(other *box) bool { return other != candidate && reaches(other, candidate) })
		if !implied {
			to = append(to, candidate)
		}
	}
	return to
}

func reaches(from, to *box) bool {
	return slices.ContainsFunc(from.imports,
		func(next *box) bool { return next == to || reaches(next, to) })
}

// drawBands draws the background of each folder with its name.
func drawBands(b *bytes.Buffer, rows [][]*box) {
	for i := 0; i < len(rows); {
		last := i
		for last+1 < len(rows) && rows[last+1][0].band == rows[i][0].band {
			last++
		}
		top, bottom := rows[i][0].y-bandGap/2-4, rows[last][0].y+boxHeight+bandGap/2+4
		fmt.Fprintf(b, "<rect x=\"4\" y=\"%.0f\" width=\"%d\" height=\"%.0f\" fill=\"#eef3f8\"/>\n",
			top, drawingWidth-8, bottom-top)
		fmt.Fprintf(b, "<text x=\"12\" y=\"%.0f\" font-weight=\"bold\" "+
			"fill=\"#2b4a6f\">%s</text>\n",
			top+18, label(bands[rows[i][0].band]))
		i = last + 1
	}
}
