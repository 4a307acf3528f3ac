package xml

import (
	"strings"
)

// doctype reads what follows <!DOCTYPE.
func (r *reader) doctype() {
	r.blanks()
	if r.name() == "" {
		r.fail("xmlParseDocTypeDecl : no DOCTYPE name !")
	}
	r.blanks()
	r.external = r.externalID(true)
	r.blanks()
	if r.accept("[") {
		r.blanks()
		r.declarations()
		if r.accept("]") {
			r.blanks()
		}
		if !r.accept(">") {
			r.fail("DOCTYPE improperly terminated")
		}
		return
	}
	if r.accept(">") {
		return
	}
	r.fail("DOCTYPE improperly terminated")
	_, n := r.char()
	r.i += n
}

// declarations reads those of a document type up to ], or to the end of a parameter entity. It
// reports whether all of it was declarations.
func (r *reader) declarations() bool {
	for r.goOn() && r.at(0) != ']' {
		from := r.i
		switch {
		case r.accept("%"):
			r.parameterReference()
		case r.looksAt("<?"):
			r.instruction()
		case r.looksAt("<!--"):
			r.comment()
		case r.accept("<!ELEMENT"):
			r.elementDeclaration()
		case r.accept("<!ATTLIST"):
			r.attributeList()
		case r.accept("<!ENTITY"):
			r.entityDeclaration()
		case r.accept("<!NOTATION"):
			r.notation()
		}
		if r.i == from {
			break
		}
		r.blanks()
	}
	if r.halted || r.at(0) == ']' || r.depth > 0 && r.i == len(r.s) {
		return true
	}
	r.fail("internal error: xmlParseInternalSubset: error detected in Markup declaration")
	return false
}

// expandedMax bounds the text of parameter entities, which is read at each reference: so many times
// the text, and expandedMin.
const (
	expandedMax = 10
	expandedMin = 1 << 20
)

// parameterReference reads what follows % where a declaration may stand.
func (r *reader) parameterReference() {
	name := r.name()
	if name == "" {
		r.fail("PEReference: no name")
		return
	}
	if !r.accept(";") {
		r.fail("PEReference: expecting ';'")
		return
	}
	e := r.parameters[name]
	if e == nil && (r.standalone || !r.external && !r.references) {
		r.fail("PEReference: %%%s; not found", name)
	}
	r.references = true
	if e == nil || e.external {
		return
	}
	r.expanded += len(e.text)
	if e.inside || r.depth >= entityDepthMax || r.expanded > expandedMin+expandedMax*len(r.s) {
		r.fail("Detected an entity reference loop")
		r.halted = true
		return
	}
	e.inside = true
	r.depth++
	inner := &reader{shared: r.shared, s: e.text}
	inner.blanks()
	if !inner.declarations() {
		r.halted = true
	}
	r.depth--
	e.inside = false
}

// space reads the blanks that must follow a part of a declaration.
func (r *reader) space(after string) bool {
	ok := r.blanks()
	if !ok {
		r.fail("Space required after %s", after)
	}
	return ok
}

func (r *reader) elementDeclaration() {
	if !r.space("'ELEMENT'") {
		return
	}
	if r.name() == "" {
		r.fail("xmlParseElementDecl: no name for Element")
		return
	}
	r.space("the element name")
	switch {
	case r.accept("EMPTY"), r.accept("ANY"):
	case r.accept("("):
		r.blanks()
		if r.accept("#PCDATA") {
			r.mixed()
		} else {
			r.children(1)
		}
	default:
		r.fail("xmlParseElementDecl: 'EMPTY', 'ANY' or '(' expected")
		return
	}
	r.blanks()
	if !r.accept(">") {
		r.fail("expected '>'")
	}
}

// mixed reads what follows (#PCDATA.
func (r *reader) mixed() {
	r.blanks()
	if r.accept(")") {
		r.accept("*")
		return
	}
	for r.accept("|") {
		r.blanks()
		if r.name() == "" {
			r.fail("xmlParseElementMixedContentDecl : Name expected")
			return
		}
		r.blanks()
	}
	if !r.accept(")*") {
		r.fail("MixedContentDecl : '|' or ')*' expected")
	}
}

