package pgcatalog

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/minidb/minidb/planner/deparse"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

func informationSchema() []relation {
	const s = "information_schema"
	return []relation{
		{schema: s, name: "schemata", view: true, rows: schemataRows,
			columns: "catalog_name name, schema_name name, schema_owner name, default_character_set_catalog name, " +
				"default_character_set_schema name, default_character_set_name name, sql_path varchar"},
		{schema: s, name: "tables", view: true, rows: infoTableRows,
			columns: "table_catalog name, table_schema name, table_name name, table_type varchar, self_referencing_column_name name, " +
				"reference_generation varchar, user_defined_type_catalog name, user_defined_type_schema name, user_defined_type_name name, " +
				"is_insertable_into varchar, is_typed varchar, commit_action varchar"},
		{schema: s, name: "columns", view: true, rows: infoColumnRows,
			columns: "table_catalog name, table_schema name, table_name name, column_name name, ordinal_position int4, column_default varchar, " +
				"is_nullable varchar, data_type varchar, character_maximum_length int4, character_octet_length int4, numeric_precision int4, " +
				"numeric_precision_radix int4, numeric_scale int4, datetime_precision int4, interval_type varchar, interval_precision int4, " +
				"character_set_catalog name, character_set_schema name, character_set_name name, collation_catalog name, " +
				"collation_schema name, collation_name name, domain_catalog name, domain_schema name, domain_name name, udt_catalog name, " +
				"udt_schema name, udt_name name, scope_catalog name, scope_schema name, scope_name name, maximum_cardinality int4, " +
				"dtd_identifier name, is_self_referencing varchar, is_identity varchar, identity_generation varchar, identity_start varchar, " +
				"identity_increment varchar, identity_maximum varchar, identity_minimum varchar, identity_cycle varchar, is_generated varchar, " +
				"generation_expression varchar, is_updatable varchar"},
		{schema: s, name: "views", view: true, rows: infoViewRows,
			columns: "table_catalog name, table_schema name, table_name name, view_definition varchar, check_option varchar, is_updatable varchar, " +
				"is_insertable_into varchar, is_trigger_updatable varchar, is_trigger_deletable varchar, is_trigger_insertable_into varchar"},
		{schema: s, name: "sequences", view: true, rows: infoSequenceRows,
			columns: "sequence_catalog name, sequence_schema name, sequence_name name, data_type varchar, numeric_precision int4, " +
				"numeric_precision_radix int4, numeric_scale int4, start_value varchar, minimum_value varchar, maximum_value varchar, " +
				"increment varchar, cycle_option varchar"},
		{schema: s, name: "table_constraints", view: true, rows: infoConstraintRows,
			columns: "constraint_catalog name, constraint_schema name, constraint_name name, table_catalog name, table_schema name, " +
				"table_name name, constraint_type varchar, is_deferrable varchar, initially_deferred varchar, enforced varchar, nulls_distinct varchar"},
		{schema: s, name: "key_column_usage", view: true, rows: infoKeyRows,
			columns: "constraint_catalog name, constraint_schema name, constraint_name name, table_catalog name, table_schema name, " +
				"table_name name, column_name name, ordinal_position int4, position_in_unique_constraint int4"},
		{schema: s, name: "constraint_column_usage", view: true, rows: infoUsageRows,
			columns: "table_catalog name, table_schema name, table_name name, column_name name, constraint_catalog name, " +
				"constraint_schema name, constraint_name name"},
		{schema: s, name: "referential_constraints", view: true, rows: infoReferenceRows,
			columns: "constraint_catalog name, constraint_schema name, constraint_name name, unique_constraint_catalog name, " +
				"unique_constraint_schema name, unique_constraint_name name, match_option varchar, update_rule varchar, delete_rule varchar"},
		{schema: s, name: "check_constraints", view: true, rows: infoCheckRows,
			columns: "constraint_catalog name, constraint_schema name, constraint_name name, check_clause varchar"},
	}
}

func yesNo(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}

func schemataRows(_ context.Context, r *reader, emit emitter) error {
	names := []string{"pg_catalog", "information_schema"}
	schemas, err := r.schemas()
	if err != nil {
		return err
	}
	for _, s := range schemas {
		names = append(names, s.Name)
	}
	for _, n := range names {
		if err := emit("catalog_name", r.databaseName(), "schema_name", n, "schema_owner", r.env.User()); err != nil {
			return err
		}
	}
	return nil
}

