package etcdkv_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/kv/etcdkv"
)

// BenchmarkThreeRows inserts three rows a transaction by 64 clients: through SQL, and by a bare
// loop of the two transactions of etcd that a commit in two phases takes at least.
//
//	go test -run none -bench ThreeRows -benchtime 2000x .
func BenchmarkThreeRows(b *testing.B) {
	ctx := context.Background()
	b.Run("bare", func(b *testing.B) {
		c, err := clientv3.New(clientv3.Config{Endpoints: members})
		require.NoError(b, err)
		defer func() { require.NoError(b, c.Close()) }()
		clients(b, func(n int64) error {
			var absent []clientv3.Cmp
			var locks, records []clientv3.Op
			for i := range 3 {
				key := fmt.Sprintf("bare/%s/%d/%d", b.Name(), n, i)
				absent = append(absent, clientv3.Compare(clientv3.ModRevision(key), "=", 0))
				locks = append(locks, clientv3.OpPut(key+"/lock", "a value of some bytes"))
				records = append(records, clientv3.OpPut(key, "a value of some bytes"),
					clientv3.OpDelete(key+"/lock"))
			}
			if _, err := c.Txn(ctx).If(absent...).Then(locks...).Commit(); err != nil {
				return err
			}
			_, err := c.Txn(ctx).Then(records...).Commit()
			return err
		})
	})
	b.Run("minidb", func(b *testing.B) {
		db, err := minidb.Open("etcd://"+strings.Join(members, ",")+"/"+b.Name(),
			minidb.Logger(slog.New(slog.DiscardHandler)),
			minidb.Engine("etcd", etcdkv.OpenURL))
		require.NoError(b, err)
		defer func() { require.NoError(b, db.Close()) }()
		_, err = db.Exec(ctx, "CREATE TABLE IF NOT EXISTS t (id bigint PRIMARY KEY, v text)")
		require.NoError(b, err)
		var last int64
		require.NoError(b, db.QueryRow(ctx, "SELECT coalesce(max(id), 0) FROM t").Scan(&last))
		clients(b, func(n int64) error {
			n = last + 3*n
			_, err := db.Exec(ctx, "INSERT INTO t VALUES ($1, $4), ($2, $4), ($3, $4)", n, n+1, n+2,
				"a value of some bytes")
			return err
		})
	})
}

// clients runs work by 64 clients.
func clients(b *testing.B, work func(n int64) error) {
	var next atomic.Int64
	b.SetParallelism(32)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := work(next.Add(1)); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
}