// children reads a list of elements up to the parenthesis that closes it.
func (r *reader) children(depth int) bool {
	const most = 128
	if depth > most {
		r.fail("xmlParseElementChildrenContentDecl : depth %d too deep, use XML_PARSE_HUGE", depth)
		return false
	}
	separator := byte(0)
	for {
		r.blanks()
		switch {
		case r.accept("("):
			if !r.children(depth + 1) {
				return false
			}
		case r.name() == "":
			r.fail("ContentDecl : Name or '(' expected")
			return false
		default:
			r.occurrence()
		}
		r.blanks()
		if r.accept(")") {
			r.occurrence()
			return true
		}
		switch c := r.at(0); {
		case c != ',' && c != '|':
			r.fail("ContentDecl : ',' '|' or ')' expected")
			return false
		case separator == 0:
			separator = c
		case c != separator:
			r.fail("xmlParseElementChildrenContentDecl : '%c' expected", separator)
			return false
		}
		r.i++
	}
}

func (r *reader) occurrence() {
	if c := r.at(0); c == '?' || c == '*' || c == '+' {
		r.i++
	}
}

func (r *reader) attributeList() {
	r.space("'<!ATTLIST'")
	if r.name() == "" {
		r.fail("ATTLIST: no name for Element")
		return
	}
	r.blanks()
	for r.goOn() && r.at(0) != '>' {
		if r.name() == "" {
			r.fail("ATTLIST: no name for Attribute")
			break
		}
		if !r.space("the attribute name") || !r.attributeType() || !r.space("the attribute type") {
			break
		}
		r.attributeDefault()
		if r.at(0) != '>' && !r.space("the attribute default value") {
			break
		}
	}
	r.accept(">")
}

func (r *reader) attributeType() bool {
	for _, word := range []string{"CDATA", "IDREFS", "IDREF", "ID", "ENTITY", "ENTITIES",
		"NMTOKENS", "NMTOKEN"} {
		if r.accept(word) {
			return true
		}
	}
	of, start := "ATTLIST enumeration", "'(' required to start ATTLIST enumeration"
	word, item := r.token, "NmToken expected in ATTLIST enumeration"
	if r.accept("NOTATION") {
		if !r.space("'NOTATION'") {
			return false
		}
		of, start = "NOTATION declaration", "NOTATION: Name expected here"
		word, item = r.name, "Name expected in NOTATION declaration"
	}
	if r.at(0) != '(' {
		r.fail("%s", start)
		return false
	}
	for {
		r.i++
		r.blanks()
		if word() == "" {
			r.fail("%s", item)
			return false
		}
		r.blanks()
		if r.at(0) != '|' {
			break
		}
	}
	if !r.accept(")") {
		r.fail("')' required to finish %s", of)
	}
	return true
}

func (r *reader) attributeDefault() {
	switch {
	case r.accept("#REQUIRED"), r.accept("#IMPLIED"):
		return
	case r.accept("#FIXED"):
		r.space("'#FIXED'")
	}
	r.attributeValue()
}

func (r *reader) entityDeclaration() {
	r.space("'<!ENTITY'")
	parameter := r.accept("%")
	if parameter {
		r.space("'%%'")
	}
	name := r.name()
	if name == "" {
		r.fail("xmlParseEntityDecl: no name")
		return
	}
	r.space("the entity name")
	e := &entity{}
	ok := true
	if c := r.at(0); c == '"' || c == '\'' {
		e.text, ok = r.entityValue()
	} else {
		if e.external = r.externalID(true); !e.external {
			r.fail("Entity value required")
			ok = false
		}
		if !parameter {
			r.unparsed(e)
		}
	}
	r.blanks()
	if !r.accept(">") {
		r.fail("xmlParseEntityDecl: entity %s not terminated", name)
		r.halted = true
		return
	}
	if ok {
		r.declare(parameter, name, e)
	}
}

