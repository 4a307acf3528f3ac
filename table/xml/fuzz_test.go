package xml_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/table/xml"
)

// FuzzCheck: no text makes Check panic or report without end, a document is content too, and what
// is content can stand in an element.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{
		`<?xml version="1.0" standalone="yes"?><a b="&lt;">x<!-- c --><![CDATA[d]]></a><?p q?>`,
		`<!DOCTYPE a [<!ENTITY % p "<!ELEMENT a ANY>">%p;<!ENTITY e "&#38;f;"><!ENTITY f "x">
		 <!ATTLIST a b (c|d) "c" e NOTATION (n) #IMPLIED><!NOTATION n PUBLIC "x">]><a b="&e;"/>`,
		"a]]>b&#x110000;&foo; <b c='1' c='2'></d> \x01",
		`<!DOCTYPE a [<!ENTITY e "&f;&f;"><!ENTITY f "&e;">]><a b="&e;">&e;</a>`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "")
		document := xml.Check(s, true, nil) == nil
		content := xml.Check(s, false, nil) == nil
		d, rest, problem := xml.Declared(s)
		if document && problem == "" {
			require.True(t, content, "%q", s)
		}
		if content && d == (xml.Declaration{}) && !strings.Contains(s, "<!DOCTYPE") {
			require.NoError(t, xml.Check("<a>"+rest+"</a>", false, nil), "%q", s)
		}
		xml.Output(s)
	})
}
