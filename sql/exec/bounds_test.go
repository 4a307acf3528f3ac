package exec_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql/parse"
)

// Rows whose values do not fit into the statement's memory together are computed in smaller pieces,
// and given back piece by piece.
func TestLargeValuesOfManyRowsStream(t *testing.T) {
	db := newDatabase(t)
	db.memory = 4 << 20
	run := func(text string) (string, error) {
		p, err := parse.ParseOne(context.Background(), text)
		require.NoError(t, err)
		tx := db.begin()
		defer tx.Rollback(context.Background())
		return db.statement(context.Background(), tx, p.Stmt)
	}
	for query, want := range map[string]string{
		// A projection that computes the text, below an aggregate that takes its length.
		"select sum(length(repeat('x', 40000 + g - g))) " +
			"from generate_series(1, 5000) g": "200000000",
		"select count(*) from generate_series(1, 5000) g " +
			"where length(repeat('x', 40000 + g - g)) > 5": "5000",
		"select count(s) from (select repeat('x', 40000 + g - g) s " +
			"from generate_series(1, 3000) g) t": "3000",
		"select count(*) from generate_series(1, 3000) g " +
			"where upper(repeat('a', 9000 + g - g)) ~ '^A'": "3000",
		"select count(*) from (select repeat('x', 40000 + g - g) s " +
			"from generate_series(1, 3000) g offset 0) t where s is not null": "3000",
	} {
		got, err := run(query)
		require.NoError(t, err, query)
		require.Equal(t, want, got, query)
	}
	for _, query := range []string{
		"select length(repeat('x', 5000000 + g - g)) from generate_series(1, 3) g",
		// The elements share their bytes, and the texts would not.
		"select length(array_fill(repeat('x', 100000), array[1000 + g])::text) from " +
			"generate_series(1, 2) g",
		"select length(to_json(array_fill(repeat('x', 100000), array[1000 + g]))::text) from " +
			"generate_series(1, 2) g",
		"select length(concat(array_fill(repeat('x', 100000), array[1000 + g]))) from " +
			"generate_series(1, 2) g",
	} {
		_, err := run(query)
		var e *sqlerr.Error
		require.ErrorAs(t, err, &e, query)
		require.Equal(t, sqlerr.OutOfMemory, e.Code, query)
	}
}
