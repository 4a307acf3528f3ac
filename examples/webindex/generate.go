package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// web is a made-up web, the same for the same seed. A step of its crawl is a document that is
// fetched for the first time or again, one that is gone, or a resource with new content.
type web struct {
	seed      uint64
	documents int
	recrawls  int
}

// step is what a crawler brings.
type step struct {
	url, body string
	rank      int
	gone      bool
	resource  bool
}

func (w *web) steps() int { return w.documents + w.recrawls }

const (
	sitePages      = 100 // documents of a site, which share a style sheet
	imagePages     = 10  // documents for each image
	duplicates     = 0.25
	linksMax       = 16
	recrawlsGone   = 0.05
	recrawlsShared = 0.1 // of the steps behind the first ones, those that change a resource
	anchorsMax     = 12
)

// step makes step i: at first each document once, and then some again.
func (w *web) step(i int) step {
	r := rand.New(rand.NewPCG(w.seed, uint64(i)))
	if i < w.documents {
		return w.document(r, i)
	}
	if r.Float64() < recrawlsShared {
		return w.changedResource(r, i)
	}
	n := r.IntN(w.documents)
	if r.Float64() < recrawlsGone {
		return step{url: documentURL(n), gone: true}
	}
	return w.document(r, n)
}

func (w *web) changedResource(r *rand.Rand, i int) step {
	url := styleURL(r.IntN(w.documents/sitePages + 1))
	if r.IntN(2) == 0 {
		url = imageURL(r.IntN(w.documents/imagePages + 1))
	}
	return step{url: url, body: fmt.Sprintf("resource as of step %d", i), resource: true}
}

// document makes document n. It may be a copy of an older one: then another one with the same text
// is near the beginning of the numbers, where popular ones are.
func (w *web) document(r *rand.Rand, n int) step {
	content := r.Uint64()
	if r.Float64() < duplicates {
		content = uint64(powerLaw(r, w.documents))
	}
	d := rand.New(rand.NewPCG(w.seed+1, content))
	var b strings.Builder
	fmt.Fprintf(&b, "<html><head><title>Document %x</title>\n", content)
	fmt.Fprintf(&b, "<link rel=stylesheet href=%q></head><body>\n", styleURL(n/sitePages))
	for range 4 {
		b.WriteString("<p>")
		for range 20 {
			b.WriteString(words[d.IntN(len(words))])
			b.WriteByte(' ')
		}
	}
	fmt.Fprintf(&b, "<img src=%q>\n", imageURL(n/imagePages))
	for range d.IntN(linksMax + 1) {
		target := powerLaw(d, w.documents)
		fmt.Fprintf(&b, "<a href=%q>%s</a>\n", documentURL(target),
			anchorText(target, powerLaw(d, anchorsMax)))
	}
	b.WriteString("</body></html>")
	return step{url: documentURL(n), rank: 1 + r.IntN(1000), body: b.String()}
}

// powerLaw draws below n: small numbers are far more frequent than large ones.
func powerLaw(r *rand.Rand, n int) int {
	return min(int(math.Pow(float64(n), r.Float64())), n) - 1
}

func anchorText(target, k int) string {
	return words[(target+k)%len(words)] + " " + words[(target*7+k*3)%len(words)]
}

func documentURL(n int) string {
	return fmt.Sprintf("http://site%d.example/%d.html", n/sitePages, n)
}

func styleURL(site int) string { return fmt.Sprintf("http://site%d.example/style.css", site) }

func imageURL(n int) string { return fmt.Sprintf("http://images.example/%d.png", n) }

var words = strings.Fields(`about after again answer archive article author autumn back best
	board book
	bridge build calendar castle catalog center change chapter child city class clear cloud coast
	code color company contact corner country course custom daily data design detail discover
	document door early east edition engine entry evening event example explore family field first
	forest free fresh garden general gentle glass gold green ground group guide harbor history home
	house image index island item journal kitchen language large latest letter library light list
	local machine main map market member meadow middle modern morning mountain music nature new
	north note office old open order page paper part past people photo picture place plain plan
	price print public quick quiet rain reader record report review river road room school sea
	search season service short show side simple sound south spring start station stone story
	street summer table talk team travel tree update valley view village visit water west window
	winter wood word work world year young`)
