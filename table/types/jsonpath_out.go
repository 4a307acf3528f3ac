package types

import "strconv"

// String is the path in PostgreSQL's form.
func (p *Path) String() string {
	var dst []byte
	if !p.Lax {
		dst = append(dst, "strict "...)
	}
	return string(p.Expr.append(dst, false, true))
}

// priority orders the operators by how strongly they bind.
func (k PathKind) priority() int {
	switch k {
	case PathOr:
		return 0
	case PathAnd:
		return 1
	case PathEqual, PathNotEqual, PathLess, PathGreater, PathLessEqual, PathGreaterEqual,
		PathStartsWith:
		return 2
	case PathAdd, PathSub:
		return 3
	case PathMul, PathDiv, PathMod:
		return 4
	case PathPlus, PathMinus:
		return 5
	}
	return 6
}

// append writes an item and those that follow it. inKey is set behind another item, where accessors
// of keys begin with a dot; parens puts an operation in parentheses.
func (it *PathItem) append(dst []byte, inKey, parens bool) []byte {
	for ; it != nil; it = it.Next {
		dst = it.appendOne(dst, inKey, parens)
		inKey, parens = true, true
	}
	return dst
}

func (it *PathItem) appendOne(dst []byte, inKey, parens bool) []byte {
	switch it.Kind {
	case PathNull:
		return append(dst, "null"...)
	case PathString:
		return AppendJSONString(dst, it.Str)
	case PathNumber:
		if it.Next != nil {
			return append(AppendNumeric(append(dst, '('), it.Num), ')')
		}
		return AppendNumeric(dst, it.Num)
	case PathBool:
		return strconv.AppendBool(dst, it.Bool)
	case PathVariable:
		return AppendJSONString(append(dst, '$'), it.Str)
	case PathRoot:
		return append(dst, '$')
	case PathCurrent:
		return append(dst, '@')
	case PathLast:
		return append(dst, "last"...)
	case PathKey, PathAnyKey, PathAny:
		if inKey {
			dst = append(dst, '.')
		}
		return it.appendStep(dst)
	case PathAnyArray:
		return append(dst, "[*]"...)
	case PathIndexArray:
		return it.appendSubscripts(dst)
	case PathFilter:
		return append(it.Left.append(append(dst, "?("...), false, false), ')')
	case PathNot:
		return append(it.Left.append(append(dst, "!("...), false, false), ')')
	case PathIsUnknown:
		return append(it.Left.append(append(dst, '('), false, false), ") is unknown"...)
	case PathExists:
		return append(it.Left.append(append(dst, "exists ("...), false, false), ')')
	case PathType, PathSize, PathAbs, PathFloor, PathCeiling, PathDouble, PathDatetime,
		PathKeyValue:
		dst = append(append(append(dst, '.'), it.Kind.String()...), '(')
		return append(it.Left.append(dst, false, false), ')')
	}
	return it.appendOperation(dst, parens)
}

// appendOperation writes an operator with its operands.
func (it *PathItem) appendOperation(dst []byte, parens bool) []byte {
	operand := func(o *PathItem) {
		dst = o.append(dst, false, o.Kind.priority() <= it.Kind.priority())
	}
	if parens {
		dst = append(dst, '(')
	}
	switch it.Kind {
	case PathPlus, PathMinus:
		dst = append(dst, it.Kind.String()...)
		operand(it.Left)
	case PathLikeRegex:
		operand(it.Left)
		dst = AppendJSONString(append(dst, " like_regex "...), it.Str)
		if it.Flags != 0 {
			dst = append(dst, " flag \""...)
			for i := range len(pathFlagLetters) {
				if it.Flags&(1<<i) != 0 {
					dst = append(dst, pathFlagLetters[i])
				}
			}
			dst = append(dst, '"')
		}
	default:
		operand(it.Left)
		dst = append(append(append(dst, ' '), it.Kind.String()...), ' ')
		operand(it.Right)
	}
	if parens {
		dst = append(dst, ')')
	}
	return dst
}

// appendStep writes an accessor of members without its dot.
func (it *PathItem) appendStep(dst []byte) []byte {
	level := func(n uint32) {
		if n == PathLastLevel {
			dst = append(dst, "last"...)
		} else {
			dst = strconv.AppendUint(dst, uint64(n), 10)
		}
	}
	switch {
	case it.Kind == PathKey:
		return AppendJSONString(dst, it.Str)
	case it.Kind == PathAnyKey:
		return append(dst, '*')
	case it.First == 0 && it.Last == PathLastLevel:
		return append(dst, "**"...)
	}
	dst = append(dst, "**{"...)
	level(it.First)
	if it.Last != it.First {
		dst = append(dst, " to "...)
		level(it.Last)
	}
	return append(dst, '}')
}

func (it *PathItem) appendSubscripts(dst []byte) []byte {
	dst = append(dst, '[')
	for i, sub := range it.Subscripts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = sub.From.append(dst, false, false)
		if sub.To != nil {
			dst = sub.To.append(append(dst, " to "...), false, false)
		}
	}
	return append(dst, ']')
}
