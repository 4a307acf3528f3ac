package types

import (
	"strconv"

	"github.com/minidb/minidb/internal/are"
	"github.com/minidb/minidb/internal/sqlerr"
)

// pathParser reads a path by recursive descent. PostgreSQL's grammar separates values from
// predicates: only a predicate is an operand of && or the condition of a filter, only a value is an
// operand of + and of comparisons. Both may be in parentheses, so that an operand is read first,
// and its kind is checked by what follows. An error is at the token at which PostgreSQL's parser
// finds it.
type pathParser struct {
	lex   pathLexer
	tok   pathToken // the next one
	depth int
}

// pathOperand is what a part of a path may be.
type pathOperand uint8

const (
	pathEither pathOperand = iota
	pathValue
	pathPredicate
)

func (p *pathParser) advance() (err error) {
	p.tok, err = p.lex.next()
	return err
}

func (p *pathParser) unexpected() error { return p.lex.fault("syntax error", p.tok.text) }

func (p *pathParser) isSymbol(s string) bool { return p.tok.kind == pathSymbol && p.tok.text == s }

func (p *pathParser) isKeyword(s string) bool { return p.tok.kind == pathKeyword && p.tok.str == s }

// expect reads a symbol.
func (p *pathParser) expect(symbol string) error {
	if !p.isSymbol(symbol) {
		return p.unexpected()
	}
	return p.advance()
}

// enter counts a level of recursion, or an item of a chain: what walks a path is recursive too.
func (p *pathParser) enter() error {
	if p.depth++; p.depth > jsonDepthMax {
		return sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded")
	}
	return nil
}

