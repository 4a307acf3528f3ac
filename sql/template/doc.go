// Package template keeps parsed statements: that of a text with parameters, and one for all texts
// that differ in literals only, so that these share a plan too. Trees are shared by sessions and
// never changed.
//
// A client that writes values into its texts sends a new text each time. Texts of one shape
// (parse.Shape) get a template: their statement with parameters in the places of literals, whose
// plan is kept like any other. It is made when the shape comes a second time.
//
// A plan made for parameters must be as good as one made for the values. So a template serves
// statements that find rows by a whole unique key, or insert them (Serves), whose plan is the same
// for any values; all else is parsed and planned with its literals. And so is a text whose template
// cannot be planned, or does not take a value: every error of a statement is the one of its own
// text.
//
// Literals become parameters only where they are compared with a column, or are values for one:
// nowhere does their value decide what the statement means. Digits are of type int4, as without a
// template; strings get their type from the column, as literals and parameters do alike. The other
// literals of a text must be those of the template.
package template
