package ddl

import (
	"context"
	"math"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn/rowlock"
)

func (env *Env) createSequence(ctx context.Context, s *ast.CreateSequence) error {
	if s.Options.Name != nil {
		return sqlerr.New(sqlerr.SyntaxError,
			"invalid sequence option SEQUENCE NAME").At(int(s.Options.Name.Pos))
	}
	sc, err := env.schemaFor(ctx, s.Name, s.Temp)
	if err != nil {
		return err
	}
	if taken, err := env.View.Taken(ctx, env.Database, sc.Name, s.Name.Name); err != nil {
		return err
	} else if taken {
		if s.IfNotExists {
			env.notice(sqlerr.DuplicateTable, "relation \"%s\" already exists, skipping",
				s.Name.Name)
			return nil
		}
		return sqlerr.New(sqlerr.DuplicateTable, "relation \"%s\" already exists", s.Name.Name)
	}
	d, err := env.newSequence(ctx, sc, s.Name.Name, types.OIDInt8, &s.Options)
	if err != nil {
		return err
	}
	if d.Owner, err = env.owner(ctx); err != nil {
		return err
	}
	if err := env.setOwner(ctx, d, &s.Options); err != nil {
		return err
	}
	return env.create(ctx, d)
}

// newSequence makes the descriptor of a sequence; oid is its type unless the options name one.
func (env *Env) newSequence(ctx context.Context, sc catalog.Schema, name string, oid types.OID,
	o *ast.SequenceOptions) (*table.Desc, error) {
	id, err := env.View.NewIDIn(ctx, sc.ID)
	if err != nil {
		return nil, err
	}
	seq := &table.Sequence{Increment: 1, Cache: 1, Type: oid}
	if err := env.applySequenceOptions(ctx, seq, o, true); err != nil {
		return nil, err
	}
	seq.Last = seq.Start
	return &table.Desc{
		ID: id, DatabaseID: env.Database, SchemaID: sc.ID, Schema: sc.Name, Name: name,
		Kind: table.KindSequence, Sequence: seq,
		Columns: []table.Column{
			{ID: 1, Name: "last_value", Type: types.TInt8, NotNull: true},
			{ID: 2, Name: "log_cnt", Type: types.TInt8, NotNull: true},
			{ID: 3, Name: "is_called", Type: types.TBool, NotNull: true},
		},
		NextColumnID: 4, NextIndexID: 2,
	}, nil
}

func sequenceBounds(oid types.OID) (low, high int64) {
	switch oid {
	case types.OIDInt2:
		return math.MinInt16, math.MaxInt16
	case types.OIDInt4:
		return math.MinInt32, math.MaxInt32
	}
	return math.MinInt64, math.MaxInt64
}

func badSequence(format string, args ...any) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, format, args...)
}

// applySequenceOptions changes a definition; fresh is true for CREATE, false for ALTER.
func (env *Env) applySequenceOptions(ctx context.Context, seq *table.Sequence,
	o *ast.SequenceOptions, fresh bool) error {
	oldLow, oldHigh := sequenceBounds(seq.Type)
	resetMin, resetMax := false, false
	if o.Type != nil {
		t, err := planner.ResolveType(ctx, env.Planner, *o.Type)
		if err != nil {
			return err
		}
		if t.OID != types.OIDInt2 && t.OID != types.OIDInt4 && t.OID != types.OIDInt8 {
			return badSequence("sequence type must be smallint, integer, or bigint")
		}
		if !fresh { // bounds that were the old type's own follow the new type
			resetMin, resetMax = seq.Min == oldLow, seq.Max == oldHigh
		}
		seq.Type = t.OID
	}
	if o.Increment != nil {
		seq.Increment = *o.Increment
	}
	if seq.Increment == 0 {
		return badSequence("INCREMENT must not be zero")
	}
	if o.Cycle != nil {
		seq.Cycle = *o.Cycle
	}
	if o.Cache != nil {
		if *o.Cache <= 0 {
			return badSequence("CACHE (%d) must be greater than zero", *o.Cache)
		}
		seq.Cache = *o.Cache
	}
	if err := setBounds(seq, o, fresh, resetMin, resetMax); err != nil {
		return err
	}
	return setStart(seq, o, fresh)
}

