package differential

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// kind is how two answers differ. Several may hold at once.
type kind uint16

const (
	rows         kind = 1 << iota // both do what is asked, with other rows or another count of them
	columns                       // the names or types of columns
	notices                       // what is said beside
	onlyMinidb                    // minidb refuses what PostgreSQL does
	onlyPostgres                  // PostgreSQL refuses what minidb does
	fault                         // both refuse, for reasons of other SQLSTATEs
	wording                       // both refuse with one SQLSTATE and other texts or names
	position                      // the place of the error in the statement
)

// refusal is any way in which one refusal differs from another.
const refusal = fault | wording | position

// difference returns how minidb's answer differs from PostgreSQL's. Only a strict comparison looks
// at more than SQLSTATEs, tags and rows.
func difference(want, got *reply, strict, placed bool) (how kind) {
	add := func(k kind, differs bool) {
		if differs {
			how |= k
		}
	}
	switch {
	case want.code == "" && got.code == "":
		add(rows, want.tag != got.tag || !slices.Equal(want.rows, got.rows))
		add(columns, strict && want.columns != got.columns)
	case want.code == "":
		return onlyMinidb
	case got.code == "":
		return onlyPostgres
	default:
		add(fault, want.code != got.code)
		add(wording, strict && want.code == got.code && want.error != got.error)
		add(position, strict && placed && want.at != got.at)
	}
	add(notices, strict && !slices.Equal(want.notices, got.notices))
	return how
}

// fault is an error in one line, its SQLSTATE first.
func (r *reply) fault() string {
	if r.code == "" {
		return ""
	}
	return r.code + " " + r.error
}

var number = regexp.MustCompile(`[-+]?\b\d+(\.\d+)?(e[-+]?\d+)?`)

// nearlyEqual reports whether two rows differ in the last digits of numbers only.
func nearlyEqual(a, b string) bool {
	if number.ReplaceAllString(a, "0") != number.ReplaceAllString(b, "0") {
		return false
	}
	theirs := number.FindAllString(b, -1)
	for i, text := range number.FindAllString(a, -1) {
		x, _ := strconv.ParseFloat(text, 64)
		y, _ := strconv.ParseFloat(theirs[i], 64)
		if math.Abs(x-y) > 1e-9*max(1, math.Abs(x), math.Abs(y)) {
			return false
		}
	}
	return true
}

// onlyRounded reports whether answers differ in the last digits of numbers only.
func onlyRounded(_ *comparison, _ string, want, got *reply) bool {
	return want.tag == got.tag && slices.EqualFunc(want.rows, got.rows, nearlyEqual)
}

// raisedWhenPlanned reports whether PostgreSQL raises the error of a constant when it plans.
func raisedWhenPlanned(c *comparison, text string, want, _ *reply) bool {
	planned := c.postgres.answer(c.t, "EXPLAIN "+text)
	return planned.code == want.code && planned.error == want.error
}

// testedOnce reports whether PostgreSQL tests a condition before it reads a table.
func testedOnce(c *comparison, text string, _, _ *reply) bool {
	plan := c.postgres.answer(c.t, "EXPLAIN "+text).rows
	return strings.Contains(strings.Join(plan, "\n"), "One-Time Filter")
}

// onlySchemas reports whether answers differ in the schemas of names only.
func onlySchemas(_ *comparison, _ string, want, got *reply) bool {
	plain := func(r *reply) string {
		said := append(slices.Clone(r.notices), r.error)
		return strings.ReplaceAll(strings.Join(said, "\n"), "public.", "")
	}
	return plain(want) == plain(got)
}

var storedRow = re(`(ROW\(.*?\)|'\(.*?\)')::`)

// onlyStoredRows reports whether answers differ in the fields of ROW(…)::type or '(…)'::type
// only.
func onlyStoredRows(_ *comparison, _ string, want, got *reply) bool {
	plain := func(r *reply) string {
		return storedRow.ReplaceAllString(strings.Join(r.rows, "\n"), "")
	}
	return plain(want) == plain(got)
}

// within returns a condition of an explanation: that the statement, or one before it that made
// something in the same tables, has an expression.
func within(pattern string) func(*comparison, string, *reply, *reply) bool {
	has := re(pattern).MatchString
	return func(c *comparison, text string, _, _ *reply) bool {
		return has(text) || slices.ContainsFunc(c.sequence, has) || slices.ContainsFunc(c.made, has)
	}
}

var aValue = re(`"[^"]*"|: .*|[-0-9.]+|an? (scalar|object|array)$`)

// otherValue reports whether the errors of a statement that reads rows differ in a value only.
func otherValue(_ *comparison, text string, want, got *reply) bool {
	plain := func(r *reply) string { return aValue.ReplaceAllString(r.error, "") }
	return readsRows.MatchString(text) && plain(want) == plain(got)
}

var dropsNotNull = re(`^ALTER DOMAIN \w+ DROP NOT NULL`)

// afterDropNotNull reports whether a domain has lost its NOT NULL in the same sequence.
func afterDropNotNull(c *comparison, _ string, _, _ *reply) bool {
	return slices.ContainsFunc(c.sequence, dropsNotNull.MatchString)
}

var readsRows = re(`\b(FROM|UPDATE|DELETE)\b`)

// severalParts reports whether the error of a statement may be of several expressions or rows.
func severalParts(_ *comparison, text string, _, _ *reply) bool {
	return readsRows.MatchString(text) || strings.Count(text, "(") > 1
}
