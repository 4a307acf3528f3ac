// Command gorm uses gorm: AutoMigrate twice, models, and its migrator.
package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"

	"github.com/minidb/minidb/tests/clients/golang/cases"
)

type author struct {
	ID    uint
	Name  string  `gorm:"size:40;uniqueIndex;not null"`
	Email string  `gorm:"default:none;index:author_email,where:email <> 'none'"`
	Age   int     `gorm:"check:age >= 0;index:,sort:desc"`
	Price float64 `gorm:"type:numeric(8,2);comment:what it costs"`
	Doc   string  `gorm:"type:jsonb;default:'{}'"`
	Books []book  `gorm:"constraint:OnDelete:CASCADE"`
}

type book struct {
	gorm.Model
	AuthorID uint
	Title    string `gorm:"index:book_lower,expression:lower(title)"`
	Tags     []tag  `gorm:"many2many:book_tags"`
}

type tag struct {
	ID   uint
	Name string `gorm:"unique"`
}

func main() {
	db, err := gorm.Open(postgres.Open(cases.URL()), &gorm.Config{
		Logger:  logger.Default.LogMode(logger.Silent),
		NowFunc: func() time.Time { return time.Unix(0, 0).UTC() }})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"migrate", "migrate again"} {
		cases.Run(name, func() error { return db.AutoMigrate(&author{}, &tag{}, &book{}) })
	}
	cases.Run("create", func() error {
		a := author{
			Name:  "Ada",
			Age:   36,
			Books: []book{{Title: "One", Tags: []tag{{Name: "x"}}}, {Title: "Two"}},
		}
		err := db.Create(&a).Error
		cases.Show(a.ID, a.Email, a.Doc, len(a.Books))
		return err
	})
	cases.Run("upsert", func() error {
		a := author{Name: "Ada", Age: 37}
		err := db.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "name"}},
			DoUpdates: clause.AssignmentColumns([]string{"age"})}).Create(&a).Error
		var got author
		db.Preload("Books.Tags").
			Preload("Books", func(d *gorm.DB) *gorm.DB { return d.Order("title") }).
			First(&got, "name = ?", "Ada")
		cases.Show(got.Age, len(got.Books), got.Books[0].Tags)
		return err
	})
	cases.Run("queries", func() error {
		var names []string
		db.Model(&book{}).
			Joins("JOIN authors ON authors.id = books.author_id").
			Where("authors.name = ?", "Ada").
			Order("title").
			Pluck("title", &names)
		cases.Show(names)
		var n int64
		db.Model(&book{}).Where("lower(title) = ?", "one").Count(&n)
		cases.Show(n)
		var rows []map[string]any
		db.Model(&book{}).Select("author_id, count(*) as n").Group("author_id").Find(&rows)
		cases.Show(rows)
		r := db.Model(&author{}).Where("name = ?", "Ada").Update("age", gorm.Expr("age + ?", 1))
		cases.Show(r.RowsAffected)
		return r.Error
	})
	cases.Run("soft delete and transaction", func() error {
		return db.Transaction(func(tx *gorm.DB) error {
			tx.Where("title = ?", "Two").Delete(&book{})
			var a, b int64
			tx.Model(&book{}).Count(&a)
			tx.Unscoped().Model(&book{}).Count(&b)
			cases.Show(a, b)
			tx.SavePoint("s")
			err := tx.Create(&tag{Name: "x"}).Error
			cases.Show(err != nil)
			tx.RollbackTo("s")
			return tx.Clauses(clause.Locking{Strength: "UPDATE"}).First(&author{}).Error
		})
	})
	cases.Run("migrator", func() error {
		m := db.Migrator()
		types, err := m.ColumnTypes(&author{})
		for _, t := range types {
			def, ok := t.DefaultValue()
			null, _ := t.Nullable()
			unique, _ := t.Unique()
			cases.Show(t.Name(), t.DatabaseTypeName(), def, ok, null, unique)
		}
		tables, _ := m.GetTables()
		indexes, ierr := m.GetIndexes(&author{})
		showIndexes(indexes)
		cases.Show(len(tables), ierr, m.HasConstraint(&author{}, "chk_authors_age"))
		if err != nil {
			return err
		}
		return m.RenameColumn(&author{}, "email", "mail")
	})
	cases.Run(
		"drop",
		func() error { return db.Migrator().DropTable("book_tags", &book{}, &tag{}, &author{}) },
	)
}

func showIndexes(indexes []gorm.Index) {
	slices.SortFunc(indexes, func(a, b gorm.Index) int {
		return strings.Compare(a.Name(), b.Name())
	})
	for _, ix := range indexes {
		unique, _ := ix.Unique()
		cases.Show(ix.Name(), ix.Columns(), unique)
	}
}
