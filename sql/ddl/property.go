package ddl

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// Properties of relations and columns that PostgreSQL's storage, planner and replication take as
// hints: they are kept, shown in the catalogs and dumped.

// relabel stores a descriptor that means the same for writers of rows.
func (a *alteration) relabel(ctx context.Context, next *table.Desc) error {
	return a.validated(ctx, next)
}

// clusterOn marks the index by which CLUSTER would order the table, "" for none.
func (a *alteration) clusterOn(ctx context.Context, act *ast.AlterAction) error {
	next := a.d.Clone()
	for i := range next.Indexes {
		next.Indexes[i].Clustered = false
	}
	if act.Kind == "cluster on" {
		ix := next.IndexByName(act.Name.Name)
		switch {
		case ix == nil:
			return noIndexOf(a.d, act.Name.Name)
		case ix.WhereText != "":
			return sqlerr.New(sqlerr.FeatureNotSupported, "cannot cluster on partial index \"%s\"",
				ix.Name)
		case ix.Method != "" && ix.Method != "btree" && ix.Method != "gist":
			return sqlerr.New(sqlerr.FeatureNotSupported, "cannot cluster on index \"%s\" because "+
				"access method does not support clustering", ix.Name)
		}
		ix.Clustered = true
	}
	return a.relabel(ctx, next)
}

func noIndexOf(d *table.Desc, name string) error {
	return sqlerr.New(sqlerr.UndefinedObject, "index \"%s\" for table \"%s\" does not exist", name,
		d.Name)
}

// replicaIdentity sets what would identify a row in a stream of changes.
func (a *alteration) replicaIdentity(ctx context.Context, act *ast.AlterAction) error {
	next := a.d.Clone()
	for i := range next.Indexes {
		next.Indexes[i].ReplicaIdentity = false
	}
	next.ReplicaIdentity = act.Word
	switch act.Word {
	case "default":
		next.ReplicaIdentity = ""
	case "using index":
		ix := next.IndexByName(act.Name.Name)
		if ix == nil {
			return noIndexOf(a.d, act.Name.Name)
		}
		if err := mayIdentify(a.d, ix); err != nil {
			return err
		}
		next.ReplicaIdentity, ix.ReplicaIdentity = "index", true
	}
	return a.relabel(ctx, next)
}

// mayIdentify returns why an index cannot be a replica identity.
func mayIdentify(d *table.Desc, ix *table.Index) error {
	switch {
	case !ix.Unique && !ix.Primary:
		return sqlerr.New(sqlerr.WrongObjectType,
			"cannot use non-unique index \"%s\" as replica identity", ix.Name)
	case d.HasExpr(ix):
		return sqlerr.New(sqlerr.FeatureNotSupported,
			"cannot use expression index \"%s\" as replica identity", ix.Name)
	case ix.WhereText != "":
		return sqlerr.New(sqlerr.FeatureNotSupported,
			"cannot use partial index \"%s\" as replica identity", ix.Name)
	}
	for _, k := range ix.Columns {
		if c := &d.Columns[d.ColumnByID(k.ColumnID)]; !c.NotNull {
			return sqlerr.New(sqlerr.WrongObjectType, "index \"%s\" cannot be used as replica "+
				"identity because column \"%s\" is nullable", ix.Name, c.Name)
		}
	}
	return nil
}

// setLogged changes whether a table is shown as unlogged. Its rows are as safe in either case.
func (a *alteration) setLogged(ctx context.Context, act *ast.AlterAction) error {
	unlogged := act.Kind == "set unlogged"
	if a.d.Temporary() {
		return sqlerr.New(sqlerr.InvalidTableDefinition, "cannot change logged status of table "+
			"\"%s\" because it is temporary", a.d.Name)
	}
	if a.d.Unlogged == unlogged {
		return nil
	}
	if err := a.unstoredRows(ctx); err != nil {
		return err
	}
	if err := a.neighboursAllow(ctx, unlogged); err != nil {
		return err
	}
	next := a.d.Clone()
	next.Unlogged = unlogged
	if err := a.relabel(ctx, next); err != nil {
		return err
	}
	for _, id := range ownedSequences(next) {
		seq, err := a.env.View.RelationByID(ctx, id)
		if err != nil || seq == nil {
			return err
		}
		s := seq.Clone()
		s.Unlogged = unlogged
		if err := a.env.View.RelabelRelation(ctx, seq, s); err != nil {
			return err
		}
	}
	return nil
}

