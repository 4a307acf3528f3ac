package etcdkv

import (
	"bytes"
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/minidb/minidb/kv"
)

// reader reads at the revision that its first read has found.
type reader struct {
	e   *Engine
	rev int64 // zero before the first read

	// Of a snapshot: the row that was read last, in which families, and what was read ahead of it.
	habits   *habits // nil for a step
	row      []byte
	read     [256]bool
	known    ahead
	favoured ahead // read with what was read first
	named    ahead // read for Foretell
	noted    noted

	walked   []byte // where the walk began that was the last to load its first page
	foretold *page  // the first page of the walk that may follow
}

// page is what there is from lo to below hi; a nil hi is the end of all keys.
type page struct {
	cells  []cell
	lo, hi []byte
}

// cell is one key and its value.
type cell struct{ key, value []byte }

// fetch reads cells from start to below end in order: the first n, or with last the last n of what
// must be few.
func (r *reader) fetch(ctx context.Context, start, end []byte, n int, last bool) ([]cell, error) {
	opts := []clientv3.OpOption{clientv3.WithRange(r.e.names.end(end)), clientv3.WithRev(r.rev),
		clientv3.WithLimit(int64(n))}
	if last {
		opts = append(opts, clientv3.WithSort(clientv3.SortByKey, clientv3.SortDescend))
	}
	got, err := r.e.get(ctx, r.e.names.cell(start), opts...)
	if err != nil {
		return nil, err
	}
	r.pin(got.Header)
	return r.e.cells(got.Kvs), nil
}

// count returns how many cells there are from start to below end.
func (r *reader) count(ctx context.Context, start, end []byte) (int64, error) {
	got, err := r.e.get(ctx, r.e.names.cell(start), clientv3.WithRange(r.e.names.end(end)),
		clientv3.WithRev(r.rev), clientv3.WithCountOnly())
	if err != nil {
		return 0, err
	}
	r.pin(got.Header)
	return got.Count, nil
}

// pin fixes the revision of the reader by the first answer that it gets.
func (r *reader) pin(answer *pb.ResponseHeader) {
	if r.rev == 0 {
		r.rev = answer.Revision
	}
}

func (e *Engine) cells(kvs []*mvccpb.KeyValue) []cell {
	out := make([]cell, len(kvs))
	for i, c := range kvs {
		out[i] = cell{key: e.names.key(c.Key), value: c.Value}
		if c.Value == nil {
			out[i].value = []byte{}
		}
	}
	return out
}

// Get implements kv.Reader.
func (r *reader) Get(ctx context.Context, key []byte) ([]byte, error) {
	b, err := r.look(ctx, key)
	if err != nil {
		return nil, err
	}
	if b != nil {
		if value, known := b.get(key); known {
			return value, nil
		}
	}
	return r.get(ctx, key)
}

func (r *reader) get(ctx context.Context, key []byte) ([]byte, error) {
	got, err := r.e.get(ctx, r.e.names.cell(key), clientv3.WithRev(r.rev))
	if err != nil {
		return nil, err
	}
	r.pin(got.Header)
	if len(got.Kvs) == 0 {
		return nil, nil
	}
	return r.e.cells(got.Kvs)[0].value, nil
}

// look comes before the read of a key, or of what follows it in its prefix. It returns what was
// read ahead of the prefix, or nil.
func (r *reader) look(ctx context.Context, key []byte) (*block, error) {
	if r.habits == nil || len(key) == 0 {
		return r.known.of(key), nil
	}
	if row := kv.Row(key); r.row == nil || !bytes.Equal(row, r.row) {
		r.forget()
		r.row, r.known = append(r.row[:0], row...), nil
		if err := r.foresee(ctx, key); err != nil {
			return nil, err
		}
	}
	b := r.favoured.of(key)
	if b == nil {
		r.read[key[0]] = true
		if b = r.named.of(key); b == nil {
			b = r.known.of(key)
		}
	}
	r.noted.add(key, b)
	return b, nil
}

// Foretell implements kv.Foreteller.
func (r *reader) Foretell(ctx context.Context, rows [][]byte) (err error) {
	if r.habits == nil {
		return nil // a step's rows are read already
	}
	prefixes := prefixesOf(rows, r.habits.families())
	r.named, err = r.readAhead(ctx, prefixes[:min(len(prefixes), mostNamed)])
	return err
}

// mostNamed bounds what is read for one call of Foretell.
const mostNamed = 4096

// foresee reads ahead of the first read of a row, and of the first read of the reader.
func (r *reader) foresee(ctx context.Context, key []byte) (err error) {
	if r.favoured.of(key) != nil || r.named.of(key) != nil {
		return nil
	}
	var prefixes [][]byte
	if families := r.habits.families(); bytes.IndexByte(families, key[0]) >= 0 {
		prefixes = prefixesOf([][]byte{r.row}, families)
	}
	favourites := 0
	if r.rev == 0 {
		all := r.e.ofSnapshots.favourites.list()
		favourites = len(all)
		prefixes = append(all[:favourites:favourites], prefixes...)
	}
	if len(prefixes) < 2 {
		return nil
	}
	if r.known, err = r.readAhead(ctx, prefixes); favourites > 0 {
		r.favoured = r.known
	}
	return err
}

// forget takes in how the last row was read.
func (r *reader) forget() {
	if r.row != nil && r.read != [256]bool{} {
		r.habits.note(&r.read)
		r.read = [256]bool{}
	}
}

// NewIter implements kv.Reader.
func (r *reader) NewIter(ctx context.Context, span kv.Span) (kv.Iterator, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &iterator{r: r, ctx: ctx, span: span}, nil
}

// Close implements kv.Snapshot. Nothing is held.
func (r *reader) Close() error {
	r.forget()
	r.row = nil
	if r.habits != nil {
		r.e.ofSnapshots.favourites.note(r.noted)
		r.noted = nil
	}
	return nil
}
