package builtin

import (
	"net"
	"strconv"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

var connectionFunctions = []def{
	f("inet_client_addr() inet", endAddress(expr.Connection.ClientAddress)).stable(),
	f("inet_server_addr() inet", endAddress(expr.Connection.ServerAddress)).stable(),
	f("inet_client_port() int4", endPort(expr.Connection.ClientAddress)).stable(),
	f("inet_server_port() int4", endPort(expr.Connection.ServerAddress)).stable(),
}

// endAddress returns the address of an end of the connection; NULL where it has none.
func endAddress(end func(expr.Connection) string) scalar {
	return asking(func(s expr.Connection, _ *expr.Runtime, _ []types.Datum) (types.Datum, error) {
		return types.InetOfEnd(end(s)), nil
	})
}

func endPort(end func(expr.Connection) string) scalar {
	return asking(func(s expr.Connection, _ *expr.Runtime, _ []types.Datum) (types.Datum, error) {
		_, text, err := net.SplitHostPort(end(s))
		if err != nil {
			return types.Null, nil //nolint:nilerr // not an address of a network
		}
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return types.Null, nil //nolint:nilerr // a port without a number
		}
		return types.NewInt(int64(port)), nil
	})
}
