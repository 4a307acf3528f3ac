package template

import (
	"context"
	"sync/atomic"

	"github.com/minidb/minidb/internal/lru"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/parse"
	"github.com/minidb/minidb/table/types"
)

// Template is the statement of all texts of a shape. It is immutable but for a count.
type Template struct {
	// Text is the shape's: no text of a client's equals it.
	Text string
	Stmt ast.Statement
	// Declared are the types of the parameters: int4, or nil for strings.
	Declared []*types.Type

	slots   []slot
	refused atomic.Int32 // texts in a row that it could not serve
}

// slot is what has become of one literal of the shape.
type slot struct {
	param    int    // counted from 1; 0: the literal has stayed
	negative bool   // the parameter includes the minus before it
	text     string // of a literal that has stayed
}

// Argument is the value of one parameter: of an int4, or as it was quoted.
type Argument struct {
	Int    int32
	Text   string
	Quoted bool
}

// Arguments are the values of the parameters in a text of the template's shape; false if the text
// differs in what has stayed.
func (t *Template) Arguments(s *parse.Shape) ([]Argument, bool) {
	out := make([]Argument, len(t.Declared))
	for i := range t.slots {
		slot, lit := &t.slots[i], &s.Literals[i]
		switch {
		case slot.param == 0:
			if lit.Text != slot.text {
				return nil, false
			}
		case lit.Kind == ast.LiteralString:
			out[slot.param-1] = Argument{Text: lit.Text, Quoted: true}
		case slot.negative:
			out[slot.param-1] = Argument{Int: -lit.Int}
		default:
			out[slot.param-1] = Argument{Int: lit.Int}
		}
	}
	return out, true
}

// patience is how many texts in a row a template may fail to serve before it is given up.
const patience = 8

// Served records that the template served a text.
func (t *Template) Served() {
	if t.refused.Load() != 0 {
		t.refused.Store(0)
	}
}

// Refused records that the template could not serve a text.
func (t *Template) Refused() { t.refused.Add(1) }

// Serves reports whether a plan is the best one for any values of its parameters: all that it reads
// is found by a whole unique key.
func Serves(plan *physical.Plan) bool {
	return !plan.NoCache && len(plan.CTEs) == 0 && byKey(plan.Root)
}

func byKey(n physical.Node) bool {
	switch n := n.(type) {
	case *physical.Scan:
		return n.Point && len(n.Ranges) == 1
	case *physical.Values:
		return true
	case *physical.Insert, *physical.Update, *physical.Delete, *physical.LockRows,
		*physical.Project, *physical.Filter, *physical.Sort, *physical.Limit, *physical.Aggregate:
		for _, child := range n.Children() {
			if !byKey(child) {
				return false
			}
		}
		return true
	}
	return false
}

// Cache keeps the templates of the shapes used last, and the trees of the texts with parameters. It
// is safe for concurrent use.
type Cache struct {
	shapes *lru.Cache[string, *Template] // nil for a shape that came once
	trees  *lru.Cache[string, parse.Parsed]
}

// NewCache returns a cache of about size shapes and as many texts.
func NewCache(size int) *Cache {
	return &Cache{shapes: lru.New[string, *Template](size),
		trees: lru.New[string, parse.Parsed](size)}
}

// Find returns the template of a shape, or nil. again reports whether the shape was seen before and
// no template has been tried for it.
func (c *Cache) Find(s *parse.Shape) (t *Template, again bool) {
	text := string(s.Text)
	t, known := c.shapes.Get(text)
	switch {
	case !known:
		c.shapes.Put(text, nil)
		return nil, false
	case t == nil:
		return nil, true
	case t.Stmt == nil || t.refused.Load() >= patience:
		return nil, false
	}
	return t, false
}

// Add makes the template of a shape from the statement of one of its texts.
func (c *Cache) Add(s *parse.Shape, stmt ast.Statement) {
	t := New(s, stmt)
	c.shapes.Put(t.Text, t)
}

// maxTreeText bounds the texts whose trees are kept.
const maxTreeText = 8 << 10

// Parse is parse.ParseOne. A text with parameters is likely to come again: its tree is kept.
func (c *Cache) Parse(ctx context.Context, text string) (parse.Parsed, error) {
	p, known := c.trees.Get(text)
	if known {
		return p, nil
	}
	p, err := parse.ParseOne(ctx, text)
	if err == nil && p.Params > 0 && len(text) <= maxTreeText {
		c.trees.Put(text, p)
	}
	return p, err
}
