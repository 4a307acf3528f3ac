package parse

import (
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// deferral is what has been said of when a constraint is checked.
type deferral struct {
	yes, no             bool // [NOT] DEFERRABLE
	deferred, immediate bool // INITIALLY …
}

const (
	notDeferrable     = "constraint declared INITIALLY DEFERRED must be DEFERRABLE"
	initiallyDeferred = "INITIALLY DEFERRED"
)

// deferrable reports whether the check can be put off.
func (d *deferral) deferrable() bool { return d.yes || d.deferred }

// deferralWords accepts one of [NOT] DEFERRABLE and INITIALLY DEFERRED|IMMEDIATE, and returns it;
// "" if none is next.
func (p *parser) deferralWords() string {
	switch {
	case p.accept("deferrable"):
		return "DEFERRABLE"
	case p.accept("not", "deferrable"):
		return "NOT DEFERRABLE"
	case p.accept("initially", "deferred"):
		return initiallyDeferred
	case p.accept("initially", "immediate"):
		return "INITIALLY IMMEDIATE"
	}
	return ""
}

// add notes one of the phrases of deferralWords.
func (d *deferral) add(words string) {
	switch words {
	case "DEFERRABLE":
		d.yes = true
	case "NOT DEFERRABLE":
		d.no = true
	case initiallyDeferred:
		d.deferred = true
	default:
		d.immediate = true
	}
}

// columnDeferral parses one phrase behind the constraints of a column, the last of which it
// belongs to; false if none is next. d is what was said of that constraint before.
func (p *parser) columnDeferral(cs []ast.ColumnConstraint, d *deferral) bool {
	pos := p.pos()
	words := p.deferralWords()
	if words == "" {
		return false
	}
	var last *ast.ColumnConstraint
	if len(cs) > 0 {
		last = &cs[len(cs)-1]
	}
	of := d.yes || d.no
	if strings.HasPrefix(words, "INITIALLY") {
		of = d.deferred || d.immediate
	}
	d.add(words)
	switch {
	case last == nil || last.Kind != "unique" && last.Kind != "primary key" &&
		last.Kind != "references":
		p.failAt(pos, sqlerr.SyntaxError, "misplaced %s clause", words)
	case of && strings.HasPrefix(words, "INITIALLY"):
		p.failAt(pos, sqlerr.SyntaxError,
			"multiple INITIALLY IMMEDIATE/DEFERRED clauses not allowed")
	case of:
		p.failAt(pos, sqlerr.SyntaxError,
			"multiple DEFERRABLE/NOT DEFERRABLE clauses not allowed")
	case d.no && d.deferred:
		p.failAt(pos, sqlerr.SyntaxError, notDeferrable)
	default:
		last.Deferrable, last.InitiallyDeferred = d.deferrable(), d.deferred
	}
	return true
}

// attributes parses what follows a constraint of a table: when it is checked, NOT VALID and NO
// INHERIT. what names its kind in errors.
func (p *parser) attributes(k *ast.TableConstraint, what string) {
	var d deferral
	for p.err == nil {
		pos := p.pos()
		switch {
		case p.accept("not", "valid"):
			if k.NotValid = true; k.Kind != "check" && k.Kind != "foreign key" {
				p.cannotMark(what, "NOT VALID")
			}
			continue
		case k.Kind == "check" && p.accept("no", "inherit"):
			k.NoInherit = true
			continue
		case p.accept("no", "inherit"):
			p.cannotMark(what, "NO INHERIT")
		}
		words := p.deferralWords()
		if words == "" {
			return
		}
		switch d.add(words); {
		case d.no && d.deferred:
			p.failAt(pos, sqlerr.SyntaxError, notDeferrable)
		case d.yes && d.no, d.deferred && d.immediate:
			p.failAt(pos, sqlerr.SyntaxError, "conflicting constraint properties")
		}
		k.Deferrable, k.InitiallyDeferred = d.deferrable(), d.deferred
		if k.Kind == "check" && d.deferrable() {
			p.cannotMark(what, "DEFERRABLE")
		}
	}
}

func (p *parser) cannotMark(what, attribute string) {
	p.fail(sqlerr.New(sqlerr.FeatureNotSupported, "%s constraints cannot be marked %s", what,
		attribute))
}
