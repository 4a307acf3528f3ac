package builtin

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/table/xml"
)

// The functions below are made for the constructs of SQL/XML, whose names are parts of the call.

// XMLElement returns XMLELEMENT of a name. The first arguments are the values of its attributes.
func XMLElement(name string, attributes []string, args []*types.Type) *expr.Func {
	return &expr.Func{
		Name: "xmlelement", Args: args, Returns: types.TXML, NotStrict: true,
		Volatility: writtenXML(args),
		Same:       madeFor{"xmlelement", fmt.Sprintf("%q", append([]string{name}, attributes...))},
		Scalar: func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
			w := &xmlWriter{writer: newWriter(rt), rt: rt}
			w.text("<" + name)
			for i, attribute := range attributes {
				if !a[i].Null {
					w.attribute(attribute, args[i], a[i])
				}
			}
			empty := true
			for i := len(attributes); i < len(a); i++ {
				if !a[i].Null {
					if empty {
						w.text(">")
					}
					empty = false
					w.value(args[i], a[i], true)
				}
			}
			if empty {
				w.text("/>")
			} else {
				w.text("</" + name + ">")
			}
			return w.done()
		},
	}
}

// XMLForest returns XMLFOREST: an element for each argument that is not NULL.
func XMLForest(names []string, args []*types.Type) *expr.Func {
	return &expr.Func{
		Name: "xmlforest", Args: args, Returns: types.TXML, NotStrict: true,
		Volatility: writtenXML(args), Same: madeFor{"xmlforest", fmt.Sprintf("%q", names)},
		Scalar: func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
			w := &xmlWriter{writer: newWriter(rt), rt: rt}
			any := false
			for i, d := range a {
				if !d.Null {
					any = true
					w.text("<" + names[i] + ">")
					w.value(args[i], d, true)
					w.text("</" + names[i] + ">")
				}
			}
			if !any {
				return types.Null, w.err
			}
			return w.done()
		},
	}
}

// writtenXML returns the volatility of values of types being written as XML.
func writtenXML(args []*types.Type) expr.Volatility {
	v := expr.Immutable
	for _, t := range args {
		v = max(v, expr.CastVolatility(t, types.TText))
		if t = t.Base(); t.Family == types.Bytes || t.Elem != nil && t.Elem.Family == types.Bytes {
			v = expr.Stable // by xmlbinary
		}
	}
	return v
}

// XMLConcat is XMLCONCAT.
var XMLConcat = &expr.Func{Name: "xmlconcat", Args: []*types.Type{types.TXML}, Variadic: true,
	Returns: types.TXML, NotStrict: true, Scalar: concatXML}

// XMLParse returns XMLPARSE of a document, or of content.
func XMLParse(document bool) *expr.Func {
	return &expr.Func{
		Name: "xmlparse", Args: []*types.Type{types.TText}, Returns: types.TXML,
		Same: madeFor{"xmlparse", document},
		Scalar: func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
			return checkXML(rt, a[0].S, document)
		},
	}
}

// XMLSerialize returns XMLSERIALIZE as text, of a document or of content.
func XMLSerialize(document bool) *expr.Func {
	return &expr.Func{
		Name: "xmlserialize", Args: []*types.Type{types.TXML}, Returns: types.TText,
		Same: madeFor{"xmlserialize", document},
		Scalar: func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
			if document {
				is, err := xml.IsDocument(a[0].S, rt)
				if err == nil && !is {
					err = sqlerr.New(sqlerr.NotAnXMLDocument, "not an XML document")
				}
				if err != nil {
					return types.Null, err
				}
			}
			return a[0], nil
		},
	}
}

// XMLIsDocument is IS DOCUMENT.
var XMLIsDocument = &expr.Func{Name: "is document", Args: []*types.Type{types.TXML},
	Returns: types.TBool,
	Scalar: func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		is, err := xml.IsDocument(a[0].S, rt)
		return types.NewBool(is), err
	}}

// XMLPI returns XMLPI of a target, whose argument is optional.
func XMLPI(target string) *expr.Func {
	return &expr.Func{
		Name: "xmlpi", Args: []*types.Type{types.TText}, Variadic: true, Returns: types.TXML,
		NotStrict: true, Same: madeFor{"xmlpi", target},
		Scalar: func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
			const invalid = "invalid XML processing instruction"
			if strings.EqualFold(target, "xml") {
				return types.Null, sqlerr.New(sqlerr.SyntaxError, invalid).WithDetail(
					"XML processing instruction target name cannot be \"%s\".", target)
			}
			w := newWriter(rt)
			w.text("<?" + target)
			for _, d := range a {
				if d.Null {
					return types.Null, nil
				}
				if strings.Contains(d.S, "?>") {
					return types.Null, sqlerr.New(sqlerr.InvalidXMLInstruction, invalid).WithDetail(
						"XML processing instruction cannot contain \"?>\".")
				}
				w.text(" ")
				w.text(strings.TrimLeft(d.S, " "))
			}
			w.text("?>")
			return w.done()
		},
	}
}

