package pgcatalog

import (
	"embed"
	"iter"
	"strconv"
	"strings"
	"sync"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// PostgreSQL 15's rows of the catalogs that describe what is built in. TestDataIsPostgreSQLs writes
// the files: a line of columns, then rows as COPY writes them. A column that is the same in all
// rows is in the first line as name=value. Those of type regproc are object IDs.
var (
	//go:embed data/pg_proc.tsv
	procData string
	//go:embed data/pg_type.tsv
	typeData string
	//go:embed data/pg_operator.tsv
	operatorData string
	//go:embed data/pg_cast.tsv
	castData string
	//go:embed data/pg_aggregate.tsv
	aggregateData string
	//go:embed data/pg_am.tsv
	accessMethodData string
	//go:embed data/pg_opclass.tsv
	opclassData string
	//go:embed data/pg_opfamily.tsv
	opfamilyData string
	//go:embed data/pg_amop.tsv
	amopData string
	//go:embed data/pg_amproc.tsv
	amprocData string
	//go:embed data/pg_collation.tsv
	collationData string
	//go:embed data/pg_conversion.tsv
	conversionData string
	//go:embed data/pg_language.tsv
	languageData string
	//go:embed data/pg_range.tsv
	rangeData string
	//go:embed data/pg_ts_config.tsv
	tsConfigData string
	//go:embed data/pg_ts_config_map.tsv
	tsConfigMapData string
	//go:embed data/pg_ts_dict.tsv
	tsDictData string
	//go:embed data/pg_ts_parser.tsv
	tsParserData string
	//go:embed data/pg_ts_template.tsv
	tsTemplateData string
	//go:embed data/pg_description.tsv
	descriptionData string
)

// datasets are the catalogs with rows of their own among the data, by name.
var datasets = sync.OnceValue(func() map[string]*dataset {
	return map[string]*dataset{
		"pg_proc":          newDataset(procData, listedID((*builtins).function)),
		"pg_type":          newDataset(typeData, listedID((*builtins).typ)),
		"pg_operator":      newDataset(operatorData, listedID((*builtins).operator)),
		"pg_cast":          newDataset(castData, listedID((*builtins).cast)),
		"pg_aggregate":     newDataset(aggregateData, listedID((*builtins).function)),
		"pg_am":            newDataset(accessMethodData, nil),
		"pg_opclass":       newDataset(opclassData, listedID((*builtins).opclass)),
		"pg_opfamily":      newDataset(opfamilyData, listedID((*builtins).opfamily)),
		"pg_amop":          newDataset(amopData, listedID((*builtins).amop)),
		"pg_amproc":        newDataset(amprocData, listedID((*builtins).amproc)),
		"pg_collation":     newDataset(collationData, nil),
		"pg_conversion":    newDataset(conversionData, nil),
		"pg_language":      newDataset(languageData, nil),
		"pg_range":         newDataset(rangeData, listedID((*builtins).typ)),
		"pg_ts_config":     newDataset(tsConfigData, nil),
		"pg_ts_config_map": newDataset(tsConfigMapData, nil),
		"pg_ts_dict":       newDataset(tsDictData, nil),
		"pg_ts_parser":     newDataset(tsParserData, nil),
		"pg_ts_template":   newDataset(tsTemplateData, nil),
		"pg_description":   newDataset(descriptionData, (*builtins).description),
	}
})

//go:embed data/extensions
var memberData embed.FS

// memberSets are the catalogs with rows of members of extensions. Their object IDs are in the
// ranges of the extensions; the schema is that of the extension in each database.
var memberSets = sync.OnceValue(func() map[string]*dataset {
	out := map[string]*dataset{}
	for name, base := range datasets() {
		text, err := memberData.ReadFile("data/extensions/" + name + ".tsv")
		if err == nil {
			out[name] = newDataset(string(text), base.listed)
		}
	}
	return out
})

// setsOf are the rows of a catalog: those of built-in objects, then those of extensions' members.
func setsOf(catalog string) []*dataset {
	sets := []*dataset{datasets()[catalog]}
	if m := memberSets()[catalog]; m != nil {
		sets = append(sets, m)
	}
	return sets
}

// listedID makes a filter of rows from one of the object IDs that they begin with.
func listedID(has func(*builtins, types.OID) bool) func(*builtins, []string) bool {
	return func(b *builtins, fields []string) bool { return has(b, parseOID(fields[0])) }
}

// dataset is one file. Nothing of it is kept but the text that the program contains: each scan
// splits the lines again, and converts the columns that it reads.
type dataset struct {
	head   func() header
	text   string
	listed func(b *builtins, fields []string) bool // nil: all rows
}

// header says where each column's values are.
type header struct {
	at    map[string]int    // index among the fields of a row
	fixed map[string]string // by column, for those that the rows do not have
	rows  string
}

func newDataset(text string, listed func(*builtins, []string) bool) *dataset {
	return &dataset{text: text, listed: listed, head: sync.OnceValue(func() header {
		line, rows, _ := strings.Cut(text, "\n")
		h := header{at: map[string]int{}, fixed: map[string]string{}, rows: rows}
		for column := range strings.SplitSeq(line, "\t") {
			if name, value, ok := strings.Cut(column, "="); ok {
				h.fixed[name] = value
			} else {
				h.at[name] = len(h.at)
			}
		}
		return h
	})}
}

// all yields the fields of each row. The slice is valid until the next one.
func (s *dataset) all() iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		h := s.head()
		fields := make([]string, len(h.at))
		for line := range strings.Lines(h.rows) {
			splitFields(fields, strings.TrimSuffix(line, "\n"))
			if !yield(fields) {
				return
			}
		}
	}
}