func ownedSequences(d *table.Desc) (ids []table.ID) {
	for i := range d.Columns {
		if id := d.Columns[i].SequenceID; id != 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// neighboursAllow verifies that a logged table refers to no unlogged one.
func (a *alteration) neighboursAllow(ctx context.Context, unlogged bool) error {
	var ids []table.ID
	text := "could not change table \"%s\" to logged because it references unlogged table \"%s\""
	if unlogged {
		ids = a.d.ReferencedBy
		text = "could not change table \"%s\" to unlogged because it references logged table \"%s\""
	} else {
		for i := range a.d.ForeignKeys {
			ids = append(ids, a.d.ForeignKeys[i].RefTable)
		}
	}
	for _, id := range ids {
		if id == a.d.ID {
			continue
		}
		other, err := a.env.View.RelationByID(ctx, id)
		if err != nil {
			return err
		}
		if other != nil && other.Unlogged != unlogged {
			return sqlerr.New(sqlerr.InvalidTableDefinition, text, a.d.Name, other.Name)
		}
	}
	return nil
}

// alterColumnProperty is ALTER COLUMN … SET STATISTICS, SET STORAGE, SET COMPRESSION, SET (…)
// and RESET (…).
func (a *alteration) alterColumnProperty(ctx context.Context, act *ast.AlterAction) error {
	if act.ColumnNumber != 0 {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot refer to non-index column by number")
	}
	target, err := a.env.statisticsTarget(act)
	if err != nil {
		return err
	}
	mode := strings.ToLower(act.Word)
	if act.Kind == "set storage" && storageModes[mode] == "" {
		return sqlerr.New(sqlerr.InvalidParameterValue, "invalid storage type \"%s\"", act.Word)
	}
	o, err := column(a.d, act.Column)
	if err != nil {
		return err
	}
	next := a.d.Clone()
	c := &next.Columns[o]
	switch act.Kind {
	case "set statistics":
		c.Statistics = target
	case "set storage":
		if c.Type.Len > 0 && mode != "plain" {
			return sqlerr.New(sqlerr.FeatureNotSupported,
				"column data type %s can only have storage PLAIN", c.Type)
		}
		c.Storage = storageModes[mode]
	case "set compression":
		if c.Compression, err = compressionOf(c.Type, act.Word); err != nil {
			return err
		}
	default:
		c.Options, err = mergeOptions(c.Options, act.Options, act.Kind == "reset column options",
			columnOption)
		if err != nil {
			return err
		}
	}
	return a.relabel(ctx, next)
}

// compressionOf returns the letter of pg_attribute.attcompression. Like the mode of storage it is a
// hint that is kept, shown and dumped.
func compressionOf(t *types.Type, method string) (string, error) {
	switch letter := compressions[method]; {
	case method == "" || method == "default":
		return "", nil
	case t.Len > 0:
		return "", sqlerr.New(sqlerr.FeatureNotSupported,
			"column data type %s does not support compression", t.SQLName())
	case letter == "":
		return "", sqlerr.New(sqlerr.InvalidParameterValue, "invalid compression method \"%s\"",
			method)
	default:
		return letter, nil
	}
}

var compressions = map[string]string{"pglz": "p", "lz4": "l"}

// storageModes are the letters of pg_attribute.attstorage.
var storageModes = map[string]string{"plain": "p", "external": "e", "extended": "x", "main": "m"}

// maxStatisticsTarget is PostgreSQL's.
const maxStatisticsTarget = 10000

// statisticsTarget returns the target of SET STATISTICS; nil: the default.
func (env *Env) statisticsTarget(act *ast.AlterAction) (*int32, error) {
	switch n := act.Number; {
	case act.Kind != "set statistics" || n == -1:
		return nil, nil
	case n < 0:
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "statistics target %d is too low", n)
	case n > maxStatisticsTarget:
		if env.Notice != nil {
			env.Notice("WARNING", sqlerr.InvalidParameterValue, "lowering statistics target to "+
				strconv.Itoa(maxStatisticsTarget), "")
		}
		return new(int32(maxStatisticsTarget)), nil
	default:
		return new(int32(n)), nil
	}
}

// indexStatistics is ALTER INDEX … ALTER COLUMN … SET STATISTICS, which only expressions have.
func (env *Env) indexStatistics(next *table.Desc, ix *table.Index, act *ast.AlterAction) error {
	target, err := env.statisticsTarget(act)
	if err != nil {
		return err
	}
	n := int(act.ColumnNumber)
	parts := append(indexParts(ix), ix.Include...)
	if n > len(parts) {
		return sqlerr.New(sqlerr.UndefinedColumn,
			"column number %d of relation \"%s\" does not exist", n, ix.Name)
	}
	if n == 0 {
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a table", ix.Name)
	}
	part := next.Part(parts[n-1])
	e := next.Expr(part)
	switch {
	case e == nil && n > len(ix.Columns):
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter statistics on included column "+
			"\"%s\" of index \"%s\"", next.Columns[part].Name, ix.Name)
	case e == nil:
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter statistics on non-expression "+
			"column \"%s\" of index \"%s\"", next.Columns[part].Name, ix.Name).
			WithHint("Alter statistics on table column instead.")
	}
	e.Statistics = target
	return nil
}

