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
// ahead, so what is held is bounded. Pieces whose rows are in memory are not read (kept.go), those
// whose columns are on disk are read from there (kept_disk.go).

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
	at      int         // the piece whose turn it is
	read    []int       // the pieces that are read
	room    int         // of a batch, in rows
	cut     cutter      // learns where sections should begin
	refused atomic.Bool // the file of columns takes no more

	ctx    context.Context
	cancel context.CancelFunc
	next   atomic.Int64      // the first of those read that was not begun
	begin  chan struct{}     // a permit for each piece that may be begun
	free   chan *types.Batch // batches to be used again
	work   sync.WaitGroup
}

// piece is a part of the span.
type piece struct {
	span    kv.Span
	section *txn.Section // nil: its rows are not kept
	kept    *keptColumns // its rows; nil: they are read from the store
	given   int          // batches of kept, where they are in memory
	shares  bool         // what is read is kept, perhaps
	out     chan *types.Batch
	begins  []batchBegin // once out is closed; only where sections may be cut
	err     error        // valid once out is closed
}

// parallel returns a scan of what is left of a span, with batches like another, or nil where that
// is no gain or cannot be. whole is set if the rest ends where the table or index does, and began
// there too.
func (s *Scanner) parallel(ctx context.Context, span kv.Span, whole bool,
	like *types.Batch) (p *parallelScan, err error) {
	workers := min(runtime.GOMAXPROCS(0), parallelMost)
	last, err := s.lastKey(ctx, span)
	if err != nil || last == nil {
		return nil, err
	}
	parts := cut(span, last, parallelPieces)
	whole = whole && s.tx.SectionRows() > 0
	if len(parts) < workers || workers < 2 {
		if !whole {
			return nil, nil
		}
		parts = []kv.Span{span}
	}
	pieces := make([]piece, len(parts))
	for i := range parts {
		pieces[i].span = parts[i]
	}
	p = s.parallelScan(pieces, like)
	p.cut.whole = whole
	return p.start(ctx, s, span, workers)
}

// restOfSections returns a scan of a span that was cut into sections, or nil where it was not, or
// where that cannot be.
func (s *Scanner) restOfSections(ctx context.Context, span kv.Span,
	like *types.Batch) (*parallelScan, error) {
	sections, err := s.tx.Sections(ctx, span)
	if err != nil || len(sections) == 0 {
		return nil, err
	}
	pieces := make([]piece, len(sections))
	for i := range sections {
		k := s.kept(&sections[i])
		pieces[i] = piece{span: sections[i].Span, section: &sections[i], kept: k,
			shares: k == nil && sections[i].Keeps()}
	}
	p := s.parallelScan(pieces, like)
	return p.start(ctx, s, span, min(runtime.GOMAXPROCS(0), parallelMost))
}

func (s *Scanner) parallelScan(pieces []piece, like *types.Batch) *parallelScan {
	p := &parallelScan{out: s.spec.Out, l: s.l, pieces: pieces, room: types.BatchSize}
	if n := s.tx.SectionRows(); n > 0 {
		p.room = min(p.room, n)
		p.cut.rows = n
	}
	for _, c := range like.Cols {
		p.types = append(p.types, c.Type)
	}
	for i := range pieces {
		if k := pieces[i].kept; k == nil || k.disk != nil {
			p.read = append(p.read, i)
			pieces[i].out = make(chan *types.Batch, batchesAhead)
		}
	}
	return p
}

// start begins to read the pieces that are not in memory. The result is nil where they can only be
// read by the transaction itself.
func (p *parallelScan) start(ctx context.Context, s *Scanner, span kv.Span,
	workers int) (*parallelScan, error) {
	p.ctx, p.cancel = context.WithCancel(ctx)
	if len(p.read) == 0 {
		return p, nil
	}
	workers = min(workers, len(p.read))
	var err error
	p.readers, err = s.tx.SpanReaders(ctx, span, s.keysOnly(), workers)
	if err != nil || len(p.readers) == 0 {
		p.cancel()
		return nil, err
	}
	p.begin = make(chan struct{}, len(p.read))
	p.free = make(chan *types.Batch, workers*batchesAhead)
	for range min(2*workers, len(p.read)) {
		p.begin <- struct{}{}
	}
	for _, r := range p.readers {
		p.work.Go(func() { p.readPieces(r) })
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
	if to <= from {
		return nil
	}
	if step == 0 {
		n, step = int(to-from), 1
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

// readPieces reads pieces until there is none that was not begun.
func (p *parallelScan) readPieces(r *txn.SpanReader) {
	dec, room := newDecoder(p.l, p.out), &diskBuffer{}
	for {
		select {
		case <-p.begin:
		case <-p.ctx.Done():
			return
		}
		n := int(p.next.Add(1)) - 1
		if n >= len(p.read) {
			return
		}
		piece := &p.pieces[p.read[n]]
		piece.err = p.readPiece(r, dec, piece, room)
		close(piece.out)
	}
}

// readPiece decodes the rows of a piece. A panic becomes an error that next raises again, in the
// goroutine of the statement: it ends that, and not the process.
func (p *parallelScan) readPiece(r *txn.SpanReader, dec *decoder, piece *piece,
	room *diskBuffer) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = &workerPanic{cause}
		}
	}()
	if piece.kept != nil {
		if read, err := p.readKept(piece, room); read {
			return err
		}
		piece.shares = piece.section.Keeps()
	}
	b, size := p.batch(), 0
	var keep *keeper
	if piece.shares {
		keep = newKeeper(p, piece.section)
		keep.alone = piece.kept != nil // and could not be read
	}
	notes := p.cut.whole || piece.section != nil
	hand := func() error {
		trim(b)
		keep.add(b)
		full := b
		b, size = nil, 0
		if notes {
			piece.begins[len(piece.begins)-1].rows = full.Len
		}
		return p.hand(piece, full)
	}
	err = r.Each(p.ctx, piece.span, func(key, value []byte) error {
		if b == nil {
			b = p.batch()
		}
		if notes && b.Len == 0 {
			piece.begins = append(piece.begins, batchBegin{key: bytes.Clone(key)})
		}
		err := dec.append(b, key[len(p.l.prefix):], value)
		size += len(value)
		if err != nil || b.Len < p.room && size < batchBytes {
			return err
		}
		return hand()
	})
	if err == nil && b != nil && b.Len > 0 {
		err = hand()
	}
	if err == nil {
		keep.finish(room)
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
		return types.NewBatchCap(p.types, p.room)
	}
}

func (p *parallelScan) hand(piece *piece, b *types.Batch) error {
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
		if piece.out == nil {
			if p.giveKept(piece, b) {
				return true, nil
			}
			p.at++
			continue
		}
		select {
		case full, ok := <-piece.out:
			if ok {
				p.give(piece, full, b)
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
		p.cut.learn(piece)
		p.at++
		select {
		case p.begin <- struct{}{}:
		default: // all have their permit
		}
	}
	return false, nil
}

// give makes b the rows of a batch that was read.
func (p *parallelScan) give(from *piece, full, b *types.Batch) {
	b.Len, b.Sel = full.Len, nil
	if from.shares {
		for i := range b.Cols {
			b.Cols[i].Slice(full.Cols[i], 0, full.Len)
		}
		return
	}
	for i := range b.Cols { // callers keep the vectors
		*b.Cols[i], *full.Cols[i] = *full.Cols[i], *b.Cols[i]
	}
	select {
	case p.free <- full:
	default:
	}
}

// close ends the goroutines.
func (p *parallelScan) close() error {
	p.cancel()
	p.work.Wait()
	return txn.CloseReaders(p.readers)
}