// splitFields splits a line at its tabs, into as many fields as there is room for.
func splitFields(fields []string, line string) {
	for i := range fields {
		fields[i], line, _ = strings.Cut(line, "\t")
	}
}

// emit passes on the listed rows of a table that the reader's database has, with the columns that p
// has.
func (s *dataset) emit(r *reader, p *projection, emit func(row []types.Datum) error) error {
	h, b := s.head(), builtinObjects()
	columns := make([]int, len(p.columns)) // index of the field; -1: the same in all rows
	namespace, access := -1, -1
	for i, c := range p.columns {
		col := &p.e.desc.Columns[c]
		at, ok := h.at[col.Name]
		if columns[i] = at; !ok {
			columns[i] = -1
			p.row[i] = dataDatum(col.Type, h.fixed[col.Name])
			if strings.HasSuffix(col.Name, "namespace") {
				namespace = i
			}
		}
		if strings.HasSuffix(col.Name, "acl") {
			access = i
		}
	}
	var granted map[table.ID]any
	if access >= 0 {
		granted = r.accessLists(grantedClasses[p.e.desc.Name])
	}
	var initial types.Datum // of a column that is the same in all rows
	if access >= 0 {
		initial = p.row[access]
	}
	for fields := range s.all() {
		if s.listed != nil && !s.listed(b, fields) {
			continue
		}
		schema, present := r.memberSchema(fields)
		if !present {
			continue
		}
		for i, at := range columns {
			if at >= 0 {
				p.row[i] = dataDatum(p.e.desc.Columns[p.columns[i]].Type, fields[at])
			} else if schema != 0 && i == namespace {
				p.row[i] = types.NewInt(int64(schema))
			}
		}
		if granted != nil {
			if list, ok := granted[table.ID(parseOID(fields[0]))]; ok {
				p.row[access] = datum(list)
			} else if columns[access] < 0 {
				p.row[access] = initial
			}
		}
		if err := emit(p.row); err != nil {
			return err
		}
	}
	return nil
}

// dataDatum converts a field. A wrong one is a mistake in the file.
func dataDatum(t *types.Type, field string) types.Datum {
	if field == `\N` {
		return types.Null
	}
	field = unescape(field)
	switch t.Family {
	case types.Int:
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			panic("pgcatalog: " + err.Error())
		}
		return types.NewInt(n)
	case types.Bool:
		return types.NewBool(field[0] == 't')
	case types.String:
		return types.NewString(field)
	}
	d, err := types.ParseText(t, field, &types.DefaultFormat)
	if err != nil {
		panic("pgcatalog: " + err.Error())
	}
	return d
}

var escapes = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r", `\b`, "\b",
	`\f`, "\f", `\v`, "\v")

// unescape undoes COPY's backslashes.
func unescape(field string) string {
	if strings.IndexByte(field, '\\') < 0 {
		return field
	}
	return escapes.Replace(field)
}

func parseOID(s string) types.OID {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		panic("pgcatalog: " + err.Error())
	}
	return types.OID(n)
}