// XMLRoot returns XMLROOT of a value and a version, which may be NULL. standalone nil leaves what
// the value says of that.
func XMLRoot(standalone *xml.Standalone) *expr.Func {
	said := "left"
	if standalone != nil {
		said = fmt.Sprint(*standalone)
	}
	return &expr.Func{
		Name: "xmlroot", Args: []*types.Type{types.TXML, types.TText}, Returns: types.TXML,
		NotStrict: true, Same: madeFor{"xmlroot", said},
		Scalar: func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
			if a[0].Null {
				return types.Null, nil
			}
			if err := askLarge(rt, len(a[0].S)); err != nil {
				return types.Null, err
			}
			return types.NewString(xml.WithRoot(a[0].S, a[1].S, standalone)), nil
		},
	}
}

// xmlWriter writes SQL values as XML.
type xmlWriter struct {
	*writer
	rt *expr.Runtime
}

// value writes a value; escaped replaces the characters that XML gives a meaning, but in xml.
func (w *xmlWriter) value(t *types.Type, d types.Datum, escaped bool) {
	t = t.Base()
	switch {
	case t.Family == types.Array && t.Elem != nil:
		for _, e := range d.Arr.Elems {
			if !e.Null {
				w.text("<element>")
				w.value(t.Elem, e, true)
				w.text("</element>")
			}
		}
	case t.Family == types.Bytes && w.rt.Format.XMLHex:
		w.text(strings.ToUpper(hex.EncodeToString([]byte(d.S))))
	case t.Family == types.Bytes:
		w.base64(d.S)
	case t.Family == types.Date || t.Family == types.Timestamp:
		w.moment(t, d)
	case t.Family == types.Bool:
		w.text(map[bool]string{true: "true", false: "false"}[d.Bool()])
	case t.Family == types.XML || !escaped:
		w.text(textOf(w.rt, t, d))
	default:
		w.text(xml.Escape(textOf(w.rt, t, d)))
	}
}

// base64 writes bytes in lines of 72 characters.
func (w *xmlWriter) base64(s string) {
	const perLine = 72 / 4 * 3
	for len(s) > perLine {
		w.text(base64.StdEncoding.EncodeToString([]byte(s[:perLine])))
		w.text("\r\n")
		s = s[perLine:]
	}
	w.text(base64.StdEncoding.EncodeToString([]byte(s)))
}

// moment writes a date or timestamp as XML Schema wants it, which has no infinities.
func (w *xmlWriter) moment(t *types.Type, d types.Datum) {
	if types.IsInfinite(d.I) && w.err == nil {
		what := "date"
		if t.Family == types.Timestamp {
			what = "timestamp"
		}
		w.err = sqlerr.New(sqlerr.DatetimeFieldOverflow, "%s out of range", what).WithDetail(
			"XML does not support infinite %s values.", what)
		return
	}
	w.text(isoText(w.rt, t, d))
}

// attribute writes an attribute. As PostgreSQL's library does, it writes characters beyond ASCII as
// references.
func (w *xmlWriter) attribute(name string, t *types.Type, d types.Datum) {
	value := &xmlWriter{writer: newWriter(w.rt), rt: w.rt}
	value.value(t, d, false)
	text, err := value.done()
	if err != nil {
		w.err = err
		return
	}
	w.text(" " + name + `="`)
	s := text.S
	for len(s) > 0 {
		n := strings.IndexFunc(s, func(c rune) bool {
			return c >= utf8.RuneSelf || strings.ContainsRune("\"<>&\n\r\t", c)
		})
		if n < 0 {
			n = len(s)
		}
		w.text(s[:n])
		if s = s[n:]; s != "" {
			c, size := utf8.DecodeRuneInString(s)
			w.text(attributeCharacter(c))
			s = s[size:]
		}
	}
	w.text(`"`)
}

func attributeCharacter(c rune) string {
	switch c {
	case '"':
		return "&quot;"
	case '<':
		return "&lt;"
	case '>':
		return "&gt;"
	case '&':
		return "&amp;"
	case '\n', '\r', '\t':
		return fmt.Sprintf("&#%d;", c)
	}
	return fmt.Sprintf("&#x%X;", c)
}
