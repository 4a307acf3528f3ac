package exec

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/physical"
)

func (r *run) buildWindow(*physical.Window) (operator, error) {
	return nil, sqlerr.Unsupported(0, "window function")
}
