package ast

// XML is a construct of SQL/XML with a syntax of its own.
type XML struct {
	Pos Pos
	// Op is "xmlconcat", "xmlelement", "xmlforest", "xmlparse", "xmlpi", "xmlroot" or
	// "xmlserialize".
	Op   string
	Name string // of XMLELEMENT and XMLPI
	// Named are the arguments of XMLATTRIBUTES or XMLFOREST, with their names, which are "" for
	// those that have that of a column.
	Named []Expr
	Names []string
	Args  []Expr
	// Document is set for DOCUMENT, Preserve for PRESERVE WHITESPACE.
	Document, Preserve bool
	Type               TypeName // of XMLSERIALIZE
	// Standalone of XMLROOT is "yes", "no", "no value" or "".
	Standalone string
}

// At returns the position of the key word.
func (e *XML) At() Pos { return e.Pos }

func (*XML) expr() {}
