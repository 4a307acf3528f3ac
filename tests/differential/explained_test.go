package differential

import (
	"regexp"
)

// explanation is why the answers to some statements may differ, and how far.
type explanation struct {
	reason string
	what   *regexp.Regexp // the statements
	how    kind           // how far; none: never
	// theirs and ours are how PostgreSQL's and minidb's errors begin, SQLSTATE first; nil: any.
	theirs, ours *regexp.Regexp
	when         func(c *comparison, text string, want, got *reply) bool // nil: always
}

// holds reports whether the explanation is one for how two answers to a statement differ.
func (e *explanation) holds(c *comparison, text string, want, got *reply, how kind) bool {
	return how&^e.how == 0 && (e.what == nil || e.what.MatchString(text)) &&
		(e.theirs == nil || e.theirs.MatchString(want.fault())) &&
		(e.ours == nil || e.ours.MatchString(got.fault())) &&
		(e.when == nil || e.when(c, text, want, got))
}

var re = regexp.MustCompile

// noneOr matches what another expression does, and no error.
func noneOr(other *regexp.Regexp) *regexp.Regexp { return re(`^$|` + other.String()) }

// ofData are errors that values cause, not the text of a statement.
var ofData = re(`^(22|23|54|0A|42601 invalid range bound flags|42883 could not identify|` +
	`42704 .* is not a valid encoding)`)

