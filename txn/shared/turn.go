package shared

import "context"

// turn is a mutex that is held over requests to the store. A caller does not wait for it beyond the
// end of its context, as long as the store may take to answer.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

func (t turn) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t turn) leave() { <-t }
