// Package xml checks XML texts and writes pieces of them, for the type xml and its functions.
//
// A value of type xml is a text that was checked when it came in: Check reads it as a document, or
// as content, which is what may stand between two tags. Nothing is kept of what was read.
//
//	'<a/>'  document, content      'a<b/>c'  content      '<a>'  neither
//
// Check reads as PostgreSQL's library does, so that both take the same texts and report the same
// errors: each with its line, the text around it, and a mark below the place. Reading goes on after
// an error, as there.
//
// A document type declaration is checked as well. Entities are not expanded: the text of each is
// checked once, at its first reference, and its expanded size is only computed, so that a text
// whose entities multiply costs no more than its length. External entities are never read.
//
// A Declaration is what begins a document: <?xml version="1.0"?>.
//
// Bounds: elements nest 256 deep (depthMax), entities 40 (entityDepthMax), and reading ends after
// 100 errors (errorsMax).
package xml
