package stats

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// Bounds of a pass that reads blocks of rows instead of all.
const (
	// blockRows is how many rows a block has on average: few, because neighbours are often alike,
	// and so many that a block costs little more than its rows.
	blockRows = 64
	// leastTarget is the target for which as many rows are read at least, and wholeBelow how many
	// times that a table must have: a smaller one is read whole.
	leastTarget, wholeBelow = 100, 4
	// tolerance is how far the rows that the blocks stand for may be from those that are believed
	// to be there. evenness is the least share of the blocks whose number of equal size is worth
	// as much.
	tolerance, evenness = 0.1, 0.5
	// leastBlocks is in how many blocks a common value occurs: in fewer it may be frequent only
	// there.
	leastBlocks = 5
)

// readBlocks is an analysis of blocks of rows that lie at random among the keys; nil where the
// table must be read whole. It must be if it is small, if keys of GIN indexes are counted, if tx
// has written, if it is not known how many rows there are, and if the keys are spread so unevenly
// that the blocks do not stand for the table.
func readBlocks(ctx context.Context, tx *txn.Txn, d *table.Desc, o *Options) (*analysis, error) {
	goal := max(o.Target, leastTarget) * rowsPerTarget
	if o.Rows < int64(wholeBelow*goal) || tx.Dirty() {
		return nil, nil
	}
	a := newAnalysis(d, o)
	if len(a.keys) > 0 {
		return nil, nil
	}
	n := int(min(o.Rows/blockRows, math.MaxInt32))
	pieces, err := table.RowPieces(ctx, tx, d, n)
	if err != nil || pieces.Len() == 0 {
		return nil, err
	}
	chosen := choose(goal/blockRows, n, o.Seed)
	even, paused := 0.0, int64(0)
	for _, i := range chosen {
		a.blocks = append(a.blocks, a.sample.seen)
		if err := a.block(ctx, tx, d, &pieces, i); err != nil {
			return nil, err
		}
		rows := a.sample.seen - a.blocks[len(a.blocks)-1]
		if even += float64(rows) * float64(rows); a.sample.seen > int64(2*goal) {
			return nil, nil
		}
		if a.sample.seen-paused < types.BatchSize {
			continue
		}
		paused = a.sample.seen
		if err := a.between(ctx, o, false); err != nil {
			return nil, err
		}
	}
	read, blocks := float64(a.sample.seen), float64(len(chosen))
	believed := float64(o.Rows)
	if math.Abs(read/blocks*float64(n)-believed) > tolerance*believed ||
		read*read < evenness*blocks*even {
		return nil, nil
	}
	for _, g := range a.columns {
		g.blocks, g.table = a.blocks, believed
	}
	return a, a.between(ctx, o, true)
}

// choose returns k different numbers below n in order. Requires: n is several times k.
func choose(k, n int, seed uint64) []int {
	rng := rand.New(rand.NewPCG(seed, 1))
	taken := make(map[int]bool, k)
	for len(taken) < k {
		taken[rng.IntN(n)] = true
	}
	out := make([]int, 0, k)
	for i := range taken {
		out = append(out, i)
	}
	slices.Sort(out)
	return out
}

// block takes the rows of a piece.
func (a *analysis) block(ctx context.Context, tx *txn.Txn, d *table.Desc, p *table.Pieces,
	i int) (err error) {
	span, err := p.Span(i)
	if err != nil {
		return err
	}
	s, err := table.OpenScan(ctx, tx, a.scanOf(d, span))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for {
		if more, err := a.next(ctx, s); err != nil || !more {
			return err
		}
	}
}

// spread estimates the number of different values of a table of which a share was read in blocks,
// at most so many (Haas and Stokes, JASA 1998: Duj1). Several occurrences in a block count as one
// (Chaudhuri et al., SIGMOD 2004), as neighbours are often alike. alone are values of the sample
// that are in no run, each different from all others.
func spread(runs []run, alone int, share, most float64) float64 {
	places, once := float64(alone), float64(alone)
	different := float64(len(runs) + alone)
	for _, r := range runs {
		places += float64(r.blocks)
		if r.blocks == 1 {
			once++
		}
	}
	if places == once && different >= share*most*unique {
		return most
	}
	return min(most, math.Round(places*different/(places-once+once*share)))
}
