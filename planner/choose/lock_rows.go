package choose

import (
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"

	"slices"
)

func (c *chooser) lockRows(n *logical.LockRows) subplan {
	sub := c.build(n.Child, required{})
	if c.err != nil {
		return sub
	}
	out := &physical.LockRows{Child: sub.node}
	padded := map[logical.ColID]bool{}
	paddedScans(n.Child, false, padded)
	for _, t := range n.Tables {
		if padded[t.First] {
			c.err = sqlerr.New(sqlerr.FeatureNotSupported,
				"%s cannot be applied to the nullable side of an outer join",
				strings.ToUpper("for "+t.Strength))
			return sub
		}
		target := physical.LockTarget{Table: t.Desc, Strength: t.Strength, Wait: t.Wait}
		for _, kc := range t.Desc.RowKey {
			at := slices.Index(sub.cols, t.First+t.Desc.ColumnByID(kc.ColumnID))
			if at < 0 {
				c.fail("row key of %s is not there", t.Desc.Name)
				return sub
			}
			target.Key = append(target.Key, at)
		}
		out.Tables = append(out.Tables, target)
	}
	est := sub.node.Est()
	out.Base = c.base(sub.cols, est.Rows, opt.EachRow(est))
	return subplan{node: out, cols: sub.cols}
}

// paddedScans adds the scans whose rows an outer join pads with NULLs to out, under their first
// columns. A padded row has nothing to lock, and a recheck could make it appear or vanish. Outer
// joins whose padded rows a condition drops are inner joins by now.
func paddedScans(n logical.Node, padded bool, out map[logical.ColID]bool) {
	switch n := n.(type) {
	case *logical.Scan:
		if padded {
			out[n.First] = true
		}
		return
	case *logical.Join:
		left := n.Kind == opt.Right || n.Kind == opt.Full
		right := n.Kind == opt.Left || n.Kind == opt.Full
		paddedScans(n.Left, padded || left, out)
		paddedScans(n.Right, padded || right, out)
		return
	}
	logical.EachInput(n, func(in *logical.Node) { paddedScans(*in, padded, out) })
}
