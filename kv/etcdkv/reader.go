package etcdkv

import (
	"bytes"
	"context"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/paged"
)

// reader reads at the revision that its first read has found.
type reader struct {
	e      *Engine
	rev    int64   // zero before the first read
	recall *recall // of a step that runs on what is remembered, and asks for nothing

	// Of a snapshot: the row that was read last, in which families, and what was read ahead of it.
	habits   *habits // nil for a step
	row      []byte
	read     [256]bool
	known    ahead
	favours  *favourites // of readers such as this one
	favoured ahead       // read with what was read first
	expected [][]byte    // prefixes for Foretell, before the first read
	named    ahead       // read for Foretell
	noted    noted

	walked   []byte      // where the walk began that was the last to load its first page
	foretold *paged.Page // the first page of the walk that may follow
}

// fetch reads cells from start to below end in order: the first n, or with last the last n of what
// must be few.
func (r *reader) fetch(ctx context.Context, start, end []byte, n int,
	last bool) ([]paged.Cell, error) {
	opts := []clientv3.OpOption{clientv3.WithRange(r.e.names.end(end)), clientv3.WithRev(r.rev),
		clientv3.WithLimit(int64(n))}
	if last {
		opts = append(opts, clientv3.WithSort(clientv3.SortByKey, clientv3.SortDescend))
	}
	got, err := r.ask(ctx, start, opts...)
	if err != nil {
		return nil, err
	}
	return r.e.cells(got.Kvs), nil
}

// count returns how many cells there are from start to below end.
func (r *reader) count(ctx context.Context, start, end []byte) (int64, error) {
	got, err := r.ask(ctx, start, clientv3.WithRange(r.e.names.end(end)),
		clientv3.WithRev(r.rev), clientv3.WithCountOnly())
	if err != nil {
		return 0, err
	}
	return got.Count, nil
}

// ask reads one range that begins at a key.
func (r *reader) ask(ctx context.Context, key []byte,
	opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	if r.recall != nil {
		return nil, errNotRemembered
	}
	got, err := r.e.get(ctx, r.e.names.cell(key), opts...)
	if err == nil {
		r.pin(got.Header)
	}
	return got, err
}

// askAll reads several ranges.
func (r *reader) askAll(ctx context.Context, ops []clientv3.Op) (*clientv3.TxnResponse, error) {
	if r.recall != nil {
		return nil, errNotRemembered
	}
	got, err := r.e.getAll(ctx, ops)
	if err == nil {
		r.pin(got.Header)
	}
	return got, err
}

// pin fixes the revision of the reader by the first answer that it gets.
func (r *reader) pin(answer *pb.ResponseHeader) {
	if r.rev == 0 {
		r.rev = answer.Revision
	}
}

func (e *Engine) cells(kvs []*mvccpb.KeyValue) []paged.Cell {
	out := make([]paged.Cell, len(kvs))
	for i, c := range kvs {
		out[i] = paged.Cell{Key: e.names.key(c.Key), Value: c.Value}
		if c.Value == nil {
			out[i].Value = []byte{}
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
	got, err := r.ask(ctx, key, clientv3.WithRev(r.rev))
	if err != nil {
		return nil, err
	}
	if len(got.Kvs) == 0 {
		return nil, nil
	}
	return r.e.cells(got.Kvs)[0].Value, nil
}

// look comes before the read of a key, or of what follows it in its prefix. It returns what was
// read ahead of the prefix, or nil.
func (r *reader) look(ctx context.Context, key []byte) (*block, error) {
	if r.recall != nil {
		return r.recall.block(key)
	}
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

// Foretell implements kv.Foreteller. Before the first read it asks for nothing yet.
func (r *reader) Foretell(ctx context.Context, rows [][]byte) (err error) {
	if r.habits == nil {
		return nil // a step's rows are read already
	}
	prefixes := prefixesOf(rows, r.habits.families())
	prefixes = prefixes[:min(len(prefixes), mostNamed)]
	if r.rev == 0 {
		r.expected = prefixes
		return nil
	}
	if r.named.has(prefixes) {
		return nil
	}
	r.named, err = r.readAhead(ctx, prefixes)
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
	favourites, expected := r.first()
	if prefixes = slices.Concat(prefixes, favourites, expected); len(prefixes) < 2 {
		return nil
	}
	r.known, err = r.readAhead(ctx, prefixes)
	r.take(favourites, expected, r.known)
	return err
}

// first are the prefixes that are read with what a reader reads first.
func (r *reader) first() (favourites, expected [][]byte) {
	if r.habits == nil || r.rev != 0 {
		return nil, nil
	}
	expected, r.expected = r.expected, nil
	return r.favours.list(), expected
}

// take takes what was read of them.
func (r *reader) take(favourites, expected [][]byte, known ahead) {
	if len(favourites) > 0 {
		r.favoured = known.some(favourites)
	}
	if len(expected) > 0 {
		r.named = known.some(expected)
	}
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
	return paged.New(ctx, source{r}, span, nil), nil
}

// Close implements kv.Snapshot. Nothing is held.
func (r *reader) Close() error {
	r.forget()
	r.row = nil
	if r.habits != nil {
		r.favours.note(r.noted)
		r.noted = nil
	}
	return nil
}
