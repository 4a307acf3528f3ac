package exec

import (
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// ties finds the rows of FETCH FIRST … WITH TIES behind the last one that was asked for: those that
// are equal to it in the keys by which the rows are sorted.
type ties struct {
	keys []*eval.Program
	open bool // further rows may belong to the result
	last []types.Datum
	vecs []*types.Vec
}

func (r *run) newTies(keys []expr.Expr) (*ties, error) {
	programs, err := compileAll(keys)
	return &ties{keys: programs, last: make([]types.Datum, len(keys))}, err
}

// cut returns the rows of sel that belong to the result: the first left of them, and those behind
// that are equal to the last of these.
func (t *ties) cut(r *run, b *types.Batch, sel []int32, left int64) ([]int32, error) {
	var err error
	if t.vecs, err = r.evalKeys(t.keys, b, t.vecs); err != nil {
		return nil, err
	}
	n := int(min(left, int64(len(sel))))
	if n > 0 {
		for i, v := range t.vecs {
			t.last[i] = v.Get(int(sel[n-1]))
		}
	}
	if int64(n) < left {
		return sel, nil
	}
	for n < len(sel) && t.equalsLast(int(sel[n])) {
		n++
	}
	t.open = n == len(sel)
	return sel[:n], nil
}

func (t *ties) equalsLast(row int) bool {
	for i, v := range t.vecs {
		if !types.Equal(v.Type, v.Get(row), t.last[i]) {
			return false
		}
	}
	return true
}
