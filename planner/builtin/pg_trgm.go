package builtin

import (
	"strconv"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/trigram"
	"github.com/minidb/minidb/table/types"
)

// Settings of pg_trgm: from which similarity on the operators hold.
const (
	similarityThreshold = "pg_trgm.similarity_threshold"
	wordThreshold       = "pg_trgm.word_similarity_threshold"
	strictThreshold     = "pg_trgm.strict_word_similarity_threshold"
)

// trigramFunctions are those of the extension pg_trgm.
var trigramFunctions = []def{
	f("set_limit(float4) float4", setTrigramLimit).volatile(),
	f("show_limit() float4", func(rt *expr.Runtime, _ []types.Datum) (types.Datum, error) {
		limit, err := threshold(rt, similarityThreshold)
		return types.NewFloat(float64(float32(limit))), err
	}).stable(),
	f("show_trgm(text) text[]", showTrigrams),
	f("similarity(text,text) float4", trigramScalar(similarity)),
	f("similarity_dist(text,text) float4", trigramScalar(distance(similarity))),
	f("similarity_op(text,text) bool", reaches(similarityThreshold, similarity)).stable(),
	f("word_similarity(text,text) float4", trigramScalar(wordSimilarity)),
	f("word_similarity_op(text,text) bool", reaches(wordThreshold, wordSimilarity)).stable(),
	f("word_similarity_commutator_op(text,text) bool",
		reaches(wordThreshold, commuted(wordSimilarity))).stable(),
	f("word_similarity_dist_op(text,text) float4", trigramScalar(distance(wordSimilarity))),
	f("word_similarity_dist_commutator_op(text,text) float4",
		trigramScalar(distance(commuted(wordSimilarity)))),
	f("strict_word_similarity(text,text) float4", trigramScalar(strictSimilarity)),
	f("strict_word_similarity_op(text,text) bool",
		reaches(strictThreshold, strictSimilarity)).stable(),
	f("strict_word_similarity_commutator_op(text,text) bool",
		reaches(strictThreshold, commuted(strictSimilarity))).stable(),
	f("strict_word_similarity_dist_op(text,text) float4",
		trigramScalar(distance(strictSimilarity))),
	f("strict_word_similarity_dist_commutator_op(text,text) float4",
		trigramScalar(distance(commuted(strictSimilarity)))),
}

// trigramOperators are those of the extension pg_trgm.
var trigramOperators = []def{
	f("%(text,text) bool", reaches(similarityThreshold, similarity)).stable(),
	f("<%(text,text) bool", reaches(wordThreshold, wordSimilarity)).stable(),
	f("%>(text,text) bool", reaches(wordThreshold, commuted(wordSimilarity))).stable(),
	f("<<%(text,text) bool", reaches(strictThreshold, strictSimilarity)).stable(),
	f("%>>(text,text) bool", reaches(strictThreshold, commuted(strictSimilarity))).stable(),
	f("<->(text,text) float4", trigramScalar(distance(similarity))),
	f("<<->(text,text) float4", trigramScalar(distance(wordSimilarity))),
	f("<->>(text,text) float4", trigramScalar(distance(commuted(wordSimilarity)))),
	f("<<<->(text,text) float4", trigramScalar(distance(strictSimilarity))),
	f("<->>>(text,text) float4", trigramScalar(distance(commuted(strictSimilarity)))),
}

// trigramMeasure is a measure of two texts. enough ends the search for a greater one; 0: nothing
// does.
type trigramMeasure func(rt *expr.Runtime, a, b string, enough float64) (float32, error)

func trigramsOf(rt *expr.Runtime, s string) ([]trigram.Trigram, error) {
	if err := rt.Grow(int64(len(s)) * 3); err != nil {
		return nil, err
	}
	return trigram.Of(s, rt.Tick)
}

func similarity(rt *expr.Runtime, a, b string, _ float64) (float32, error) {
	x, err := trigramsOf(rt, a)
	if err != nil {
		return 0, err
	}
	y, err := trigramsOf(rt, b)
	return trigram.Similarity(x, y), err
}

func wordSimilarity(rt *expr.Runtime, a, b string, enough float64) (float32, error) {
	return extentSimilarity(rt, a, b, trigram.Word{Enough: enough, Step: rt.Tick})
}

func strictSimilarity(rt *expr.Runtime, a, b string, enough float64) (float32, error) {
	return extentSimilarity(rt, a, b, trigram.Word{Enough: enough, Step: rt.Tick, Strict: true})
}

func extentSimilarity(rt *expr.Runtime, a, b string, w trigram.Word) (float32, error) {
	if err := needContext(rt); err != nil {
		return 0, err
	}
	if err := rt.Grow(int64(len(a)+len(b)) * 32); err != nil {
		return 0, err
	}
	return w.Similarity(a, b)
}

func commuted(m trigramMeasure) trigramMeasure {
	return func(rt *expr.Runtime, a, b string, enough float64) (float32, error) {
		return m(rt, b, a, enough)
	}
}

func distance(m trigramMeasure) trigramMeasure {
	return func(rt *expr.Runtime, a, b string, _ float64) (float32, error) {
		r, err := m(rt, a, b, 0)
		return float32(1 - float64(r)), err
	}
}

func trigramScalar(m trigramMeasure) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		r, err := m(rt, a[0].S, a[1].S, 0)
		return types.NewFloat(float64(r)), err
	}
}

// reaches makes a condition: the measure is at least the value of a setting.
func reaches(setting string, m trigramMeasure) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		limit, err := threshold(rt, setting)
		if err != nil {
			return types.Null, err
		}
		r, err := m(rt, a[0].S, a[1].S, limit)
		return types.NewBool(float64(r) >= limit), err
	}
}

func threshold(rt *expr.Runtime, setting string) (float64, error) {
	s, err := session[expr.Session](rt)
	if err != nil {
		return 0, err
	}
	text, _ := s.Setting(setting)
	return strconv.ParseFloat(text, 64)
}

func setTrigramLimit(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	s, err := session[expr.Session](rt)
	if err != nil {
		return types.Null, err
	}
	text := string(types.AppendFloat(nil, a[0].F, 32, 1))
	if err := s.SetSetting(similarityThreshold, text, false); err != nil {
		return types.Null, err
	}
	return a[0], nil
}

func showTrigrams(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	all, err := trigramsOf(rt, a[0].S)
	if err != nil {
		return types.Null, err
	}
	out := elements{rt: rt}
	for _, t := range all {
		if err := out.add(types.NewString(t.String())); err != nil {
			return types.Null, err
		}
	}
	return types.NewArray(out.elems), nil
}
