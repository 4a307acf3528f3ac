package builtin

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// notifyFunctions send messages to sessions that listen.
func notifyFunctions() []def {
	return []def{
		n("pg_notify(text,text) void",
			func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
				to, err := notifications(rt)
				if err != nil {
					return types.Null, err
				}
				var text [2]string
				for i := range a {
					if !a[i].Null {
						text[i] = a[i].S
					}
				}
				return types.Datum{}, to.Notify(text[0], text[1])
			}).volatile(),
		s("pg_listening_channels() text", "",
			func(rt *expr.Runtime, _ []types.Datum, emit func([]types.Datum) error) error {
				to, err := notifications(rt)
				if err != nil {
					return err
				}
				for _, c := range to.ListeningChannels() {
					if err := emit([]types.Datum{types.NewString(c)}); err != nil {
						return err
					}
				}
				return nil
			}).stable(),
		f("pg_notification_queue_usage() float8",
			func(rt *expr.Runtime, _ []types.Datum) (types.Datum, error) {
				to, err := notifications(rt)
				if err != nil {
					return types.Null, err
				}
				return types.NewFloat(to.NotificationQueueUsage()), nil
			}).volatile(),
	}
}

func notifications(rt *expr.Runtime) (expr.Notifications, error) {
	if n, ok := rt.Session.(expr.Notifications); ok {
		return n, nil
	}
	return nil, sqlerr.New(sqlerr.FeatureNotSupported, "notifications are not supported here")
}
