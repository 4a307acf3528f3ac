package table

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// A long scan is read by several goroutines: the span is cut into pieces, which are read and
// decoded side by side and handed over in their order, so that rows come as one goroutine would
// give them. A piece is begun when its turn is near, and waits when it has read a few batches
// ahead, so what is held is bounded.

const (
	// parallelAfter is how many rows a scan gives before the rest is read in parallel.
	parallelAfter = 8 * types.BatchSize
	// parallelPieces is into how many pieces the rest is cut: as its keys are not spread evenly,
	// more than there are processors.
	parallelPieces = 128
	// parallelMost is how many goroutines read at most.
	parallelMost = 8
	// batchesAhead is how many batches of a piece wait for their turn, and batchBytes how much of
	// values one has at least before it is handed over, though it is not full.
	batchesAhead, batchBytes = 4, 128 << 10
)

// parallelScan gives the rows of a span in their order.
type parallelScan struct {
	out     []int
	types   []*types.Type
	l       *layout
	readers []*txn.SpanReader
	pieces  []piece
	at      int // the piece whose turn it is

	ctx    context.Context
	cancel context.CancelFunc
	next   atomic.Int64      // the first piece that was not begun
	begin  chan struct{}     // a permit for each piece that may be begun
	free   chan *types.Batch // batches to be used again
	work   sync.WaitGroup
}

// piece is a part of the span.
type piece struct {
	span kv.Span
	out  chan *types.Batch // closed at the end
	err  error             // valid once out is closed
}

// parallel returns a scan of what is left of a span, with batches like another, or nil where that
// is no gain or cannot be.
func (s *Scanner) parallel(ctx context.Context, span kv.Span,
	like *types.Batch) (p *parallelScan, err error) {
	workers := min(runtime.GOMAXPROCS(0), parallelMost)
	if workers < 2 {
		return nil, nil
	}
	last, err := s.lastKey(ctx, span)
	if err != nil || last == nil {
		return nil, err
	}
	parts := cut(span, last, parallelPieces)
	if len(parts) < workers {
		return nil, nil
	}
	readers, err := s.tx.SpanReaders(ctx, span, s.keysOnly(), workers)
	if err != nil || len(readers) == 0 {
		return nil, err
	}
	p = &parallelScan{out: s.spec.Out, l: s.l, readers: readers, pieces: make([]piece, len(parts)),
		begin: make(chan struct{}, len(parts)), free: make(chan *types.Batch, workers*batchesAhead)}
	for _, c := range like.Cols {
		p.types = append(p.types, c.Type)
	}
	p.ctx, p.cancel = context.WithCancel(ctx)
	for i := range parts {
		p.pieces[i] = piece{span: parts[i], out: make(chan *types.Batch, batchesAhead)}
	}
	for range 2 * workers {
		p.begin <- struct{}{}
	}
	for _, r := range readers {
		p.work.Go(func() { p.read(r) })
	}
	return p, nil
}

// lastKey returns the last key of a span, nil when there is none.
func (s *Scanner) lastKey(ctx context.Context, span kv.Span) (key []byte, err error) {
	it, err := s.tx.Scan(ctx, span, txn.ScanOptions{Reverse: true, KeysOnly: true})
	if err != nil {
		return nil, err
	}
	if it.Next() {
		key = bytes.Clone(it.Key())
	}
	return key, errors.Join(it.Err(), it.Close())
}

// cut cuts a span whose last key is known into up to n parts. It takes the keys for numbers that
// are spread evenly: eight bytes behind what the first and the last have in common.
func cut(span kv.Span, last []byte, n int) []kv.Span {
	same := 0
	for same < min(len(span.Start), len(last)) && span.Start[same] == last[same] {
		same++
	}
	from, to := numberAt(span.Start, same), numberAt(last, same)
	step := (to - from) / uint64(n)
	if to <= from || step == 0 {
		return nil
	}
	parts := make([]kv.Span, n)
	start := span.Start
	for i := range parts {
		parts[i].Start = start
		start = binary.BigEndian.AppendUint64(bytes.Clone(last[:same]), from+step*uint64(i+1))
		parts[i].End = start
	}
	parts[n-1].End = span.End
	return parts
}

func numberAt(key []byte, at int) uint64 {
	var room [8]byte
	copy(room[:], key[at:])
	return binary.BigEndian.Uint64(room[:])
}

// read reads pieces until there is none that was not begun.
func (p *parallelScan) read(r *txn.SpanReader) {
	dec := newDecoder(p.l, p.out)
	for {
		select {
		case <-p.begin:
		case <-p.ctx.Done():
			return
		}
		n := int(p.next.Add(1)) - 1
		if n >= len(p.pieces) {
			return
		}
		piece := &p.pieces[n]
		piece.err = p.readPiece(r, dec, piece)
		close(piece.out)
	}
}

// readPiece decodes the rows of a piece. A panic becomes an error that next raises again, in the
// goroutine of the statement: it ends that, and not the process.
func (p *parallelScan) readPiece(r *txn.SpanReader, dec *decoder, piece *piece) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = &workerPanic{cause}
		}
	}()
	b, size := p.batch(), 0
	err = r.Each(p.ctx, piece.span, func(key, value []byte) error {
		err := dec.append(b, key[len(p.l.prefix):], value)
		size += len(value)
		if err != nil || b.Len < types.BatchSize && size < batchBytes {
			return err
		}
		full := b
		b, size = p.batch(), 0
		return p.hand(piece, full)
	})
	if err == nil && b.Len > 0 {
		err = p.hand(piece, b)
	}
	return err
}

// workerPanic is what a reader's goroutine panicked with.
type workerPanic struct{ cause any }

func (w *workerPanic) Error() string { return fmt.Sprint("panic: ", w.cause) }

func (p *parallelScan) batch() *types.Batch {
	select {
	case b := <-p.free:
		b.Reset()
		return b
	default:
		return types.NewBatchCap(p.types, types.BatchSize)
	}
}

func (p *parallelScan) hand(piece *piece, b *types.Batch) error {
	trim(b)
	select {
	case piece.out <- b:
		return nil
	case <-p.ctx.Done():
		return p.ctx.Err()
	}
}

// fill exchanges what the vectors of b hold for the next rows; false at the end.
func (p *parallelScan) fill(ctx context.Context, b *types.Batch) (bool, error) {
	for p.at < len(p.pieces) {
		piece := &p.pieces[p.at]
		select {
		case full, ok := <-piece.out:
			if ok {
				for i := range b.Cols { // callers keep the vectors
					*b.Cols[i], *full.Cols[i] = *full.Cols[i], *b.Cols[i]
				}
				b.Len, b.Sel = full.Len, nil
				select {
				case p.free <- full:
				default:
				}
				return true, nil
			}
		case <-ctx.Done():
			return false, ctx.Err()
		}
		var w *workerPanic
		if errors.As(piece.err, &w) {
			panic(w.cause)
		}
		if piece.err != nil {
			return false, piece.err
		}
		p.at++
		select {
		case p.begin <- struct{}{}:
		default: // all have their permit
		}
	}
	return false, nil
}

// close ends the goroutines.
func (p *parallelScan) close() error {
	p.cancel()
	p.work.Wait()
	return txn.CloseReaders(p.readers)
}
