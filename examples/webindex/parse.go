package main

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/minidb/minidb"
)

// page is what a document says.
type page struct {
	url       string
	rank      int // among documents with the same content the lowest is the canonical one
	title     string
	hash      string         // of the text, in hex: documents with the same one are duplicates
	links     map[link]int64 // how often there is one
	resources []string       // that it is made of when it is shown, sorted
}

type link struct{ target, anchor string }

// parseImage parses a row of documents; nil when there is none.
func parseImage(m *minidb.Image) (*page, error) {
	if m == nil {
		return nil, nil
	}
	var url, body string
	var rank int
	if err := m.Scan(&url, &rank, &body); err != nil {
		return nil, err
	}
	return parse(url, rank, body), nil
}

// parse reads HTML. Whatever it is, it says something: what is no HTML is text.
func parse(address string, rank int, body string) *page {
	p := &page{url: address, rank: rank, links: map[link]int64{}}
	base, err := url.Parse(address)
	if err != nil {
		base = &url.URL{}
	}
	r := &reader{page: p, base: base}
	z := html.NewTokenizer(strings.NewReader(body))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		r.token(kind, z)
	}
	slices.Sort(p.resources)
	p.resources = slices.Compact(p.resources)
	sum := sha256.Sum256([]byte(strings.Join(strings.Fields(r.text.String()), " ")))
	p.hash = hex.EncodeToString(sum[:16])
	p.title = strings.Join(strings.Fields(r.title.String()), " ")
	return p
}

// reader collects what the tokens of a document say.
type reader struct {
	page        *page
	base        *url.URL
	text, title strings.Builder
	anchor      strings.Builder
	target      string // of the link whose anchor is being read
	inTitle     bool
	hidden      bool // in a script or a style sheet
}

func (r *reader) token(kind html.TokenType, z *html.Tokenizer) {
	switch kind {
	case html.TextToken:
		if !r.hidden {
			r.read(z.Text())
		}
	case html.StartTagToken, html.SelfClosingTagToken:
		name, more := z.TagName()
		tag := atom.Lookup(name)
		attributes := map[string]string{}
		for more {
			var key, value []byte
			key, value, more = z.TagAttr()
			attributes[string(key)] = string(value)
		}
		r.start(tag, attributes)
	case html.EndTagToken:
		name, _ := z.TagName()
		r.end(atom.Lookup(name))
	}
}

func (r *reader) read(text []byte) {
	r.text.Write(text)
	if r.inTitle {
		r.title.Write(text)
	}
	if r.target != "" {
		r.anchor.Write(text)
	}
}

func (r *reader) start(tag atom.Atom, attributes map[string]string) {
	switch tag {
	case atom.Title:
		r.inTitle = true
	case atom.A:
		r.end(atom.A) // one that was not closed
		r.target = r.resolve(attributes["href"])
	case atom.Link:
		if attributes["rel"] == "stylesheet" {
			r.resource(attributes["href"])
		}
	case atom.Img, atom.Script:
		r.resource(attributes["src"])
	}
	r.hidden = tag == atom.Script || tag == atom.Style
	r.text.WriteByte(' ')
}

func (r *reader) end(tag atom.Atom) {
	switch tag {
	case atom.Title:
		r.inTitle = false
	case atom.Script, atom.Style:
		r.hidden = false
	case atom.A:
		if r.target != "" {
			text := strings.Join(strings.Fields(r.anchor.String()), " ")
			r.page.links[link{r.target, text}]++
		}
		r.target = ""
		r.anchor.Reset()
	}
	r.text.WriteByte(' ')
}

func (r *reader) resource(reference string) {
	if target := r.resolve(reference); target != "" {
		r.page.resources = append(r.page.resources, target)
	}
}

// resolve returns the address that a reference leads to, "" when it is no other document.
func (r *reader) resolve(reference string) string {
	u, err := r.base.Parse(strings.TrimSpace(reference))
	if reference == "" || err != nil || u.Scheme != r.base.Scheme {
		return ""
	}
	u.Fragment = ""
	if target := u.String(); strings.ToValidUTF8(target, "") == target {
		return target
	}
	return ""
}