// explained lists what may differ in generated statements, of which SQLSTATEs, tags and rows are
// compared, and in scenes, of which all is.
var explained = []explanation{
	{reason: "the last digit of libm's results and of sums of squares", how: rows,
		what: re(`\b(a?cos|a?sin|a?tan|cot|atan2|exp|ln|log|log10|power|pow|cbrt|sqrt|` +
			`(a?cos|a?sin|a?tan|cot|atan2)d|a?(sinh|cosh|tanh)|erfc?|dexp|dpow|dlog1(0)?|` +
			`degrees|radians|polygon|stddev\w*|var\w*|regr_\w+|corr|covar\w+)\(|\^|\|/`),
		when: onlyRounded},
	{reason: "PostgreSQL 15 computes on with infinite and overflowing values", how: onlyMinidb,
		ours: re(`^22008`), when: within(`\b(age|make_interval)\(`)},
	{reason: "PostgreSQL indexes arrays of types without an order, until it compares two",
		how: onlyMinidb | fault, what: re(`^CREATE INDEX`), theirs: re(`^($|42883)`),
		ours: re(`^42704 data type \w+\[\] has no default operator class`)},
	{reason: "PostgreSQL calls age() immutable, though that of zoned timestamps asks for the zone",
		how: onlyMinidb, what: re(`^CREATE INDEX .*\bage\(`), ours: re(`^42P17`)},
	{reason: "which of several equal keys is met last", how: wording,
		theirs: re(`^23505 could not create unique index`)},
	{reason: "PostgreSQL warns of the version of an XML document", how: notices,
		what: re(`<\?xml version="1\.1"`)},
	{reason: "which of the ways from an extension to what needs it is listed", how: wording,
		what: re(`^DROP EXTENSION`), theirs: re(`^2BP01`)},
	{reason: "text_pattern_ops orders by bytes; an index of minidb keeps citext in its own order",
		how: onlyMinidb, what: re(`^CREATE INDEX ON ext `),
		ours: re(`^42804 operator class "text_pattern_ops" does not accept data type citext`)},
	{reason: "PostgreSQL asks how to compare elements once arrays have the same dimensions",
		how: onlyMinidb, ours: re(`^42883 could not identify (an equality operator|a comparison ` +
			`function) for type box`)},
	{reason: "PostgreSQL raises the error of a constant when it plans, minidb when a row or the " +
		"branch of a CASE reaches it", how: onlyPostgres | refusal, theirs: ofData,
		when: raisedWhenPlanned},
	{reason: "PostgreSQL tests a condition without columns once, though no row is there",
		how: onlyPostgres, theirs: ofData, when: testedOnce},
	{reason: "of the errors of several rows or expressions each server meets another first",
		how: fault, theirs: ofData, ours: ofData, when: severalParts},
	{reason: "of the values of several rows each server refuses another", how: wording,
		theirs: ofData, ours: ofData, when: otherValue},
	{reason: "PostgreSQL inlines the functions in SQL behind OVERLAPS and SUBSTRING",
		how: onlyMinidb | onlyPostgres, theirs: noneOr(ofData), ours: noneOr(ofData),
		when: within(`"(overlaps|substring)"\(`)},
	{reason: "PostgreSQL does not fold comparisons of rows, so that no NULL in them hides an error",
		how: onlyPostgres | onlyMinidb, theirs: noneOr(ofData), ours: noneOr(ofData),
		when: within(`\(ROW\(.*\) < ROW\(`)},
	{reason: "PostgreSQL computes constants of a generated column before it knows their collations",
		how: onlyPostgres, what: re(`^ALTER TABLE .* GENERATED ALWAYS AS `), theirs: re(`^42P22`)},
	{reason: "PostgreSQL keeps NOT NULL of the domain below in other domains' caches",
		how: onlyPostgres, theirs: re(`^23502 domain \w+ does not allow null values`),
		when: afterDropNotNull},
	{reason: "PostgreSQL prepares the checks of a domain for a new column that is NULL everywhere",
		how: onlyPostgres, what: re(`^ALTER TABLE uses ADD COLUMN`), theirs: ofData},
	{reason: "PostgreSQL computes constants of the checks that may imply SET NOT NULL",
		how: onlyPostgres, what: re(`^ALTER TABLE .* SET NOT NULL`), theirs: ofData},
	{reason: "PostgreSQL reads literals as values of their columns once all others are resolved",
		how: fault | position, what: re(`^INSERT`), theirs: re(`^42`), ours: re(`^(22|42804)`)},
	{reason: "PostgreSQL hints at a column of the table that rows go into", how: wording,
		what: re(`^INSERT INTO`), theirs: re(`(?s)^42703.*There is a column named`)},
	{reason: "which row of several meets its duplicate or a check first", how: wording,
		what: re(`^INSERT INTO .* SELECT `), theirs: re(`^(23505|44000)`)},
	{reason: "which row of several cannot be checked first", how: wording,
		what: re(`^ALTER TABLE \w+ ADD (CONSTRAINT \w+ )?CHECK`), theirs: ofData, ours: ofData},
	{reason: "which row of several is moved before another takes its place",
		how: onlyMinidb | onlyPostgres | wording, what: re(`^UPDATE k SET u = `),
		theirs: re(`^($|23505)`), ours: re(`^($|23505)`)},
	{reason: "such a row leaves an event that is to be handled at the end of the transaction",
		how: onlyMinidb | onlyPostgres, what: re(`^(ALTER|DROP|TRUNCATE|CREATE) .*\bk\b`),
		theirs: re(`^($|55006)`), ours: re(`^($|55006)`)},
	{reason: "minidb knows the row of a cursor that sorts",
		how: onlyPostgres | wording, what: re(`WHERE CURRENT OF`),
		theirs: re(`^24000 cursor "\w+" is not a simply updatable scan`), ours: re(`^($|24000)`)},
	{reason: "PostgreSQL warns of what others have granted", how: notices, what: re(`^DROP OWNED`)},
	{reason: "PostgreSQL refuses to drop what was granted on columns alone",
		what: re(`^DROP OWNED`), how: onlyPostgres | notices,
		theirs: re(`^42501 permission denied for table`)},
	{reason: "to PostgreSQL default privileges are objects that DROP OWNED counts", how: wording,
		what: re(`^DROP OWNED`), theirs: re(`^2BP01 cannot drop desired object`)},
	{reason: "a relation is shown without its schema though an earlier one of the search path " +
		"has the name", how: wording | notices, what: re(`^DROP`), when: onlySchemas},
	{reason: "the fields of a stored ROW have the types that its type has got since", how: rows,
		what: re(`\bpg_get_viewdef\b`), when: onlyStoredRows},
	{reason: "a literal in ROW(…) is a text; PostgreSQL compares it with no text",
		how: onlyPostgres, theirs: re(`^42804 cannot compare dissimilar column types ` +
			`(unknown and text|text and unknown)`)},
	{reason: "PostgreSQL refuses a stored ROW whose type has got other attributes",
		how: onlyPostgres, what: re(`^SELECT \* FROM fv`),
		theirs: re(`^42804 ROW\(\) column has type`)},
	{reason: "PostgreSQL 15.20 asks whether the conflicting row is in the view",
		how: onlyPostgres | fault, what: re(` ON CONFLICT `), theirs: re(`^55000 conflicting row`)},
}
