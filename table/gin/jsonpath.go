package gin

import "github.com/minidb/minidb/table/types"

func isJSONPath(_, arg *types.Type) bool { return arg.Family == types.JSONPath }

// jsonbPathExists is column @? arg, jsonbPathMatches is column @@ arg. Both find what must be in a
// document so that the path has a result, or is true: the keys that it goes through, and the
// scalars that it compares with ==. Negations, other comparisons and methods say nothing.
func jsonbPathExists(c *Column, arg types.Datum) (*Query, error) {
	path, err := types.ParsePath(arg.S, nil)
	if err != nil {
		return nil, err
	}
	p := pathQuery{column: c}
	return p.chain(path.Expr, pathSeed, nil), p.err
}

func jsonbPathMatches(c *Column, arg types.Datum) (*Query, error) {
	path, err := types.ParsePath(arg.S, nil)
	if err != nil {
		return nil, err
	}
	p := pathQuery{column: c}
	return p.predicate(path.Expr, pathSeed), p.err
}

// pathQuery makes the query of a path.
type pathQuery struct {
	column *Column
	err    error
}

// hashed reports whether keys are scalars hashed with their paths, rather than keys and scalars.
func (p *pathQuery) hashed() bool { return p.column.key.Family == types.Int }

// key returns the query of a key.
func (p *pathQuery) key(d types.Datum) *Query {
	keys, err := p.column.keysOf([]types.Datum{d})
	if err != nil {
		p.err = err
		return every
	}
	return keys[0]
}

// chain returns the query of documents in which a path has a result; one that is equal to scalar,
// unless it is nil. hash is that of the path that leads to @.
func (p *pathQuery) chain(it *types.PathItem, hash uint64, scalar *types.PathItem) *Query {
	var needs []*Query
	switch it.Kind {
	case types.PathRoot:
		hash = pathSeed
	case types.PathCurrent:
	default:
		return every
	}
	for it = it.Next; it != nil; it = it.Next {
		switch it.Kind {
		case types.PathKey:
			hash = PathHash(hash, it.Str)
			if !p.hashed() {
				needs = append(needs, p.key(keyDatum(tagKey, it.Str)))
			}
		case types.PathAnyArray, types.PathIndexArray:
		case types.PathAnyKey, types.PathAny:
			if p.hashed() { // the keys on the way are not known
				return AllOf(needs)
			}
		case types.PathFilter:
			needs = append(needs, p.predicate(it.Left, hash))
		default: // a method, whose results are not in the document
			return AllOf(needs)
		}
	}
	if scalar != nil {
		needs = append(needs, p.scalar(scalar, hash))
	}
	return AllOf(needs)
}

// predicate returns the query of documents in which a predicate is true.
func (p *pathQuery) predicate(it *types.PathItem, hash uint64) *Query {
	if it.Next != nil {
		return every
	}
	switch it.Kind {
	case types.PathAnd:
		return AllOf([]*Query{p.predicate(it.Left, hash), p.predicate(it.Right, hash)})
	case types.PathOr:
		return AnyOf([]*Query{p.predicate(it.Left, hash), p.predicate(it.Right, hash)})
	case types.PathExists:
		return p.chain(it.Left, hash, nil)
	case types.PathEqual:
		switch {
		case isPathScalar(it.Right):
			return p.chain(it.Left, hash, it.Right)
		case isPathScalar(it.Left):
			return p.chain(it.Right, hash, it.Left)
		}
	}
	return every
}

func isPathScalar(it *types.PathItem) bool {
	switch it.Kind {
	case types.PathNull, types.PathBool, types.PathNumber, types.PathString:
		return it.Next == nil
	}
	return false
}

// scalar returns the query of documents that contain a scalar. As the class jsonb_ops has it, a
// string in an array is another key than one in an object; a path does not always show which it is.
func (p *pathQuery) scalar(it *types.PathItem, hash uint64) *Query {
	v := &types.JSONValue{Kind: types.JSONNull, Str: it.Str, Num: it.Num, Bool: it.Bool}
	switch it.Kind {
	case types.PathString:
		v.Kind = types.JSONString
	case types.PathNumber:
		v.Kind = types.JSONNumber
	case types.PathBool:
		v.Kind = types.JSONBool
	}
	if p.hashed() {
		return p.key(PathKey(hash, v))
	}
	if v.Kind != types.JSONString {
		return p.key(ScalarKey(v, false))
	}
	return AnyOf([]*Query{p.key(ScalarKey(v, true)), p.key(ScalarKey(v, false))})
}
