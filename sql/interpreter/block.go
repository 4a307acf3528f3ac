package interpreter

import (
	"context"
	"errors"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql/plpgsql"
	"github.com/minidb/minidb/table/types"
)

func (x *interpreter) block(ctx context.Context, b *plpgsql.Block) (flow, error) {
	for _, v := range b.Variables {
		if err := x.initialise(ctx, v); err != nil {
			x.during = "during statement block local variable initialization"
			return flow{}, x.place(ctx, err, v.Line, "")
		}
	}
	var out flow
	var err error
	if b.Handlers == nil {
		out, err = x.statements(ctx, b.Body)
	} else {
		out, err = x.guarded(ctx, b)
	}
	if err == nil && out.kind == exiting && out.label != "" && out.label == b.Label {
		return flow{}, nil
	}
	return out, err
}

// initialise gives a variable its default.
func (x *interpreter) initialise(ctx context.Context, v *plpgsql.Variable) error {
	d, t := types.Null, types.TUnknown
	switch {
	case v.Cursor != nil:
		d, t = types.NewString(v.Name), types.TRefCursor
	case v.Default != nil:
		var err error
		if d, t, err = x.value(ctx, v.Default); err != nil {
			return err
		}
	case v.IsRow():
		t = types.TRecord
	}
	return x.assign(ctx, &plpgsql.Target{Variable: v}, d, t)
}

// guarded runs a block with EXCEPTION, in a subtransaction.
func (x *interpreter) guarded(ctx context.Context, b *plpgsql.Block) (flow, error) {
	depth, err := x.host.Begin(ctx)
	if err != nil {
		return flow{}, err
	}
	outer := x.handled
	out, err := x.statements(ctx, b.Body)
	if err == nil {
		x.host.Release(depth)
		return out, nil
	}
	var f *fault
	switch ended := ctx.Err(); {
	case !errors.As(err, &f):
		return flow{}, err
	case ended != nil && f.err.Code != sqlerr.QueryCanceled:
		return flow{}, ended
	case ended != nil:
		return flow{}, err
	}
	h := handler(b, f.err.Code)
	if h == nil {
		return flow{}, err
	}
	x.host.RollBack(depth)
	x.generation++
	x.values[b.State.Number] = types.NewString(f.err.Code)
	x.values[b.Message.Number] = types.NewString(f.err.Message)
	x.handled = f
	out, err = x.statements(ctx, h.Body)
	x.handled = outer
	return out, err
}

// handler returns the first handler of a block for an error, or nil.
func handler(b *plpgsql.Block, code string) *plpgsql.Handler {
	for _, h := range b.Handlers {
		for _, c := range h.Conditions {
			if matches(c, code) {
				return h
			}
		}
	}
	return nil
}

// matches reports whether a condition means an error. OTHERS leaves out those that a program should
// not handle by accident.
func matches(c plpgsql.Condition, code string) bool {
	if c.Others {
		return code != sqlerr.QueryCanceled && code != sqlerr.AssertFailure
	}
	return c.Code == code || strings.HasSuffix(c.Code, "000") && c.Code[:2] == code[:2]
}
