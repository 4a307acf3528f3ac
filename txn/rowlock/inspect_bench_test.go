package rowlock

import (
	"context"
	"fmt"
	"testing"
)

// BenchmarkStates lists 200,000 locks, as a poll of pg_locks does.
func BenchmarkStates(b *testing.B) {
	var t Table
	o := t.NewOwner(1)
	for i := range 200_000 {
		if _, err := t.Lock(context.Background(), o,
			fmt.Appendf(nil, "table/17/row/%08d",
				i*7919%1_000_000), Request{Mode: Update}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		t.States()
	}
}
