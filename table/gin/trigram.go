package gin

import (
	"math"

	"github.com/minidb/minidb/table/trigram"
	"github.com/minidb/minidb/table/types"
)

// trigramOps has the trigrams of a text as keys. It belongs to the extension pg_trgm.
var trigramOps = &class{
	name: "gin_trgm_ops", of: types.String,
	key: func(t *types.Type) *types.Type {
		if oid := t.Base().OID; oid != types.OIDText && oid != types.OIDVarchar {
			return nil
		}
		return types.TBytea
	},
	extract: func(_ *types.Type, v types.Datum) ([]types.Datum, error) {
		return trigramKeys(v.S)
	},
	operators: map[string]operator{
		"~~":  {accepts: isText, query: trigramLike},
		"~~*": {accepts: isText, query: trigramLike},
		"~":   {accepts: isText, query: trigramRegexp},
		"~*":  {accepts: isText, query: trigramRegexp},
		"=":   {accepts: isText, query: trigramEqual},
		"%":   {accepts: isText, setting: "pg_trgm.similarity_threshold"},
		"%>":  {accepts: isText, setting: "pg_trgm.word_similarity_threshold"},
		"%>>": {accepts: isText, setting: "pg_trgm.strict_word_similarity_threshold"},
	},
}

// Extension returns the name of the extension to which an operator class belongs, "" for none.
func Extension(class string) string {
	switch class {
	case trigramOps.name:
		return "pg_trgm"
	case hstoreOps.name:
		return "hstore"
	}
	return ""
}

func trigramKeys(text string) ([]types.Datum, error) {
	all, err := trigram.Of(text, func(int) error { return nil })
	return trigramDatums(all), err
}

func trigramDatums(all []trigram.Trigram) []types.Datum {
	out := make([]types.Datum, len(all))
	for i, t := range all {
		out[i] = types.NewString(string(t[:]))
	}
	return out
}

// trigramLike is column LIKE arg, and ILIKE: trigrams know no case.
func trigramLike(c *Column, arg types.Datum) (*Query, error) {
	keys, err := c.keysOf(trigramDatums(trigram.OfPattern(arg.S)))
	return AllOf(keys), err
}

// trigramRegexp is column ~ arg, and ~*, by the texts that each match contains.
func trigramRegexp(c *Column, arg types.Datum) (*Query, error) {
	pattern, ok := likeOfRegexp(arg.S)
	if !ok {
		return every, nil
	}
	return trigramLike(c, types.NewString(pattern))
}

func trigramEqual(c *Column, arg types.Datum) (*Query, error) {
	keys, err := trigramKeys(arg.S)
	if err != nil {
		return nil, err
	}
	list, err := c.keysOf(keys)
	return AllOf(list), err
}

// trigramSimilar is column % arg and its like: the similarity is at least limit. That of two texts
// is no more than the share of arg's trigrams that the other has.
func trigramSimilar(c *Column, arg types.Datum, limit float64) (*Query, error) {
	keys, err := trigramKeys(arg.S)
	if err != nil {
		return nil, err
	}
	list, err := c.keysOf(keys)
	if err != nil || limit <= 0 {
		return every, err
	}
	const rounding = 1e-5 // similarities are floats of four bytes
	least := math.Ceil(limit*float64(len(list)) - rounding)
	return atLeast(max(1, int(least)), list), nil
}
