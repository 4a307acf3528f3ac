package explain

import (
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
)

// properties are what a node's title says, under PostgreSQL's names.
func properties(n physical.Node) []Detail {
	kind := func(name string, more ...Detail) []Detail {
		return append([]Detail{{Label: "Node Type", Text: name}}, more...)
	}
	join := func(name string, k opt.JoinKind) []Detail {
		return kind(name, Detail{Label: "Join Type", Text: k.String()})
	}
	modify := func(operation, table string) []Detail {
		return append(kind("ModifyTable", Detail{Label: "Operation", Text: operation}), relationProperties(table, "")...)
	}
	switch n := n.(type) {
	case *physical.Scan:
		return scanProperties(n)
	case *physical.VirtualScan:
		return append(kind("Seq Scan"), relationProperties(n.Table.Name, n.Alias)...)
	case *physical.Values:
		if len(n.Rows) <= 1 {
			return kind("Result")
		}
		return kind("Values Scan", Detail{Label: "Alias", Text: "*VALUES*"})
	case *physical.FuncScan:
		out := kind("Function Scan")
		if n.Func != nil {
			out = append(out, Detail{Label: "Function Name", Text: n.Func.Name})
		}
		return append(out, Detail{Label: "Alias", Text: n.Alias})
	case *physical.CTEScan:
		name := "CTE Scan"
		if n.WorkTable {
			name = "WorkTable Scan"
		}
		return kind(name, Detail{Label: "CTE Name", Text: n.Name})
	case *physical.HashJoin:
		return join("Hash Join", n.Kind)
	case *physical.NestLoop:
		return join("Nested Loop", n.Kind)
	case *physical.IndexJoin:
		return join("Nested Loop", n.Kind)
	case *physical.Apply:
		return join("Nested Loop", n.Kind)
	case *physical.Sort:
		if n.Top != nil {
			return kind("Sort", Detail{Label: "Sort Method", Text: "top-N heapsort"})
		}
	case *physical.Distinct:
		if n.On == nil {
			return kind("Aggregate", Detail{Label: "Strategy", Text: "Hashed"})
		}
	case *physical.Aggregate:
		strategy := "Hashed"
		if len(n.GroupBy) == 0 {
			strategy = "Plain"
		}
		return kind("Aggregate", Detail{Label: "Strategy", Text: strategy})
	case *physical.SetOp:
		return kind("SetOp", Detail{Label: "Strategy", Text: "Hashed"}, Detail{Label: "Command", Text: setOpName(n)})
	case *physical.Insert:
		return modify("Insert", n.Table.Name)
	case *physical.Update:
		return modify("Update", n.Table.Name)
	case *physical.Delete:
		return modify("Delete", n.Table.Name)
	}
	return kind(title(n))
}

func scanProperties(n *physical.Scan) []Detail {
	index := ""
	if n.Index != nil {
		index = n.Index.Name
	} else if pk := n.Table.PrimaryKey(); pk != nil && (n.Ranges != nil || n.Ordered) {
		index = pk.Name
	}
	var out []Detail
	if index == "" {
		out = []Detail{{Label: "Node Type", Text: "Seq Scan"}}
	} else {
		kind, direction := "Index Scan", "Forward"
		if n.Index != nil && n.Covering {
			kind = "Index Only Scan"
		}
		if n.Reverse {
			direction = "Backward"
		}
		out = []Detail{{Label: "Node Type", Text: kind}, {Label: "Scan Direction", Text: direction}, {Label: "Index Name", Text: index}}
	}
	return append(out, relationProperties(n.Table.Name, n.Alias)...)
}

func relationProperties(table, alias string) []Detail {
	if alias == "" {
		alias = table
	}
	return []Detail{{Label: "Relation Name", Text: table}, {Label: "Alias", Text: alias}}
}