// path reads the whole text; nil if it is empty.
func (p *pathParser) path() (*Path, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind == pathEnd && p.lex.i == len(p.lex.s) && p.tok.text == "" {
		return nil, nil
	}
	path := &Path{Lax: true}
	if p.isKeyword("strict") || p.isKeyword("lax") {
		path.Lax = p.isKeyword("lax")
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	var err error
	if path.Expr, err = p.disjunction(pathEither); err != nil {
		return nil, err
	}
	if p.tok.kind != pathEnd {
		return nil, p.unexpected()
	}
	return path, nil
}

// disjunction reads operands of || and below.
func (p *pathParser) disjunction(as pathOperand) (*PathItem, error) {
	return p.logical("||", PathOr, as, func(as pathOperand) (*PathItem, error) {
		return p.logical("&&", PathAnd, as, p.predicate)
	})
}

// logical reads operands of a logical operator.
func (p *pathParser) logical(symbol string, kind PathKind, as pathOperand,
	operand func(as pathOperand) (*PathItem, error)) (*PathItem, error) {
	outer := p.depth
	defer func() { p.depth = outer }()
	left, err := operand(as)
	for err == nil && p.isSymbol(symbol) && left.predicate() {
		if err = p.enter(); err != nil {
			return nil, err
		}
		if err = p.advance(); err != nil {
			return nil, err
		}
		var right *PathItem
		if right, err = operand(pathPredicate); err == nil {
			left = &PathItem{Kind: kind, Left: left, Right: right}
		}
	}
	return left, err
}

// predicate reports whether the item is one, and not what is applied to its result.
func (it *PathItem) predicate() bool { return it.Kind.IsPredicate() && it.Next == nil }

var pathComparisons = map[string]PathKind{"==": PathEqual, "!=": PathNotEqual,
	"<>": PathNotEqual, "<": PathLess, ">": PathGreater, "<=": PathLessEqual,
	">=": PathGreaterEqual}

// predicate reads a predicate, or a value where that may stand.
func (p *pathParser) predicate(as pathOperand) (*PathItem, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	if p.isSymbol("!") {
		return p.negation()
	}
	left, err := p.sum(pathEither) // a value, if an operator of values follows
	if err != nil || left.predicate() {
		return left, err
	}
	switch kind, compares := pathComparisons[p.tok.text]; {
	case compares && p.tok.kind == pathSymbol:
		if err := p.advance(); err != nil {
			return nil, err
		}
		right, err := p.sum(pathValue)
		return &PathItem{Kind: kind, Left: left, Right: right}, err
	case p.isKeyword("starts"):
		return p.startsWith(left)
	case p.isKeyword("like_regex"):
		return p.likeRegex(left)
	}
	if as == pathPredicate {
		return nil, p.unexpected()
	}
	return left, nil
}

// negation reads ! with its operand, which is in parentheses or exists.
func (p *pathParser) negation() (*PathItem, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	var arg *PathItem
	var err error
	switch {
	case p.isKeyword("exists"):
		arg, err = p.exists()
	case p.isSymbol("("):
		arg, err = p.inParens(pathPredicate)
	default:
		err = p.unexpected()
	}
	return &PathItem{Kind: PathNot, Left: arg}, err
}

// inParens reads what is in parentheses.
func (p *pathParser) inParens(as pathOperand) (*PathItem, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	it, err := p.disjunction(as)
	if err != nil {
		return nil, err
	}
	if as == pathValue && it.predicate() {
		return nil, p.unexpected()
	}
	return it, p.expect(")")
}

func (p *pathParser) exists() (*PathItem, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if !p.isSymbol("(") {
		return nil, p.unexpected()
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	arg, err := p.sum(pathValue)
	if err != nil {
		return nil, err
	}
	return &PathItem{Kind: PathExists, Left: arg}, p.expect(")")
}

func (p *pathParser) startsWith(left *PathItem) (*PathItem, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if !p.isKeyword("with") {
		return nil, p.unexpected()
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	var kind PathKind
	switch p.tok.kind {
	case pathString:
		kind = PathString
	case pathVariable:
		kind = PathVariable
	default:
		return nil, p.unexpected()
	}
	right := &PathItem{Kind: kind, Str: p.tok.str}
	return &PathItem{Kind: PathStartsWith, Left: left, Right: right}, p.advance()
}

func (p *pathParser) likeRegex(left *PathItem) (*PathItem, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind != pathString {
		return nil, p.unexpected()
	}
	it := &PathItem{Kind: PathLikeRegex, Left: left, Str: p.tok.str}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.isKeyword("flag") {
		if err := p.advance(); err != nil {
			return nil, err
		}
		if p.tok.kind != pathString {
			return nil, p.unexpected()
		}
		var err error
		if it.Flags, err = parsePathFlags(p.tok.str); err != nil {
			return nil, err
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	flags, err := it.Flags.Regex()
	if err != nil {
		return nil, err
	}
	return it, are.Check(it.Str, flags)
}

func parsePathFlags(letters string) (PathFlags, error) {
	var flags PathFlags
	for _, c := range letters {
		switch c {
		case 'i':
			flags |= PathFold
		case 's':
			flags |= PathDotAll
		case 'm':
			flags |= PathMultiLine
		case 'x':
			flags |= PathWhiteSpace
		case 'q':
			flags |= PathQuote
		default:
			return 0, sqlerr.New(sqlerr.SyntaxError,
				"invalid input syntax for type %s", "jsonpath").WithDetail(
				"Unrecognized flag character \"%c\" in LIKE_REGEX predicate.", c)
		}
	}
	return flags, nil
}

// Regex returns the flags of the regular expression. As in XQuery, q makes s, m and x have no
// effect.
func (f PathFlags) Regex() (are.Flags, error) {
	flags := are.Flags{Fold: f&PathFold != 0, Literal: f&PathQuote != 0}
	switch dotAll, lines := f&PathDotAll != 0, f&PathMultiLine != 0; {
	case flags.Literal:
		return flags, nil
	case f&PathWhiteSpace != 0:
		return flags, sqlerr.New(sqlerr.FeatureNotSupported,
			"XQuery \"x\" flag (expanded regular expressions) is not implemented")
	case lines && dotAll:
		flags.Newline = 'w'
	case lines:
		flags.Newline = 'n'
	case !dotAll:
		flags.Newline = 'p'
	}
	return flags, nil
}

var (
	pathSums     = map[string]PathKind{"+": PathAdd, "-": PathSub}
	pathProducts = map[string]PathKind{"*": PathMul, "/": PathDiv, "%": PathMod}
)

// sum reads operands of + and - and below.
func (p *pathParser) sum(as pathOperand) (*PathItem, error) {
	return p.arithmetic(pathSums, as, func(as pathOperand) (*PathItem, error) {
		return p.arithmetic(pathProducts, as, p.signed)
	})
}

// arithmetic reads operands of operators that bind alike.
func (p *pathParser) arithmetic(operators map[string]PathKind, as pathOperand,
	operand func(as pathOperand) (*PathItem, error)) (*PathItem, error) {
	outer := p.depth
	defer func() { p.depth = outer }()
	left, err := operand(as)
	for err == nil && p.tok.kind == pathSymbol && !left.predicate() {
		kind, is := operators[p.tok.text]
		if !is {
			break
		}
		if err = p.enter(); err != nil {
			return nil, err
		}
		if err = p.advance(); err != nil {
			return nil, err
		}
		var right *PathItem
		if right, err = operand(pathValue); err == nil {
			left = &PathItem{Kind: kind, Left: left, Right: right}
		}
	}
	return left, err
}

// signed reads a value with signs before it.
func (p *pathParser) signed(as pathOperand) (*PathItem, error) {
	kind := PathPlus
	switch {
	case p.isSymbol("-"):
		kind = PathMinus
	case !p.isSymbol("+"):
		return p.accessed(as)
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	if err := p.advance(); err != nil {
		return nil, err
	}
	arg, err := p.signed(pathValue)
	switch {
	case err != nil:
		return nil, err
	case arg.Kind != PathNumber || arg.Next != nil:
		return &PathItem{Kind: kind, Left: arg}, nil
	case kind == PathMinus:
		return &PathItem{Kind: PathNumber, Num: NumericNeg(arg.Num)}, nil
	}
	return arg, nil
}

// accessed reads a primary with the accessors behind it.
func (p *pathParser) accessed(as pathOperand) (*PathItem, error) {
	bare := p.isKeyword("exists") // which takes accessors in parentheses only
	head, err := p.primary(as)
	if err != nil {
		return nil, err
	}
	outer := p.depth
	defer func() { p.depth = outer }()
	end := head
	for end.Next != nil {
		end = end.Next
	}
	for !bare {
		if err := p.enter(); err != nil {
			return nil, err
		}
		step, err := p.accessor()
		if err != nil {
			return nil, err
		}
		if step == nil {
			break
		}
		end.Next = step
		end = step
	}
	if as == pathValue && head.predicate() {
		return nil, p.unexpected()
	}
	return head, nil
}

func (p *pathParser) primary(as pathOperand) (*PathItem, error) {
	it := &PathItem{Str: p.tok.str}
	switch p.tok.kind {
	case pathString:
		it.Kind = PathString
	case pathVariable:
		it.Kind = PathVariable
	case pathInteger, pathNumeric:
		num, err := ParseNumeric(p.tok.str)
		if err != nil {
			return nil, err
		}
		it = &PathItem{Kind: PathNumber, Num: num}
	case pathKeyword:
		switch p.tok.str {
		case "exists":
			if as == pathValue {
				return nil, p.unexpected()
			}
			return p.exists()
		case "null":
			it = &PathItem{Kind: PathNull}
		case "true", "false":
			it = &PathItem{Kind: PathBool, Bool: p.tok.str == "true"}
		case "last":
			it = &PathItem{Kind: PathLast}
		default:
			return nil, p.unexpected()
		}
	default:
		switch {
		case p.isSymbol("("):
			return p.parenthesized()
		case p.isSymbol("$"):
			it = &PathItem{Kind: PathRoot}
		case p.isSymbol("@"):
			it = &PathItem{Kind: PathCurrent}
		default:
			return nil, p.unexpected()
		}
	}
	return it, p.advance()
}

// parenthesized reads parentheses, and behind a predicate in them is unknown.
func (p *pathParser) parenthesized() (*PathItem, error) {
	it, err := p.inParens(pathEither)
	if err != nil || !it.predicate() || !p.isKeyword("is") {
		return it, err
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if !p.isKeyword("unknown") {
		return nil, p.unexpected()
	}
	return &PathItem{Kind: PathIsUnknown, Left: it}, p.advance()
}

// level reads a level of .**{…}.
func (p *pathParser) level() (uint32, error) {
	switch {
	case p.isKeyword("last"):
		return PathLastLevel, p.advance()
	case p.tok.kind != pathInteger:
		return 0, p.unexpected()
	}
	n, err := strconv.ParseInt(p.tok.str, 10, 32)
	if err != nil {
		return 0, sqlerr.New(sqlerr.NumericValueOutOfRange,
			"value \"%s\" is out of range for type %s", p.tok.str, "integer")
	}
	return uint32(n), p.advance()
}