// unparsed reads NDATA name.
func (r *reader) unparsed(e *entity) {
	if r.at(0) != '>' && !r.blanks() {
		r.fail("Space required before 'NDATA'")
	}
	if r.accept("NDATA") {
		r.space("'NDATA'")
		r.name()
		e.unparsed = true
	}
}

// declare notes an entity; the first declaration of a name counts.
func (r *reader) declare(parameter bool, name string, e *entity) {
	of := &r.entities
	if parameter {
		of = &r.parameters
	}
	if *of == nil {
		*of = map[string]*entity{}
	}
	if (*of)[name] == nil {
		(*of)[name] = e
	}
}

// entityValue reads a quoted text and replaces its references to characters.
func (r *reader) entityValue() (string, bool) {
	quote := r.s[r.i]
	from := r.i + 1
	length := strings.IndexByte(r.s[from:], quote)
	if length < 0 {
		r.i = len(r.s)
		r.fail("EntityValue: \" or ' expected")
		return "", false
	}
	r.i = from + length + 1
	value := &reader{shared: r.shared, s: r.s[from : from+length]}
	var text strings.Builder
	for value.goOn() {
		c := value.at(0)
		switch {
		case value.looksAt("&#"):
			if c := value.characterReference(); c != 0 {
				text.WriteRune(c)
			}
		case c == '&' || c == '%':
			start := value.i
			value.i++
			if value.name() == "" || !value.accept(";") {
				r.fail("EntityValue: '%c' forbidden except for entities references", c)
				return "", false
			}
			if c == '%' && r.depth == 0 {
				r.fail("PEReferences forbidden in internal subset")
				return "", false
			}
			text.WriteString(value.s[start:value.i])
		default:
			text.WriteByte(c)
			value.i++
		}
	}
	return text.String(), true
}

func (r *reader) notation() {
	if !r.space("'<!NOTATION'") {
		return
	}
	if r.name() == "" {
		r.fail("NOTATION: Name expected here")
		return
	}
	if !r.space("the NOTATION name'") {
		return
	}
	r.externalID(false)
	r.blanks()
	if !r.accept(">") {
		r.fail("'>' required to close NOTATION declaration")
	}
}

// externalID reads SYSTEM "…" or PUBLIC "…" "…" and reports whether there is one; with strict the
// latter must have both parts.
func (r *reader) externalID(strict bool) bool {
	switch {
	case r.accept("SYSTEM"):
		r.space("'SYSTEM'")
	case r.accept("PUBLIC"):
		r.space("'PUBLIC'")
		public := r.literal(isPublic)
		if !public {
			r.fail("PUBLIC, the Public Identifier is missing")
		}
		if !strict {
			r.blanks()
			if c := r.at(0); c != '"' && c != '\'' {
				return public
			}
		} else {
			r.space("the Public Identifier")
		}
		if !r.literal(isChar) {
			r.fail("SYSTEM or PUBLIC, the URI is missing")
			return public
		}
		return true
	default:
		return false
	}
	if !r.literal(isChar) {
		r.fail("SYSTEM or PUBLIC, the URI is missing")
		return false
	}
	return true
}

// isPublic reports whether a public identifier may have a character.
func isPublic(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		c < 0x80 && strings.ContainsRune(" \r\n-'()+,./:=?;!*#@$_%", c)
}

// literal reads a quoted text and reports whether it began as one.
func (r *reader) literal(has func(rune) bool) bool {
	quote := r.at(0)
	if quote != '"' && quote != '\'' {
		r.fail("SystemLiteral \" or ' expected")
		return false
	}
	r.i++
	for r.goOn() {
		c, n := r.char()
		if c == rune(quote) || !has(c) {
			break
		}
		r.i += n
	}
	if r.at(0) != quote {
		r.fail("Unfinished System or Public ID \" or ' expected")
	} else {
		r.i++
	}
	return true
}
