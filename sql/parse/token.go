package parse

import "github.com/minidb/minidb/internal/sqlname"

// tokenKind classes tokens as PostgreSQL's scanner does.
type tokenKind uint8

const (
	tokEOF     tokenKind = iota
	tokError             // the scanner stopped here; lexer.err says why
	tokIdent             // unquoted; kw is set for key words
	tokQuoted            // "quoted" identifier: never a key word
	tokInt               // digits
	tokNumber            // digits with point or exponent
	tokString            // any character string form, unescaped
	tokBits              // B'…' or X'…': str is the binary digits
	tokParam             // $n: str is the digits
	tokOp                // an operator of PostgreSQL's class Op
	tokPunct             // one of , ( ) [ ] . ; : + - * / % ^ < > =
	tokLE                // <=
	tokGE                // >=
	tokNE                // <> and !=
	tokCast              // ::
	tokDotDot            // ..
	tokColonEq           // :=
	tokArrow             // =>
	tokOther             // a character that starts no token
)

// keyword is one of PostgreSQL's key words in lower case, or "".
type keyword string

// token is one lexical unit. Tokens and the white space between them cover the text.
type token struct {
	kind tokenKind
	ch   byte            // of a tokPunct
	use  sqlname.Keyword // how far a tokIdent may serve as a name
	pos  int32           // byte offset of the first character, from 0
	end  int32           // byte offset after the last
	// of "(": index of its ")", or 0; of ";": where the last of several ends, or 0
	pair int32
	str  string
	kw   keyword
}

// is reports whether t is the punctuation c.
func (t *token) is(c byte) bool { return t.kind == tokPunct && t.ch == c }

// colID reports whether t may name a column, table or other object.
func (t *token) colID() bool {
	switch t.kind {
	case tokQuoted:
		return true
	case tokIdent:
		return t.use.Category <= sqlname.ColumnName
	}
	return false
}

// typeOrFunctionName reports whether t may name a type or function without qualification.
func (t *token) typeOrFunctionName() bool {
	switch t.kind {
	case tokQuoted:
		return true
	case tokIdent:
		c := t.use.Category
		return c == sqlname.Unreserved || c == sqlname.TypeFunctionName
	}
	return false
}

// bareLabel reports whether t may label a select item without AS.
func (t *token) bareLabel() bool {
	switch t.kind {
	case tokQuoted:
		return true
	case tokIdent:
		return !t.use.NeedsAs
	}
	return false
}

// label reports whether t may follow AS or a dot.
func (t *token) label() bool { return t.kind == tokIdent || t.kind == tokQuoted }
