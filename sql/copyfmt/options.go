// Package copyfmt is the data formats of COPY: text, CSV and binary. It cuts a stream of bytes into
// rows of fields and writes rows as bytes; what a field means is its caller's.
//
// A field is nil for NULL. A [Reader] reads one stream; the fields it returns are valid until its
// next row.
package copyfmt

import (
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table/types"
)

// Format is one of the three.
type Format uint8

// The formats.
const (
	Text Format = iota
	CSV
	Binary
)

// Options are COPY's options, checked and complete.
type Options struct {
	Format       Format
	Delimiter    byte
	Null         string
	Header       bool
	HeaderMatch  bool // the header must name the columns
	Quote        byte
	Escape       byte
	ForceQuote   []string // "*" alone: all
	ForceNotNull []string
	ForceNull    []string
}

// BadFormat is 22P04: the data does not fit the format.
const BadFormat = "22P04"

// ParseOptions reads the options of a COPY; from is true for COPY FROM.
func ParseOptions(opts []ast.Option, from bool) (o Options, err error) {
	seen := map[string]bool{}
	set := func(name string) bool { return seen[name] }
	for _, opt := range opts {
		if set(opt.Name) {
			return o, sqlerr.New(sqlerr.SyntaxError,
				"conflicting or redundant options").At(int(opt.Pos))
		}
		seen[opt.Name] = true
		if err := o.set(&opt, from); err != nil {
			return o, at(err, opt.Pos)
		}
	}
	if !set("delimiter") {
		o.Delimiter = '\t'
		if o.Format == CSV {
			o.Delimiter = ','
		}
	}
	if !set("null") && o.Format == Text {
		o.Null = `\N`
	}
	if !set("quote") {
		o.Quote = '"'
	}
	if !set("escape") {
		o.Escape = o.Quote
	}
	return o, o.check(set)
}

func at(err error, pos ast.Pos) error {
	if e, ok := err.(*sqlerr.Error); ok {
		return e.At(int(pos))
	}
	return err
}

func (o *Options) set(opt *ast.Option, from bool) error {
	switch opt.Name {
	case "format":
		return o.setFormat(opt.Value)
	case "delimiter":
		return oneByte("delimiter", opt.Value, &o.Delimiter)
	case "quote":
		return oneByte("quote", opt.Value, &o.Quote)
	case "escape":
		return oneByte("escape", opt.Value, &o.Escape)
	case "null":
		o.Null = opt.Value
		if strings.ContainsAny(opt.Value, "\r\n") {
			return sqlerr.New(sqlerr.InvalidParameterValue,
				"COPY null representation cannot use newline or carriage return")
		}
	case "header":
		return o.setHeader(opt, from)
	case "freeze":
		// No other transaction sees rows before their commit: there is nothing to freeze.
		var freeze bool
		return boolean(opt, &freeze)
	case "encoding":
		if name := strings.ToLower(strings.ReplaceAll(opt.Value, "-", "")); name != "utf8" &&
			name != "unicode" {
			return sqlerr.New(sqlerr.FeatureNotSupported,
				"COPY with encoding \"%s\" is not supported", opt.Value)
		}
	case "force_quote":
		o.ForceQuote = columnList(opt)
	case "force_not_null":
		o.ForceNotNull = columnList(opt)
	case "force_null":
		o.ForceNull = columnList(opt)
	default:
		return sqlerr.New(sqlerr.SyntaxError, "option \"%s\" not recognized", opt.Name)
	}
	return nil
}

func (o *Options) setHeader(opt *ast.Option, from bool) error {
	if !strings.EqualFold(opt.Value, "match") {
		return boolean(opt, &o.Header)
	}
	if !from {
		return sqlerr.New(sqlerr.InvalidParameterValue,
			"cannot use \"match\" with HEADER in COPY TO")
	}
	o.Header, o.HeaderMatch = true, true
	return nil
}

func (o *Options) setFormat(name string) error {
	switch strings.ToLower(name) {
	case "text":
		o.Format = Text
	case "csv":
		o.Format = CSV
	case "binary":
		o.Format = Binary
	default:
		return sqlerr.New(sqlerr.InvalidParameterValue, "COPY format \"%s\" not recognized", name)
	}
	return nil
}

func columnList(opt *ast.Option) []string {
	if opt.Value == "*" {
		return []string{"*"}
	}
	return opt.List
}

func oneByte(name, value string, into *byte) error {
	if len(value) != 1 {
		return sqlerr.New(sqlerr.FeatureNotSupported, "COPY %s must be a single one-byte character",
			name)
	}
	*into = value[0]
	return nil
}

func boolean(opt *ast.Option, into *bool) error {
	if opt.Value == "" {
		*into = true
		return nil
	}
	b, ok := types.ParseBool(opt.Value)
	if !ok {
		return sqlerr.New(sqlerr.SyntaxError, "%s requires a Boolean value", opt.Name)
	}
	*into = b
	return nil
}

func (o *Options) check(set func(string) bool) error {
	if o.Format == Binary {
		for _, name := range []string{"delimiter", "null", "header"} {
			if set(name) {
				return sqlerr.New(sqlerr.SyntaxError, "cannot specify %s in BINARY mode",
					strings.ToUpper(name))
			}
		}
	}
	if o.Format != CSV {
		for _, name := range []string{"quote", "escape", "force_quote", "force_not_null",
			"force_null"} {
			if set(name) {
				return sqlerr.New(sqlerr.FeatureNotSupported, "COPY %s available only in CSV mode",
					strings.ReplaceAll(name, "_", " "))
			}
		}
	}
	if o.Delimiter == '\r' || o.Delimiter == '\n' {
		return sqlerr.New(sqlerr.InvalidParameterValue,
			"COPY delimiter cannot be newline or carriage return")
	}
	if o.Format == Text && strings.IndexByte(`\.abcdefghijklmnopqrstuvwxyz0123456789`,
		o.Delimiter) >= 0 {
		return sqlerr.New(sqlerr.InvalidParameterValue, "COPY delimiter cannot be \"%c\"",
			o.Delimiter)
	}
	if o.Format == CSV && o.Delimiter == o.Quote {
		return sqlerr.New(sqlerr.InvalidParameterValue,
			"COPY delimiter and quote must be different")
	}
	if o.Format != Binary && strings.IndexByte(o.Null, o.Delimiter) >= 0 {
		return sqlerr.New(sqlerr.InvalidParameterValue,
			"COPY delimiter must not appear in the NULL specification")
	}
	return nil
}

// forced reports whether a list of columns names this one.
func forced(list []string, column string) bool {
	return slices.Contains(list, column) || len(list) == 1 && list[0] == "*"
}
