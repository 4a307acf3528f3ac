// Command atlas inspects a schema and plans its changes as ent does, with Atlas, and applies them.
package main

import (
	"context"
	"database/sql"
	"fmt"

	"ariga.io/atlas/sql/migrate"
	"ariga.io/atlas/sql/postgres"
	"ariga.io/atlas/sql/schema"
	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	entschema "entgo.io/ent/dialect/sql/schema"
	"entgo.io/ent/schema/field"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/minidb/minidb/tests/clients/golang/cases"
)

var ctx = context.Background()

func tables() []*entschema.Table {
	users := entschema.NewTable("users").
		AddPrimary(&entschema.Column{Name: "id", Type: field.TypeInt, Increment: true}).
		AddColumn(&entschema.Column{Name: "name", Type: field.TypeString, Size: 40, Unique: true}).
		AddColumn(&entschema.Column{
			Name: "mood", Type: field.TypeEnum, Enums: []string{"sad", "ok"}, Default: "ok"}).
		AddColumn(&entschema.Column{Name: "doc", Type: field.TypeJSON, Nullable: true}).
		AddColumn(&entschema.Column{Name: "u", Type: field.TypeUUID, Nullable: true}).
		AddColumn(&entschema.Column{Name: "made", Type: field.TypeTime, Nullable: true}).
		AddColumn(&entschema.Column{Name: "ok", Type: field.TypeBool, Default: false})
	pets := entschema.NewTable("pets").
		AddPrimary(&entschema.Column{Name: "id", Type: field.TypeInt, Increment: true}).
		AddColumn(&entschema.Column{Name: "name", Type: field.TypeString}).
		AddColumn(&entschema.Column{Name: "owner", Type: field.TypeInt, Nullable: true})
	owner, _ := pets.Column("owner")
	id, _ := users.Column("id")
	pets.AddForeignKey(
		&entschema.ForeignKey{Symbol: "pets_owner", Columns: []*entschema.Column{owner},
			RefTable: users, RefColumns: []*entschema.Column{id}, OnDelete: entschema.SetNull},
	)
	pets.AddIndex("pet_name", false, []string{"name", "owner"})
	return []*entschema.Table{users, pets}
}

func main() {
	db, err := sql.Open("pgx", cases.URL())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	drv := entsql.OpenDB(dialect.Postgres, db)
	for _, name := range []string{"ent creates its schema", "ent starts again"} {
		cases.Run(name, func() error {
			m, err := entschema.NewMigrate(drv)
			if err != nil {
				return err
			}
			return m.Create(ctx, tables()...)
		})
	}
	cases.Run("ent adds a column and an index", func() error {
		list := tables()
		list[0].AddColumn(&entschema.Column{Name: "age", Type: field.TypeInt, Default: 7})
		list[0].AddIndex("user_age", false, []string{"age"})
		m, err := entschema.NewMigrate(
			drv,
			entschema.WithDropIndex(true),
			entschema.WithDropColumn(true),
		)
		if err != nil {
			return err
		}
		return m.Create(ctx, list...)
	})
	cases.Run("ent's queries", func() error {
		insert, args := entsql.Dialect(dialect.Postgres).Insert("users").Columns("name", "doc").
			Values("Ada", `{"k": 1}`).Returning("id", "mood", "age").Query()
		r := &entsql.Rows{}
		if err := drv.Query(ctx, insert, args, r); err != nil {
			return err
		}
		defer r.Close()
		for r.Next() {
			var id, age int
			var mood string
			if err := r.Scan(&id, &mood, &age); err != nil {
				return err
			}
			cases.Show(id, mood, age)
		}
		return r.Err()
	})
	inspect(db)
}

func inspect(db *sql.DB) {
	cases.Run("Atlas inspects", func() error {
		a, err := postgres.Open(db)
		if err != nil {
			return err
		}
		if _, err := db.Exec(
			`create index lower_name on users (lower(name)); create index older on users (age)
			where age > 3;
			create type mood2 as enum ('x', 'y'); create table e (id int generated always as
			identity, m mood2, c text[],
			n numeric(8,2) check (n > 0), g int generated always as (1) stored)`,
		); err != nil {
			return err
		}
		s, err := a.InspectSchema(ctx, "public", nil)
		if err != nil {
			return err
		}
		for _, t := range s.Tables {
			for _, c := range t.Columns {
				cases.Show(t.Name, c.Name, c.Type.Raw, c.Type.Null, c.Default)
			}
			for _, ix := range t.Indexes {
				cases.Show(t.Name, ix.Name, ix.Unique, len(ix.Parts))
			}
			for _, fk := range t.ForeignKeys {
				cases.Show(t.Name, fk.Symbol, fk.OnDelete)
			}
		}
		changes, err := a.SchemaDiff(s, schema.New("public"))
		if err != nil {
			return err
		}
		plan, err := a.PlanChanges(
			ctx,
			"p",
			changes,
			func(o *migrate.PlanOptions) { o.Indent = "" },
		)
		if err != nil {
			return err
		}
		for _, c := range plan.Changes {
			cases.Show(c.Cmd)
		}
		return a.ApplyChanges(ctx, changes)
	})
}
