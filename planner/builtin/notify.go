package builtin

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// notifyFunctions send messages to sessions that listen.
func notifyFunctions() []def {
	return []def{
		n("pg_notify(text,text) void", asking(func(to expr.Notifications, _ *expr.Runtime,
			a []types.Datum) (types.Datum, error) {
			var text [2]string
			for i := range a {
				if !a[i].Null {
					text[i] = a[i].S
				}
			}
			return types.Datum{}, to.Notify(text[0], text[1])
		})).volatile(),
		s("pg_listening_channels() text", "",
			func(rt *expr.Runtime, _ []types.Datum, emit func([]types.Datum) error) error {
				to, err := session[expr.Notifications](rt)
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
			answer(func(to expr.Notifications) (float64, error) {
				return to.NotificationQueueUsage(), nil
			})).volatile(),
	}
}