func indexParts(ix *table.Index) (ids []table.ColumnID) {
	for _, k := range ix.Columns {
		ids = append(ids, k.ColumnID)
	}
	return ids
}

// columnOption verifies an option of a column.
func columnOption(o *ast.Option) error {
	if o.Name != "n_distinct" && o.Name != "n_distinct_inherited" {
		return unknownParameter(o.Name)
	}
	v, err := strconv.ParseFloat(o.Value, 64)
	if err != nil {
		return sqlerr.New(sqlerr.InvalidParameterValue,
			"invalid value for floating point option \"%s\": %s", o.Name, o.Value)
	}
	if v < -1 || v > math.MaxFloat64 {
		return sqlerr.New(sqlerr.InvalidParameterValue, "value %s out of bounds for option \"%s\"",
			o.Value, o.Name).WithDetail("Valid values are between \"-1.000000\" and \"%f\".",
			math.MaxFloat64)
	}
	return nil
}

func unknownParameter(name string) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized parameter \"%s\"", name)
}

// mergeOptions changes a list of name=value as SET ( … ) and RESET ( … ) do, and verifies what is
// set. Those that are set come last.
func mergeOptions(old []string, opts []ast.Option, reset bool,
	verify func(*ast.Option) error) ([]string, error) {
	out := slices.DeleteFunc(slices.Clone(old), func(s string) bool {
		name, _, _ := strings.Cut(s, "=")
		return slices.ContainsFunc(opts, func(o ast.Option) bool { return o.Name == name })
	})
	for i := range opts {
		o := opts[i]
		if reset {
			if o.Value != "" {
				return nil, sqlerr.New(sqlerr.SyntaxError,
					"RESET must not include values for parameters")
			}
			continue
		}
		if o.Value == "" {
			o.Value = "true"
		}
		if err := verify(&o); err != nil {
			return nil, err
		}
		out = append(out, o.Name+"="+o.Value)
	}
	if len(out) == 0 {
		return nil, nil
	}
	return out, nil
}
