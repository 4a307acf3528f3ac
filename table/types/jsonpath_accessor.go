package types

var pathMethods = map[string]PathKind{"type": PathType, "size": PathSize, "abs": PathAbs,
	"floor": PathFloor, "ceiling": PathCeiling, "double": PathDouble, "keyvalue": PathKeyValue,
	"datetime": PathDatetime}

// accessor reads an accessor, a method or a filter; nil if there is none.
func (p *pathParser) accessor() (*PathItem, error) {
	switch {
	case p.isSymbol("["):
		if err := p.advance(); err != nil {
			return nil, err
		}
		return p.subscripts()
	case p.isSymbol("?"):
		if err := p.advance(); err != nil {
			return nil, err
		}
		if !p.isSymbol("(") {
			return nil, p.unexpected()
		}
		arg, err := p.inParens(pathPredicate)
		return &PathItem{Kind: PathFilter, Left: arg}, err
	case p.isSymbol("."):
		if err := p.advance(); err != nil {
			return nil, err
		}
		return p.member()
	}
	return nil, nil
}

// member reads what may be behind a dot.
func (p *pathParser) member() (*PathItem, error) {
	switch {
	case p.isSymbol("*"):
		return &PathItem{Kind: PathAnyKey}, p.advance()
	case p.isSymbol("**"):
		return p.levels()
	case p.tok.kind != pathWord && p.tok.kind != pathKeyword && p.tok.kind != pathString:
		return nil, p.unexpected()
	}
	key := p.tok
	if err := p.advance(); err != nil {
		return nil, err
	}
	if kind, is := pathMethods[key.str]; is && key.kind == pathKeyword && p.isSymbol("(") {
		return p.method(kind)
	}
	name := key.str
	if key.kind == pathKeyword {
		name = key.as
	}
	return &PathItem{Kind: PathKey, Str: name}, nil
}

// method reads the parentheses of a method; .datetime() may have a template in them.
func (p *pathParser) method(kind PathKind) (*PathItem, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	it := &PathItem{Kind: kind}
	if kind == PathDatetime && p.tok.kind == pathString {
		it.Left = &PathItem{Kind: PathString, Str: p.tok.str}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	return it, p.expect(")")
}

// levels reads the rest of .** and .**{from to to}.
func (p *pathParser) levels() (*PathItem, error) {
	it := &PathItem{Kind: PathAny, Last: PathLastLevel}
	if err := p.advance(); err != nil || !p.isSymbol("{") {
		return it, err
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	var err error
	if it.First, err = p.level(); err != nil {
		return nil, err
	}
	it.Last = it.First
	if p.isKeyword("to") {
		if err = p.advance(); err != nil {
			return nil, err
		}
		if it.Last, err = p.level(); err != nil {
			return nil, err
		}
	}
	return it, p.expect("}")
}

// subscripts reads the rest of an accessor of elements.
func (p *pathParser) subscripts() (*PathItem, error) {
	if p.isSymbol("*") {
		if err := p.advance(); err != nil {
			return nil, err
		}
		return &PathItem{Kind: PathAnyArray}, p.expect("]")
	}
	it := &PathItem{Kind: PathIndexArray}
	for {
		from, err := p.sum(pathValue)
		if err != nil {
			return nil, err
		}
		sub := PathSubscript{From: from}
		if p.isKeyword("to") {
			if err = p.advance(); err != nil {
				return nil, err
			}
			if sub.To, err = p.sum(pathValue); err != nil {
				return nil, err
			}
		}
		it.Subscripts = append(it.Subscripts, sub)
		if !p.isSymbol(",") {
			return it, p.expect("]")
		}
		if err = p.advance(); err != nil {
			return nil, err
		}
	}
}
