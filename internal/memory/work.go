package memory

import "context"

// Work counts what a piece of work holds until it ends, a parse or the making of a plan. Nothing of
// it is given back before. The nil Work counts nothing and refuses nothing.
type Work struct {
	account *Account
	bytes   int64
}

// workKey is the key of the Work in a context.
type workKey struct{}

// With returns a context whose work counts in an account. The caller calls End in the account's
// goroutine.
func With(ctx context.Context, a *Account) (context.Context, *Work) {
	w := &Work{account: a}
	return context.WithValue(ctx, workKey{}, w), w
}

// Working returns the work of a context, or nil.
func Working(ctx context.Context) *Work {
	w, _ := ctx.Value(workKey{}).(*Work)
	return w
}

// Grow counts n more bytes; it fails as Account.Grow does.
func (w *Work) Grow(n int64) error {
	if w == nil {
		return nil
	}
	w.bytes += n
	return w.account.Grow(n)
}

// End gives everything back. It may be repeated.
func (w *Work) End() {
	if w != nil {
		w.account.Shrink(w.bytes)
		w.bytes = 0
	}
}
