package gin

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table/codec"
	"github.com/minidb/minidb/table/types"
)

// class is an operator class.
type class struct {
	name string
	// of is the family of the values, isDefault whether the class is used for it unless another is
	// named.
	of        types.Family
	isDefault bool
	// key returns the type of the keys of values of a type, nil if the class has none for it.
	key func(t *types.Type) *types.Type
	// extract lists the keys of a value that is not NULL. They may repeat.
	extract func(t *types.Type, v types.Datum) ([]types.Datum, error)
	// operators maps the operators that the class serves, as the left operand has them, to what
	// rows must have.
	operators map[string]operator
}

// operator is an operator of a class.
type operator struct {
	// accepts reports whether the class serves the operator with an argument of type arg for values
	// of type t.
	accepts func(t, arg *types.Type) bool
	// query makes the query of an argument that is not NULL.
	query func(c *Column, arg types.Datum) (*Query, error)
	// setting is the parameter of the session that a similarity must reach, of an operator without
	// query.
	setting string
}

var classes = []*class{arrayOps, jsonbOps, jsonbPathOps, trigramOps, hstoreOps}

// find returns the class of a name, or with "" the default class for a type; nil if there is none.
func find(name string, t *types.Type) *class {
	for _, c := range classes {
		if name == c.name || name == "" && c.isDefault && t.Family == c.of {
			return c
		}
	}
	return nil
}

// Known reports whether there is an operator class of that name, and whether it accepts values of a
// type. "" is the default class of the type.
func Known(name string, t *types.Type) (known, accepts bool) {
	c := find(name, t)
	return c != nil, c != nil && t.Family == c.of && c.key(t) != nil
}

// DefaultClass returns the name of the default operator class for values of a type, "" if there is
// none.
func DefaultClass(t *types.Type) string {
	if c := find("", t); c != nil {
		return c.name
	}
	return ""
}

// Column is a key column of an index.
type Column struct {
	position byte
	class    *class
	typ, key *types.Type // of the values, and of the keys
}

// NewColumn returns column number position, from 1, of an index over values of type t; nil if the
// operator class is not one for values of that type.
func NewColumn(position int, opClass string, t *types.Type) *Column {
	c := find(opClass, t)
	if c == nil || t.Family != c.of {
		return nil
	}
	key := c.key(t)
	if key == nil {
		return nil
	}
	return &Column{position: byte(position), class: c, typ: t, key: key}
}

// Serves reports whether the index helps to find the rows for which `column op argument` is true,
// with an argument of type arg.
func (c *Column) Serves(op string, arg *types.Type) bool {
	o, ok := c.class.operators[op]
	return ok && o.accepts(c.typ, arg)
}

// Setting returns the parameter of the session whose value Query needs for an operator, "" if it
// needs none.
func (c *Column) Setting(op string) string { return c.class.operators[op].setting }

// Query returns the keys of the rows for which `column op arg` may be true. limit is the value of
// the operator's setting, if it has one. Requires: Serves.
func (c *Column) Query(op string, arg types.Datum, limit float64) (*Query, error) {
	o := c.class.operators[op]
	switch {
	case arg.Null:
		return nothing, nil
	case o.setting != "":
		return trigramSimilar(c, arg, limit)
	}
	return o.query(c, arg)
}

// Markers of keys, beside those of package codec, the first of which is markFirst.
const (
	markFirst byte = 0x02
	markEmpty byte = 0x04
	markNull  byte = 0x05
)

// AppendKeys appends the keys of a value to list: each once, in order. A value without keys has
// one that says so.
func (c *Column) AppendKeys(list [][]byte, v types.Datum) ([][]byte, error) {
	if v.Null {
		return append(list, []byte{c.position, markNull}), nil
	}
	keys, err := c.class.extract(c.typ, v)
	if err != nil {
		return list, err
	}
	if len(keys) == 0 {
		return append(list, []byte{c.position, markEmpty}), nil
	}
	from := len(list)
	var arena []byte
	for _, k := range keys {
		at := len(arena)
		if arena, err = c.appendKey(arena, k); err != nil {
			return list, err
		}
		list = append(list, arena[at:len(arena):len(arena)])
	}
	return append(list[:from], distinct(list[from:])...), nil
}

func (c *Column) appendKey(dst []byte, key types.Datum) ([]byte, error) {
	return codec.AppendKey(append(dst, c.position), c.key, key, false, false)
}

// Skip returns what follows a key of the index whose columns are given.
func Skip(columns []*Column, b []byte) ([]byte, error) {
	c, rest, err := columnOf(columns, b)
	if err != nil {
		return nil, err
	}
	if rest[0] == markEmpty || rest[0] == markNull {
		return rest[1:], nil
	}
	return codec.SkipKey(rest, c.key, false, false)
}

// Describe returns the text of a key for people, and what follows it.
func Describe(columns []*Column, b []byte) (text string, rest []byte, err error) {
	c, rest, err := columnOf(columns, b)
	if err != nil {
		return "", nil, err
	}
	switch rest[0] {
	case markEmpty:
		return "no key", rest[1:], nil
	case markNull:
		return "null value", rest[1:], nil
	}
	k, rest, err := codec.ReadKey(rest, c.key, false, false)
	if err != nil {
		return "", nil, err
	}
	if k.Null {
		return "NULL", rest, nil
	}
	return string(types.AppendText(nil, c.key, k, nil)), rest, nil
}

// columnOf returns the column to which a key belongs, and the key behind its position: at least one
// byte.
func columnOf(columns []*Column, b []byte) (*Column, []byte, error) {
	if len(b) < 2 || b[0] == 0 || int(b[0]) > len(columns) || b[1] < markFirst ||
		b[1] > markNull {
		return nil, nil, fmt.Errorf("gin: key of no column: %w", kv.ErrCorruption)
	}
	return columns[b[0]-1], b[1:], nil
}

// distinct sorts a list of keys and leaves out those that repeat.
func distinct(list [][]byte) [][]byte {
	slices.SortFunc(list, bytes.Compare)
	return slices.CompactFunc(list, bytes.Equal)
}