func setBounds(seq *table.Sequence, o *ast.SequenceOptions, fresh, resetMin, resetMax bool) error {
	low, high := sequenceBounds(seq.Type)
	switch {
	case o.Max != nil:
		seq.Max = *o.Max
	case resetMax || (fresh || o.NoMax) && seq.Increment > 0:
		seq.Max = high
	case fresh || o.NoMax:
		seq.Max = -1
	}
	if err := boundInType("MAXVALUE", seq.Max, seq.Type); err != nil {
		return err
	}
	switch {
	case o.Min != nil:
		seq.Min = *o.Min
	case resetMin || (fresh || o.NoMin) && seq.Increment < 0:
		seq.Min = low
	case fresh || o.NoMin:
		seq.Min = 1
	}
	if err := boundInType("MINVALUE", seq.Min, seq.Type); err != nil {
		return err
	}
	if seq.Min >= seq.Max {
		return badSequence("MINVALUE (%d) must be less than MAXVALUE (%d)", seq.Min, seq.Max)
	}
	return nil
}

// boundInType refuses a bound outside of the sequence's type.
func boundInType(name string, v int64, t types.OID) error {
	if low, high := sequenceBounds(t); v < low || v > high {
		return badSequence("%s (%d) is out of range for sequence data type %s", name, v,
			types.TypeName(t))
	}
	return nil
}

// withinBounds refuses a START or RESTART value outside of the sequence's bounds.
func withinBounds(name string, v int64, seq *table.Sequence) error {
	if v < seq.Min {
		return badSequence("%s value (%d) cannot be less than MINVALUE (%d)", name, v, seq.Min)
	}
	if v > seq.Max {
		return badSequence("%s value (%d) cannot be greater than MAXVALUE (%d)", name, v, seq.Max)
	}
	return nil
}

func setStart(seq *table.Sequence, o *ast.SequenceOptions, fresh bool) error {
	if o.Start != nil {
		seq.Start = *o.Start
	} else if fresh {
		seq.Start = seq.Min
		if seq.Increment < 0 {
			seq.Start = seq.Max
		}
	}
	return withinBounds("START", seq.Start, seq)
}

// setOwner applies OWNED BY to a sequence's definition, and notes it in the owner's column.
func (env *Env) setOwner(ctx context.Context, d *table.Desc, o *ast.SequenceOptions) error {
	if o.OwnedBy == nil && !o.OwnedByNone {
		return nil
	}
	if d.Sequence.OwnerTable != 0 {
		if err := env.disown(ctx, d); err != nil {
			return err
		}
	}
	if o.OwnedByNone {
		return nil
	}
	if len(o.OwnedBy.Qualifier) == 0 {
		return sqlerr.New(sqlerr.SyntaxError, "invalid OWNED BY option").
			WithHint("Specify OWNED BY table.column or OWNED BY NONE.")
	}
	q := o.OwnedBy.Qualifier
	n := ast.Name{Pos: o.OwnedBy.Pos, Name: q[len(q)-1]}
	if len(q) > 1 {
		n.Schema = q[len(q)-2]
	}
	t, err := env.relation(ctx, n)
	if err != nil {
		return err
	}
	if t.Kind != table.KindTable {
		return sqlerr.New(sqlerr.WrongObjectType, "sequence cannot be owned by relation \"%s\"",
			t.Name).
			WithDetail("This operation is not supported for %ss.", kindOf(t))
	}
	if t.OwnedBy() != d.OwnedBy() {
		return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState,
			"sequence must have same owner as table it is linked to")
	}
	if t.SchemaID != d.SchemaID {
		return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState,
			"sequence must be in same schema as table it is linked to")
	}
	c, err := column(t, ast.Ident{Name: o.OwnedBy.Name})
	if err != nil {
		return err
	}
	owner := t.Clone()
	d.Sequence.OwnerTable, d.Sequence.OwnerColumn = t.ID, t.Columns[c].ID
	owner.Columns[c].SequenceID = d.ID
	return env.View.UpdateRelation(ctx, t, owner)
}

