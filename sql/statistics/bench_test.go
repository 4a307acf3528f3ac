package statistics_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/minidb/minidb/sql/statistics"
)

// BenchmarkNote is what the counters cost a commit: beside an insert of one row into a store in
// memory, and alone, by one session and by all processors at one table.
func BenchmarkNote(b *testing.B) {
	ctx := context.Background()
	for _, noted := range []bool{false, true} {
		b.Run(fmt.Sprintf("commit, noted=%v", noted), func(b *testing.B) {
			open, id, insert := fixture(b)
			reg := open()
			changes := []statistics.Change{{Table: id, Inserted: 1}}
			for n := 0; b.Loop(); n++ {
				insert(n, n)
				if noted {
					reg.Note(ctx, changes)
				}
			}
		})
	}
	open, id, _ := fixture(b)
	reg := open()
	changes := []statistics.Change{{Table: id, Inserted: 1}}
	b.Run("alone", func(b *testing.B) {
		for b.Loop() {
			reg.Note(ctx, changes)
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				reg.Note(ctx, changes)
			}
		})
	})
}
