package types

import (
	"math"

	"github.com/cockroachdb/apd/v3"

	"github.com/minidb/minidb/internal/sqlerr"
)

// Path is a parsed value of type jsonpath. It is shared: never change one in place.
//
// A path is a chain of items linked by Next, each applied to the result of the one before:
//
//	$.a[*] ? (@.b > 1)    root → key "a" → any element → filter
//	                                                    └ greater: current → key "b", number 1
//
// A datum of type jsonpath holds the text that was read, not what String returns: PostgreSQL prints
// some operations without the parentheses that they need to be read again.
type Path struct {
	Lax  bool
	Expr *PathItem
}

// PathItem is an accessor, a method, a literal, an operation or a predicate.
type PathItem struct {
	Kind PathKind
	Next *PathItem // what is applied to the item's results
	// Left and Right are the operands; Left is that of an item with one, of a filter its predicate,
	// of .datetime() its template, which may be nil.
	Left, Right *PathItem
	Str         string       // a key, a string, a variable's name, a pattern
	Num         *apd.Decimal // PathNumber
	Bool        bool         // PathBool
	Flags       PathFlags
	Subscripts  []PathSubscript
	// First and Last are the levels of PathAny; PathLastLevel is that of the leaves.
	First, Last uint32
}

// PathSubscript is one of the subscripts of an array accessor: a range if To is not nil.
type PathSubscript struct{ From, To *PathItem }

// PathLastLevel is the level "last" of an accessor .**{…}.
const PathLastLevel = math.MaxUint32

// PathFlags are the flags of like_regex, in the order in which they are printed.
type PathFlags uint8

// The flags of like_regex.
const (
	PathFold       PathFlags = 1 << iota // i
	PathDotAll                           // s
	PathMultiLine                        // m
	PathWhiteSpace                       // x
	PathQuote                            // q
)

const pathFlagLetters = "ismxq"

// PathKind is the kind of an item.
type PathKind uint8

// The kinds of items.
const (
	PathNull PathKind = iota
	PathString
	PathNumber
	PathBool
	PathVariable
	PathRoot
	PathCurrent
	PathLast
	// accessors
	PathKey
	PathAnyKey
	PathAnyArray
	PathIndexArray
	PathAny
	PathFilter
	// arithmetic
	PathAdd
	PathSub
	PathMul
	PathDiv
	PathMod
	PathPlus
	PathMinus
	// predicates
	PathAnd
	PathOr
	PathNot
	PathIsUnknown
	PathEqual
	PathNotEqual
	PathLess
	PathGreater
	PathLessEqual
	PathGreaterEqual
	PathStartsWith
	PathLikeRegex
	PathExists
	// methods
	PathType
	PathSize
	PathAbs
	PathFloor
	PathCeiling
	PathDouble
	PathDatetime
	PathKeyValue
)

// pathNames has the operators and methods as they are written.
var pathNames = [...]string{
	PathAdd: "+", PathSub: "-", PathMul: "*", PathDiv: "/", PathMod: "%", PathPlus: "+",
	PathMinus: "-", PathAnd: "&&", PathOr: "||", PathEqual: "==", PathNotEqual: "!=",
	PathLess: "<", PathGreater: ">", PathLessEqual: "<=", PathGreaterEqual: ">=",
	PathStartsWith: "starts with", PathType: "type", PathSize: "size", PathAbs: "abs",
	PathFloor: "floor", PathCeiling: "ceiling", PathDouble: "double", PathDatetime: "datetime",
	PathKeyValue: "keyvalue",
}

// String returns the operator or the method as it is written in a path.
func (k PathKind) String() string { return pathNames[k] }

// IsPredicate reports whether the item's value is true, false or unknown.
func (k PathKind) IsPredicate() bool { return k >= PathAnd && k <= PathExists }

// ParsePath reads a path.
func ParsePath(s string, w Work) (*Path, error) {
	p := &pathParser{lex: pathLexer{s: s, pieces: pieces{work: w}}}
	path, err := p.path()
	if err != nil {
		return nil, err
	}
	if path == nil {
		return nil, sqlerr.New(sqlerr.InvalidTextRepresentation,
			"invalid input syntax for type %s: \"%s\"", "jsonpath", s)
	}
	return path, path.Expr.check(false, false)
}

// check returns an error if @ is used outside of a filter, or last outside of a subscript.
func (it *PathItem) check(filtered, subscript bool) error {
	for ; it != nil; it = it.Next {
		switch {
		case it.Kind == PathCurrent && !filtered:
			return sqlerr.New(sqlerr.SyntaxError, "@ is not allowed in root expressions")
		case it.Kind == PathLast && !subscript:
			return sqlerr.New(sqlerr.SyntaxError, "LAST is allowed only in array subscripts")
		}
		if err := it.Left.check(filtered || it.Kind == PathFilter, subscript); err != nil {
			return err
		}
		if err := it.Right.check(filtered, subscript); err != nil {
			return err
		}
		for _, sub := range it.Subscripts {
			if err := sub.From.check(filtered, true); err != nil {
				return err
			}
			if err := sub.To.check(filtered, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// parseJSONPathText returns the text that a datum of type jsonpath holds.
func parseJSONPathText(s string, w Work) (string, error) {
	_, err := ParsePath(s, w)
	return s, err
}

// appendJSONPath writes the path that a datum holds as PostgreSQL prints it.
func appendJSONPath(dst []byte, s string) []byte {
	path, err := ParsePath(s, nil)
	if err != nil { // no input function has made this datum
		return append(dst, s...)
	}
	return append(dst, path.String()...)
}

const jsonPathVersion = 1 // of the binary format

func parseJSONPathBinary(b []byte, w Work) (string, error) {
	if len(b) == 0 {
		return "", errShortMessage()
	}
	if b[0] != jsonPathVersion {
		return "", sqlerr.New(sqlerr.InternalError, "unsupported jsonpath version number: %d", b[0])
	}
	if err := CheckUTF8(b[1:]); err != nil {
		return "", err
	}
	return parseJSONPathText(string(b[1:]), w)
}
