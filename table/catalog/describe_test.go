package catalog

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

func TestKeysAndValuesHaveAText(t *testing.T) {
	f := memory(t)
	seq := f.sequence("seq", table.Sequence{Start: 5, Increment: 1, Min: 1, Max: 100, Cache: 1})
	f.draw(seq, 1)
	_, err := f.cat.NextRowID(f.ctx, seq.ID)
	require.NoError(t, err)
	d := f.simple("docs")
	d.Columns = append(d.Columns, table.Column{ID: 3, Name: "n", Type: types.TNumeric})
	d.NextColumnID = 4
	d.Indexes = append(d.Indexes,
		table.Index{ID: 2, OID: 20001, Name: "docs_v_key", Unique: true,
			Columns: []table.IndexColumn{{ColumnID: 2}}},
		table.Index{ID: 3, OID: 20002, Name: "docs_n_idx",
			Columns: []table.IndexColumn{{ColumnID: 3, Desc: true, NullsFirst: true}}})
	view := &table.Desc{ID: 30000, DatabaseID: PostgresID, SchemaID: PublicID, Schema: "public",
		Name: "vw",
		Kind: table.KindView, View: &table.View{Text: "select 1", DependsOn: []table.ID{d.ID}}}
	f.must(func(tx *txn.Txn, v *View) error {
		if err := v.CreateRelation(f.ctx, d); err != nil {
			return err
		}
		if err := v.CreateRelation(f.ctx, view); err != nil {
			return err
		}
		one, err := types.ParseNumeric("1.50")
		require.NoError(t, err)
		w := table.NewWriter(d, f.cat)
		if err := w.Insert(f.ctx, tx, []types.Datum{types.NewInt(1), types.NewString("a\x01b"),
			types.NewDecimal(one)}); err != nil {
			return err
		}
		return w.Insert(f.ctx, tx, []types.Datum{types.NewInt(2), types.Null, types.Null})
	})
	tx := f.begin()
	ds, err := NewDescriber(f.ctx, tx)
	require.NoError(t, err)
	var out []string
	require.NoError(t, scan(f.ctx, tx, nil, func(key, value []byte) error {
		text := ds.Value(key, value)
		if strings.HasPrefix(ds.Key(key), "/catalog/desc/") {
			text = "(descriptor)"
		}
		if string(key) == string(versionKey) {
			text = "(timestamp)"
		}
		out = append(out, fmt.Sprintf("%s = %s", ds.Key(key), text))
		return nil
	}))
	require.NoError(t, tx.Rollback(f.ctx))
	got := regexp.MustCompile(`\x01`).ReplaceAllString(strings.Join(out, "\n"), "␁")
	require.Equal(t, `/catalog/database/postgres = {"ID":5,"Name":"postgres",`+
		`"Comment":"default administrative connection database"}
/catalog/desc/16384 seq = (descriptor)
/catalog/desc/16385 docs = (descriptor)
/catalog/desc/30000 vw = (descriptor)
/catalog/format = 5
/catalog/next-id = 16416
/catalog/name/5/2200/docs = relation 16385
/catalog/name/5/2200/docs_n_idx = relation 16385, index 20002
/catalog/name/5/2200/docs_pkey = relation 16385, index 16386
/catalog/name/5/2200/docs_v_key = relation 16385, index 20001
/catalog/name/5/2200/seq = relation 16384
/catalog/name/5/2200/vw = relation 30000
/catalog/reads/16385 docs/30000 vw = 
/catalog/schema/5/public = {"ID":2200,"Database":5,"Name":"public",`+
		`"Comment":"standard public schema"}
/catalog/version = (timestamp)
/rowid/16384 seq = next=65
/sequence/16384 seq/0 = last=36 called=true
/table/16385 docs/row/(1) = v=a␁b n=1.50
/table/16385 docs/row/(2) = v=null n=null
/table/16385 docs/index/2 docs_v_key/(a␁b) = → (1)
/table/16385 docs/index/2 docs_v_key/(null)/(2) = 
/table/16385 docs/index/3 docs_n_idx/(null)/(2) = n=null
/table/16385 docs/index/3 docs_n_idx/(1.5)/(1) = n=1.50`, got)
}
