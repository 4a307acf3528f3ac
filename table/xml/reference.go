package xml

// entity is what <!ENTITY …> declares. Its text has its character references replaced.
type entity struct {
	text     string
	external bool // its text is elsewhere
	unparsed bool // with NDATA
	checked  bool // its text as content
	plain    bool // its text was read as that of an attribute
	inside   bool // it is being checked
}

var predefined = map[string]bool{"lt": true, "gt": true, "amp": true, "quot": true, "apos": true}

// reference reads & in content.
func (r *reader) reference() {
	if r.looksAt("&#") {
		r.characterReference()
		return
	}
	name, e := r.entityReference()
	switch {
	case e == nil || e.external || e.checked:
		return
	case e.inside || r.depth >= entityDepthMax:
		r.fail("Detected an entity reference loop")
		r.halted = true
		return
	}
	e.inside = true
	r.depth++
	before := r.errors
	inner := &reader{shared: r.shared, s: e.text}
	inner.fragment()
	r.depth--
	e.inside, e.checked = false, true
	if r.errors > before {
		r.fail("Entity '%s' failed to parse", name)
	}
}

// attributeReference reads & in the value of an attribute.
func (r *reader) attributeReference() {
	if r.looksAt("&#") {
		r.characterReference()
		return
	}
	name, e := r.entityReference()
	switch {
	case e == nil || e.plain:
		return
	case e.external:
		r.fail("Attribute references external entity '%s'", name)
		return
	case e.inside || r.depth >= entityDepthMax:
		r.fail("Detected an entity reference loop")
		r.halted = true
		return
	}
	e.inside = true
	r.depth++
	inner := &reader{shared: r.shared, s: e.text, above: r}
	inner.replacement(name)
	r.depth--
	e.inside, e.plain = false, true
}

// replacement reads the text of an entity within the value of an attribute.
func (r *reader) replacement(name string) {
	for r.goOn() {
		switch c, n := r.char(); c {
		case '<':
			r.fail("'<' in entity '%s' is not allowed in attributes values", name)
			return
		case '&':
			r.attributeReference()
		default:
			r.i += n
		}
	}
}

// entityReference reads &name; and returns the entity: nil for one that is predefined, unparsed or
// not declared.
func (r *reader) entityReference() (string, *entity) {
	r.i++
	name := r.name()
	if name == "" {
		r.fail("xmlParseEntityRef: no name")
		return "", nil
	}
	if !r.accept(";") {
		r.fail("EntityRef: expecting ';'")
		return "", nil
	}
	if predefined[name] {
		return name, nil
	}
	e := r.entities[name]
	switch {
	case e == nil && (r.standalone || !r.external && !r.references):
		r.fail("Entity '%s' not defined", name)
	case e != nil && e.unparsed:
		r.fail("Entity reference to unparsed entity %s", name)
		return name, nil
	}
	return name, e
}

// characterReference reads &#1234; or &#x12ab; and returns the character, 0 if it is none.
func (r *reader) characterReference() rune {
	const beyond = 0x110000
	base, what := 10, "decimal"
	r.i += len("&#")
	if r.accept("x") {
		base, what = 16, "hexadecimal"
	}
	value := 0
	for r.at(0) != ';' {
		digit := digitOf(r.at(0))
		if digit >= base {
			r.fail("CharRef: invalid %s value", what)
			value = 0
			break
		}
		value = min(value*base+digit, beyond)
		r.i++
	}
	r.accept(";")
	switch {
	case value >= beyond:
		r.fail("xmlParseCharRef: character reference out of bounds")
	case !isChar(rune(value)):
		r.fail("xmlParseCharRef: invalid xmlChar value %d", value)
	default:
		return rune(value)
	}
	return 0
}

func digitOf(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return 16
}
