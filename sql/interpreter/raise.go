package interpreter

import (
	"context"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql/plpgsql"
	"github.com/minidb/minidb/table/types"
)

func (x *interpreter) raise(ctx context.Context, s *plpgsql.Raise) error {
	if s.Again {
		if x.handled == nil {
			return sqlerr.New(sqlerr.StackedDiagnosticsAccessed,
				"RAISE without parameters cannot be used outside an exception handler")
		}
		return x.handled
	}
	m := &Message{Level: s.Level}
	m.Code = s.Code
	if s.HasFormat {
		text, err := x.raiseText(ctx, s)
		if err != nil {
			return err
		}
		m.Message = text
	}
	given, err := x.raiseOptions(ctx, s, m)
	if err != nil {
		return err
	}
	if m.Code == "" {
		m.Code = defaultCodes[s.Level]
	}
	if !given["MESSAGE"] {
		if m.Message = s.Condition; m.Message == "" {
			m.Message = m.Code
		}
	}
	if s.Level == "EXCEPTION" {
		return &m.Error
	}
	addContext(&m.Error, "PL/pgSQL function %s line %d at RAISE", x.program.Name, s.Line)
	x.host.Raise(m)
	return nil
}

var defaultCodes = map[string]string{"EXCEPTION": sqlerr.RaiseException, "WARNING": "01000",
	"NOTICE": "00000", "INFO": "00000", "LOG": "00000", "DEBUG": "00000"}

// raiseText puts the arguments in place of the placeholders of the format.
func (x *interpreter) raiseText(ctx context.Context, s *plpgsql.Raise) (string, error) {
	var b strings.Builder
	n := 0
	for i := 0; i < len(s.Format); i++ {
		c := s.Format[i]
		if c != '%' {
			b.WriteByte(c)
			continue
		}
		if i+1 < len(s.Format) && s.Format[i+1] == '%' {
			b.WriteByte('%')
			i++
			continue
		}
		text, null, err := x.text(ctx, s.Arguments[n])
		if err != nil {
			return "", err
		}
		if null {
			text = "<NULL>"
		}
		b.WriteString(text)
		n++
	}
	return b.String(), nil
}

// raiseOptions evaluates what follows USING, and returns what is given there or before.
func (x *interpreter) raiseOptions(ctx context.Context, s *plpgsql.Raise,
	m *Message) (map[string]bool, error) {
	given := map[string]bool{"MESSAGE": s.HasFormat, "ERRCODE": s.Code != ""}
	for _, o := range s.Options {
		text, null, err := x.text(ctx, o.Value)
		if err != nil {
			return nil, err
		}
		if null {
			return nil, sqlerr.New(sqlerr.NullValueNotAllowed,
				"RAISE statement option cannot be null")
		}
		if given[o.Name] {
			return nil, sqlerr.New(sqlerr.SyntaxError, "RAISE option already specified: %s", o.Name)
		}
		given[o.Name] = true
		if o.Name == "ERRCODE" {
			code, ok := plpgsql.CodeOf(text)
			if !ok {
				return nil, sqlerr.New(sqlerr.UndefinedObject,
					"unrecognized exception condition \"%s\"", text)
			}
			if m.Code = code; s.Condition == "" {
				s = &plpgsql.Raise{Place: s.Place, Level: s.Level, HasFormat: s.HasFormat}
			}
			continue
		}
		*m.field(o.Name) = text
	}
	return given, nil
}

// field returns where an option goes.
func (m *Message) field(option string) *string {
	switch option {
	case "MESSAGE":
		return &m.Message
	case "DETAIL":
		return &m.Detail
	case "HINT":
		return &m.Hint
	case "COLUMN":
		return &m.Column
	case "CONSTRAINT":
		return &m.Constraint
	case "DATATYPE":
		return &m.DataType
	case "TABLE":
		return &m.Table
	}
	return &m.Schema
}

func (x *interpreter) assert(ctx context.Context, s *plpgsql.Assert) error {
	if x.host.Setting("plpgsql.check_asserts") == "off" {
		return nil
	}
	holds, err := x.boolean(ctx, s.Cond)
	if err != nil || holds {
		return err
	}
	message := "assertion failed"
	if s.Message != nil {
		text, null, err := x.text(ctx, s.Message)
		if err != nil {
			return err
		}
		if !null {
			message = text
		}
	}
	return sqlerr.New(sqlerr.AssertFailure, "%s", message)
}

func (x *interpreter) diagnostics(ctx context.Context, s *plpgsql.Diagnostics) error {
	if s.Stacked && x.handled == nil {
		return sqlerr.New(sqlerr.StackedDiagnosticsAccessed,
			"GET STACKED DIAGNOSTICS cannot be used outside an exception handler")
	}
	for _, item := range s.Items {
		d, t := types.NewString(x.diagnostic(item.Item, s)), types.TText
		if item.Item == plpgsql.RowCount {
			d, t = types.NewInt(x.processed), types.TInt8
		}
		if err := x.assign(ctx, item.Target, d, t); err != nil {
			return err
		}
	}
	return nil
}

// diagnostic returns the text of an item.
func (x *interpreter) diagnostic(item plpgsql.Diagnostic, s *plpgsql.Diagnostics) string {
	if item == plpgsql.Context {
		e := &sqlerr.Error{}
		addContext(e, "PL/pgSQL function %s line %d at %s", x.program.Name, s.Line, s.Kind())
		return e.Context
	}
	if x.handled == nil {
		return ""
	}
	e := x.handled.err
	switch item {
	case plpgsql.ReturnedSQLState:
		return e.Code
	case plpgsql.MessageText:
		return e.Message
	case plpgsql.ExceptionDetail:
		return e.Detail
	case plpgsql.ExceptionHint:
		return e.Hint
	case plpgsql.ExceptionContext:
		return e.Context
	case plpgsql.ColumnName:
		return e.Column
	case plpgsql.ConstraintName:
		return e.Constraint
	case plpgsql.DatatypeName:
		return e.DataType
	case plpgsql.TableName:
		return e.Table
	}
	return e.Schema
}
