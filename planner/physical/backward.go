package physical

import "github.com/minidb/minidb/planner/opt"

// GoesBack reports whether a cursor over the plan that was declared without SCROLL and NO SCROLL
// may go backwards. PostgreSQL lets it where the plan can run backwards at no cost: scans, what
// passes their rows on, and sorts can, joins and groups cannot, and neither can what locks rows
// (ExecSupportsBackwardScan).
func (p *Plan) GoesBack() bool { return goesBack(p.Root) }

func goesBack(n Node) bool {
	switch n := n.(type) {
	case *Scan:
		return n.Keys == nil // PostgreSQL reads a GIN index into a bitmap
	case *VirtualScan, *DeltaScan, *FuncScan, *CTEScan:
		return true
	case *Values:
		return len(n.Rows) > 1 // a single row is no scan
	case *Sort:
		return !Contains(n, locksRows)
	case *Filter:
		return goesBack(n.Child)
	case *Project:
		return goesBack(n.Child)
	case *Limit:
		return goesBack(n.Child)
	case *Append:
		for _, in := range n.Inputs {
			if !goesBack(in) {
				return false
			}
		}
		return true
	case *Apply:
		// A subquery for a value: PostgreSQL runs it within the expressions of the left side.
		return n.Kind == opt.Left && goesBack(n.Left)
	}
	return false
}

func locksRows(n Node) bool {
	_, locks := n.(*LockRows)
	return locks
}
