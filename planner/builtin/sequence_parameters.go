package builtin

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

const (
	sequenceFields = "start_value int8,minimum_value int8,maximum_value int8,increment int8," +
		"cycle_option bool,cache_size int8,data_type oid"
	// sequenceQuery has the name of a relation, whether the role may use it, and the parameters,
	// which are NULL for a relation that is no sequence.
	sequenceQuery = `SELECT c.relname, CASE WHEN c.relkind = 'S'
			THEN pg_catalog.has_sequence_privilege(c.oid, 'SELECT, UPDATE, USAGE')
			ELSE pg_catalog.has_table_privilege(c.oid, 'SELECT, UPDATE') END,
		s.seqstart, s.seqmin, s.seqmax, s.seqincrement, s.seqcycle, s.seqcache, s.seqtypid
		FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_sequence s ON s.seqrelid = c.oid
		WHERE c.oid = $1`
)

// sequenceParameterFunctions are pg_sequence_parameters.
func sequenceParameterFunctions() []def {
	d := f("pg_sequence_parameters(oid) record", asking(sequenceParameters)).stable()
	d.cols = sequenceFields
	return []def{d}
}

func sequenceParameters(s expr.SystemQueries, _ *expr.Runtime,
	a []types.Datum) (types.Datum, error) {
	var found []types.Datum
	err := s.SystemQuery(sequenceQuery, []*types.Type{types.TOid}, a,
		func(row []types.Datum) error {
			found = row
			return nil
		})
	switch {
	case err != nil:
	case found == nil:
		err = sqlerr.New(sqlerr.UndefinedTable, "relation with OID %d does not exist", a[0].I)
	case !found[1].Bool():
		err = sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for sequence %s",
			found[0].S)
	case found[2].Null:
		err = sqlerr.New(sqlerr.InternalError, "cache lookup failed for sequence %d", a[0].I)
	default:
		return types.NewRecord(types.RowOf(parseFields(sequenceFields)), found[2:]), nil
	}
	return types.Null, err
}