func infoTableRows(_ context.Context, r *reader, emit emitter) error {
	return r.eachRelation(true, func(d *table.Desc) error {
		kind, writable := "BASE TABLE", d.Kind == table.KindTable
		switch relkind(d) {
		case "v":
			kind = "VIEW"
		case "S":
			return nil
		}
		return emit("table_catalog", r.databaseName(), "table_schema", d.Schema, "table_name", d.Name, "table_type", kind,
			"is_insertable_into", yesNo(writable), "is_typed", "NO")
	})
}

// precision gives the columns of information_schema.columns that tell a type's size.
func precision(t *types.Type) (length, octets, numeric, radix, scale, datetime any) {
	switch t.Family {
	case types.String:
		if t.Mod >= 4 && (t.OID == types.OIDVarchar || t.OID == types.OIDBPChar) {
			length = int(t.Mod - 4)
			octets = int(t.Mod-4) * 4
		} else if t.OID != types.OIDName && t.OID != types.OIDChar && t.OID != types.OIDJSON {
			octets = 1 << 30
		}
	case types.Int:
		switch t.OID {
		case types.OIDInt2, types.OIDInt4, types.OIDInt8:
			numeric, radix, scale = int(t.Len)*8, 2, 0
		}
	case types.Float:
		numeric, radix = map[int16]int{4: 24, 8: 53}[t.Len], 2
	case types.Decimal:
		radix = 10
		if t.Mod != types.NoMod {
			p, s := types.NumericModParts(t.Mod)
			numeric, scale = p, s
		}
	case types.Date:
		datetime = 0
	case types.Time, types.Timestamp, types.Interval:
		datetime = 6
		if t.Mod != types.NoMod && t.Family != types.Interval {
			datetime = int(t.Mod)
		}
	}
	return length, octets, numeric, radix, scale, datetime
}

