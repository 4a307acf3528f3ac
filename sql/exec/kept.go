package exec

import (
	"context"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/sql/exec/spill"
	"github.com/minidb/minidb/table/types"
)

// Kept are rows that outlive the plan that made them, such as those of a cursor that goes
// backwards. Like an operator it writes them to disk when it holds more than its share of memory.
// It belongs to one goroutine at a time.
type Kept struct {
	run  *run
	log  *rowLog // nil: there was no row yet
	page *spill.Reader
}

// NewKept returns an empty Kept, of which the memory and the temporary file are bounded as e says.
func (e *Env) NewKept() *Kept {
	return &Kept{run: &run{env: e, mem: budget{limit: e.MemoryLimit, account: e.Memory,
		share: e.share()}}}
}

// Len is the number of rows.
func (k *Kept) Len() int {
	if k.log == nil {
		return 0
	}
	return k.log.len
}

// Bytes is about what the rows take in memory and on disk.
func (k *Kept) Bytes() int64 {
	n := k.run.mem.used
	if k.log != nil && k.log.stream != nil {
		n += k.log.stream.Bytes()
	}
	return n
}

// Add appends the rows from … to-1 that count of a batch. All batches have the same columns.
func (k *Kept) Add(ctx context.Context, b *types.Batch, from, to int) error {
	if k.log == nil {
		ts := make([]*types.Type, len(b.Cols))
		for i, c := range b.Cols {
			ts[i] = c.Type
		}
		k.log = newRowLog(k.run, ts)
	}
	return k.log.add(ctx, b.Cols, selection(b)[from:to])
}

// Row appends the columns of row i to dst.
func (k *Kept) Row(i int, dst []types.Datum) ([]types.Datum, error) {
	cols, at := k.log.store.cols, i-k.log.disk
	if at < 0 {
		if k.page == nil {
			k.page = k.log.stream.Reader()
		}
		b, first, err := k.page.Page(int64(i))
		if err != nil {
			return nil, err
		}
		cols, at = b.Cols, i-int(first)
	}
	for _, c := range cols {
		dst = append(dst, c.Get(at))
	}
	return dst, nil
}

// CountIn makes another account of the same pool count the rows.
func (k *Kept) CountIn(a *memory.Account) {
	k.run.mem.account.Move(k.run.mem.used, a)
	k.run.mem.account = a
}

// Close gives the rows up. It may be called more than once.
func (k *Kept) Close() error {
	k.page, k.log = nil, nil
	return k.run.close()
}
