package builtin

import (
	"errors"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/table/xml"
)

// xmlFunctions are those of the type xml; those with a syntax of their own are in xml_value.go.
var xmlFunctions = []def{
	f("xml(text) xml", func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		return checkXML(rt, a[0].S, rt.Format.XMLDocument)
	}).stable(),
	f("text(xml) text", func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		return a[0], nil
	}),
	f("xmlcomment(text) xml", xmlComment),
	n("xmlconcat2(xml,xml) xml", concatTwoXML),
	f("xmlvalidate(xml,text) bool", func(*expr.Runtime, []types.Datum) (types.Datum, error) {
		return types.Null, sqlerr.New(sqlerr.FeatureNotSupported, "xmlvalidate is not implemented")
	}),
	f("xml_is_well_formed(text) bool",
		func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
			return wellFormed(rt, a[0].S, rt.Format.XMLDocument)
		}).stable(),
	f("xml_is_well_formed_document(text) bool",
		func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
			return wellFormed(rt, a[0].S, true)
		}),
	f("xml_is_well_formed_content(text) bool",
		func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
			return wellFormed(rt, a[0].S, false)
		}),
}

// xmlAggregates concatenate.
var xmlAggregates = []aggDef{{sig: "xmlagg(xml) xml", make: newXMLAgg, ordered: true}}

// checkXML makes a value of a text.
func checkXML(rt *expr.Runtime, s string, document bool) (types.Datum, error) {
	return types.NewString(s), xml.Check(s, document, rt)
}

// wellFormed reports whether a text is a document, or content.
func wellFormed(rt *expr.Runtime, s string, document bool) (types.Datum, error) {
	err := xml.Check(s, document, rt)
	var e *sqlerr.Error
	if errors.As(err, &e) &&
		(e.Code == sqlerr.InvalidXMLDocument || e.Code == sqlerr.InvalidXMLContent) {
		return types.NewBool(false), nil
	}
	return types.NewBool(true), err
}

func xmlComment(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if s := a[0].S; strings.Contains(s, "--") || strings.HasSuffix(s, "-") {
		return types.Null, sqlerr.New(sqlerr.InvalidXMLComment, "invalid XML comment")
	}
	w := newWriter(rt)
	w.text("<!--")
	w.text(a[0].S)
	w.text("-->")
	return w.done()
}

// concatXML concatenates the values that are not NULL; it is NULL if all are.
func concatXML(rt *expr.Runtime, values []types.Datum) (types.Datum, error) {
	size, last, given := 0, types.Null, 0
	for _, d := range values {
		if !d.Null {
			size += len(d.S)
			last = d
			given++
		}
	}
	if given == 0 {
		return last, nil
	}
	if err := askLarge(rt, 2*size); err != nil {
		return types.Null, err
	}
	if size > maxTextLen {
		return types.Null, errTooLong()
	}
	var c xml.Concat
	for _, d := range values {
		if !d.Null {
			c.Add(d.S)
		}
	}
	return types.NewString(c.String()), rt.Tick(size)
}

// concatTwoXML is xmlconcat2: the other value if one is NULL.
func concatTwoXML(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	switch {
	case a[0].Null:
		return a[1], nil
	case a[1].Null:
		return a[0], nil
	}
	return concatXML(rt, a)
}

// xmlAgg is xmlagg: xmlconcat2 over the rows. A single row's value is the result as it is.
type xmlAgg struct {
	first string
	rows  int
	all   xml.Concat
}

func newXMLAgg([]*types.Type) expr.Accumulator { return &xmlAgg{} }

func (s *xmlAgg) Add(_ *expr.Runtime, a []types.Datum) error {
	if s.rows++; s.rows == 1 {
		s.first = a[0].S
		return nil
	}
	if s.rows == 2 {
		s.all.Add(s.first)
		s.first = ""
	}
	s.all.Add(a[0].S)
	s.all.Forget()
	if s.all.Len() > maxTextLen {
		return errTooLong()
	}
	return nil
}

func (s *xmlAgg) Result(*expr.Runtime) (types.Datum, error) {
	switch s.rows {
	case 0:
		return types.Null, nil
	case 1:
		return types.NewString(s.first), nil
	}
	return types.NewString(s.all.String()), nil
}

func (s *xmlAgg) Size() int { return len(s.first) + s.all.Len() }