func infoColumnRows(_ context.Context, r *reader, emit emitter) error {
	return r.eachRelation(true, func(d *table.Desc) error {
		if d.Kind == table.KindSequence {
			return nil
		}
		for i, c := range visibleColumns(d) {
			if err := r.infoColumn(d, i, &c, emit); err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *reader) infoColumn(d *table.Desc, i int, c *table.Column, emit emitter) error {
	length, octets, numeric, radix, scale, datetime := precision(c.Type)
	typeName, coll := types.TypeName(c.Type.OID), any(nil)
	if c.Type.Elem != nil {
		typeName = "ARRAY"
	}
	if c.Collation != "" {
		coll = c.Collation
	}
	generated, expression := "NEVER", any(nil)
	if c.Generated != "" {
		generated, expression = "ALWAYS", r.columnExpr(d, c, deparse.Options{Name: r.relationName})
	}
	deflt := ""
	if c.Generated == "" && hasDefault(c) {
		deflt = r.columnExpr(d, c, deparse.Options{Name: r.relationName})
	}
	var identity, start, increment, maximum, minimum, cycle any
	cycle = "NO"
	if c.Identity != "" {
		identity = strings.ToUpper(c.Identity)
		if seq, err := r.env.View().RelationByID(r.ctx, c.SequenceID); err == nil && seq != nil && seq.Sequence != nil {
			q := seq.Sequence
			start, increment = strconv.FormatInt(q.Start, 10), strconv.FormatInt(q.Increment, 10)
			maximum, minimum, cycle = strconv.FormatInt(q.Max, 10), strconv.FormatInt(q.Min, 10), yesNo(q.Cycle)
		}
	}
	db := r.databaseName()
	return emit("table_catalog", db, "table_schema", d.Schema, "table_name", d.Name, "column_name", c.Name,
		"ordinal_position", i+1, "column_default", orNull(deflt), "is_nullable", yesNo(!c.NotNull), "data_type", typeName,
		"character_maximum_length", length, "character_octet_length", octets, "numeric_precision", numeric,
		"numeric_precision_radix", radix, "numeric_scale", scale, "datetime_precision", datetime, "interval_precision", nil,
		"collation_name", coll, "udt_catalog", db, "udt_schema", "pg_catalog", "udt_name", c.Type.Name, "maximum_cardinality", nil,
		"dtd_identifier", strconv.Itoa(i+1), "is_self_referencing", "NO", "is_identity", yesNo(c.Identity != ""),
		"identity_generation", identity, "identity_start", start, "identity_increment", increment, "identity_maximum", maximum,
		"identity_minimum", minimum, "identity_cycle", cycle, "is_generated", generated, "generation_expression", expression,
		"is_updatable", yesNo(d.Kind == table.KindTable))
}

func infoViewRows(_ context.Context, r *reader, emit emitter) error {
	return r.eachRelation(false, func(d *table.Desc) error {
		if d.Kind != table.KindView {
			return nil
		}
		return emit("table_catalog", r.databaseName(), "table_schema", d.Schema, "table_name", d.Name, "view_definition", r.viewText(d, deparse.Options{}),
			"check_option", "NONE", "is_updatable", "NO", "is_insertable_into", "NO", "is_trigger_updatable", "NO",
			"is_trigger_deletable", "NO", "is_trigger_insertable_into", "NO")
	})
}

func infoSequenceRows(_ context.Context, r *reader, emit emitter) error {
	return r.eachRelation(false, func(d *table.Desc) error {
		if d.Kind != table.KindSequence {
			return nil
		}
		if identity, err := r.feedsIdentity(d); err != nil || identity {
			return err
		}
		q := d.Sequence
		bits := 64
		if t, ok := types.ByOID(q.Type); ok {
			bits = int(t.Len) * 8
		}
		return emit("sequence_catalog", r.databaseName(), "sequence_schema", d.Schema, "sequence_name", d.Name,
			"data_type", types.TypeName(q.Type), "numeric_precision", bits, "numeric_precision_radix", 2,
			"numeric_scale", 0, "start_value", strconv.FormatInt(q.Start, 10), "minimum_value", strconv.FormatInt(q.Min, 10),
			"maximum_value", strconv.FormatInt(q.Max, 10), "increment", strconv.FormatInt(q.Increment, 10), "cycle_option", yesNo(q.Cycle))
	})
}

// feedsIdentity reports whether a sequence is part of an identity column, which is not shown as a
// sequence of its own.
func (r *reader) feedsIdentity(seq *table.Desc) (bool, error) {
	if seq.Sequence.OwnerTable == 0 {
		return false, nil
	}
	t, err := r.env.View().RelationByID(r.ctx, seq.Sequence.OwnerTable)
	if err != nil || t == nil {
		return false, err
	}
	i := t.ColumnByID(seq.Sequence.OwnerColumn)
	return i >= 0 && t.Columns[i].Identity != "", nil
}

// constraint is one constraint of a table as information_schema tells of it.
type constraint struct {
	d             *table.Desc
	name, kind    string
	columns       []table.ColumnID
	fk            *table.ForeignKey
	check         string
	notDistinct   bool
	deferrable    bool
	initiallyDefd bool
}

func (r *reader) eachConstraint(f func(c *constraint) error) error {
	return r.eachRelation(false, func(d *table.Desc) error {
		for i := range d.Indexes {
			ix := &d.Indexes[i]
			kind := "UNIQUE"
			if ix.Primary {
				kind = "PRIMARY KEY"
			} else if !ix.Constraint {
				continue
			}
			if err := f(&constraint{d: d, name: ix.Name, kind: kind, columns: indexColumnIDs(ix), notDistinct: ix.NullsNotDistinct}); err != nil {
				return err
			}
		}
		for i := range d.ForeignKeys {
			fk := &d.ForeignKeys[i]
			if err := f(&constraint{d: d, name: fk.Name, kind: "FOREIGN KEY", columns: fk.Columns, fk: fk,
				deferrable: fk.Deferrable, initiallyDefd: fk.InitiallyDeferred}); err != nil {
				return err
			}
		}
		for _, c := range d.Checks {
			if err := f(&constraint{d: d, name: c.Name, kind: "CHECK", check: r.checkText(d, &c, deparse.Options{Name: r.relationName})}); err != nil {
				return err
			}
		}
		for i, c := range visibleColumns(d) {
			if c.NotNull && d.Kind == table.KindTable {
				name := strconv.Itoa(int(d.SchemaID)) + "_" + strconv.Itoa(int(d.ID)) + "_" + strconv.Itoa(i+1) + "_not_null"
				if err := f(&constraint{d: d, name: name, kind: "CHECK", check: c.Name + " IS NOT NULL"}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func infoConstraintRows(_ context.Context, r *reader, emit emitter) error {
	db := r.databaseName()
	return r.eachConstraint(func(c *constraint) error {
		var distinct any
		if c.kind == "UNIQUE" {
			distinct = yesNo(!c.notDistinct)
		}
		return emit("constraint_catalog", db, "constraint_schema", c.d.Schema, "constraint_name", c.name, "table_catalog", db,
			"table_schema", c.d.Schema, "table_name", c.d.Name, "constraint_type", c.kind, "is_deferrable", yesNo(c.deferrable),
			"initially_deferred", yesNo(c.initiallyDefd), "enforced", "YES", "nulls_distinct", distinct)
	})
}

func infoKeyRows(_ context.Context, r *reader, emit emitter) error {
	db := r.databaseName()
	return r.eachConstraint(func(c *constraint) error {
		for i, id := range c.columns {
			n := c.d.ColumnByID(id)
			if n < 0 {
				continue
			}
			var inUnique any
			if c.fk != nil {
				_, ix, err := r.uniqueOf(c.fk)
				if err != nil {
					return err
				}
				if ix != nil {
					inUnique = 1 + slices.IndexFunc(ix.Columns, func(k table.IndexColumn) bool { return k.ColumnID == c.fk.RefColumns[i] })
				}
			}
			if err := emit("constraint_catalog", db, "constraint_schema", c.d.Schema, "constraint_name", c.name, "table_catalog", db,
				"table_schema", c.d.Schema, "table_name", c.d.Name, "column_name", c.d.Columns[n].Name, "ordinal_position", i+1,
				"position_in_unique_constraint", inUnique); err != nil {
				return err
			}
		}
		return nil
	})
}

func infoUsageRows(_ context.Context, r *reader, emit emitter) error {
	db := r.databaseName()
	return r.eachConstraint(func(c *constraint) error {
		d, columns := c.d, c.columns
		if c.fk != nil {
			ref, err := r.env.View().RelationByID(r.ctx, c.fk.RefTable)
			if err != nil || ref == nil {
				return err
			}
			d, columns = ref, c.fk.RefColumns
		}
		for _, id := range columns {
			n := d.ColumnByID(id)
			if n < 0 {
				continue
			}
			if err := emit("table_catalog", db, "table_schema", d.Schema, "table_name", d.Name, "column_name", d.Columns[n].Name,
				"constraint_catalog", db, "constraint_schema", c.d.Schema, "constraint_name", c.name); err != nil {
				return err
			}
		}
		return nil
	})
}

func infoReferenceRows(_ context.Context, r *reader, emit emitter) error {
	db := r.databaseName()
	return r.eachConstraint(func(c *constraint) error {
		if c.fk == nil {
			return nil
		}
		var schema, unique any
		ref, ix, err := r.uniqueOf(c.fk)
		if err != nil {
			return err
		}
		if ix != nil && (ix.Primary || ix.Constraint) {
			schema, unique = ref.Schema, ix.Name
		}
		match := "NONE"
		if c.fk.MatchFull {
			match = "FULL"
		}
		return emit("constraint_catalog", db, "constraint_schema", c.d.Schema, "constraint_name", c.name,
			"unique_constraint_catalog", db, "unique_constraint_schema", schema, "unique_constraint_name", unique, "match_option", match,
			"update_rule", actionText(c.fk.OnUpdate), "delete_rule", actionText(c.fk.OnDelete))
	})
}

// uniqueOf finds the table to which a foreign key refers, and the unique index on which it rests.
func (r *reader) uniqueOf(fk *table.ForeignKey) (*table.Desc, *table.Index, error) {
	ref, err := r.env.View().RelationByID(r.ctx, fk.RefTable)
	if err != nil || ref == nil {
		return nil, nil, err
	}
	return ref, ref.ReferencedIndex(fk.RefColumns), nil
}

func actionText(action string) string {
	if action == "" {
		return "NO ACTION"
	}
	return strings.ToUpper(action)
}

func infoCheckRows(_ context.Context, r *reader, emit emitter) error {
	return r.eachConstraint(func(c *constraint) error {
		if c.check == "" {
			return nil
		}
		return emit("constraint_catalog", r.databaseName(), "constraint_schema", c.d.Schema, "constraint_name", c.name, "check_clause", c.check)
	})
}