// disown takes a sequence from the column that owns it.
func (env *Env) disown(ctx context.Context, d *table.Desc) error {
	t, err := env.View.RelationByID(ctx, d.Sequence.OwnerTable)
	if err != nil || t == nil {
		return err
	}
	owner := t.Clone()
	if c := owner.ColumnByID(d.Sequence.OwnerColumn); c >= 0 &&
		owner.Columns[c].SequenceID == d.ID {
		if owner.Columns[c].Identity != "" {
			return sqlerr.New(sqlerr.FeatureNotSupported,
				"cannot change ownership of identity sequence").
				WithDetail("Sequence \"%s\" is linked to table \"%s\".", d.Name, t.Name)
		}
		owner.Columns[c].SequenceID = 0
		if err := env.View.UpdateRelation(ctx, t, owner); err != nil {
			return err
		}
	}
	d.Sequence.OwnerTable, d.Sequence.OwnerColumn = 0, 0
	return nil
}

func (env *Env) alterSequence(ctx context.Context, s *ast.AlterSequence) error {
	d, ix, err := env.lookup(ctx, s.Name)
	if err != nil {
		return err
	}
	switch {
	case d == nil && s.IfExists:
		env.notice("00000", "relation \"%s\" does not exist, skipping", s.Name.Name)
		return nil
	case d == nil:
		return sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", display(s.Name))
	case ix != nil || d.Kind != table.KindSequence:
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a sequence", s.Name.Name)
	}
	if s.Options.Name != nil {
		return sqlerr.New(sqlerr.SyntaxError,
			"invalid sequence option SEQUENCE NAME").At(int(s.Options.Name.Pos))
	}
	if err := env.mustOwn(ctx, d); err != nil {
		return err
	}
	if err := env.lock(ctx, d, rowlock.ShareRowExclusive); err != nil {
		return err
	}
	return env.changeSequence(ctx, d, &s.Options)
}

// countsAnew reports whether the options change how a sequence counts.
func countsAnew(o *ast.SequenceOptions) bool {
	return o.Increment != nil || o.Min != nil || o.Max != nil || o.NoMin || o.NoMax ||
		o.Cache != nil || o.Cycle != nil || o.Type != nil
}

// changeSequence applies ALTER SEQUENCE options. What changes how the sequence counts begins a new
// epoch, so that the change can be rolled back although positions cannot.
func (env *Env) changeSequence(ctx context.Context, old *table.Desc, o *ast.SequenceOptions) error {
	d := old.Clone()
	if err := env.applySequenceOptions(ctx, d.Sequence, o, false); err != nil {
		return err
	}
	switch {
	case o.Restart || o.RestartWith != nil:
		value := d.Sequence.Start
		if o.RestartWith != nil {
			value = *o.RestartWith
		}
		if err := withinBounds("RESTART", value, d.Sequence); err != nil {
			return err
		}
		if err := env.View.Restart(ctx, d, d.Sequence, value); err != nil {
			return err
		}
	case countsAnew(o):
		if err := env.View.NextEpoch(ctx, old, d.Sequence); err != nil {
			return err
		}
		if err := withinBounds("RESTART", d.Sequence.Last, d.Sequence); err != nil {
			return err
		}
	}
	if err := env.setOwner(ctx, d, o); err != nil {
		return err
	}
	return env.View.UpdateRelation(ctx, old, d)
}

// sequenceDefault is the DEFAULT text of a column that a sequence feeds.
func sequenceDefault(schema, name string) string {
	return "nextval(" + sqlname.Literal(sqlname.Qualified(schema, name)) + "::regclass)"
}
