package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
)

// begin begins a backup, or takes over one that was interrupted.
func (b *backing) begin(ctx context.Context) error {
	own, err := txn.Identity(ctx, b.source)
	if err != nil {
		return fmt.Errorf("identity of the store: %w", err)
	}
	all, open, err := list(ctx, b.o.To)
	if err != nil {
		return err
	}
	for _, name := range open {
		taken, err := b.resume(ctx, own, all, name)
		if err != nil || taken {
			return err
		}
	}
	for _, m := range all {
		if bytes.Equal(m.Store, own) && (b.base == nil || m.At > b.base.At) {
			b.base = m
		}
	}
	if b.base != nil && b.o.Full {
		b.whyFull = "a full one was asked for"
		b.base = nil
	}
	return b.start(ctx, own)
}

// resume takes over an interrupted backup of the store, or removes one that cannot go on. Those of
// other stores stay.
func (b *backing) resume(ctx context.Context, own []byte, all []*Manifest, name string) (taken bool,
	err error) {
	var p progress
	err = readJSON(ctx, b.o.To, name+"/"+progressName, &p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, remove(ctx, b.o.To, name) // nothing is known of it
	case err != nil:
		return false, err
	case !bytes.Equal(p.Manifest.Store, own):
		return false, nil
	}
	b.p, b.m = p, &b.p.Manifest
	ok := p.Manifest.Format == manifestFormat && p.Manifest.Full() == (p.Manifest.Base == "")
	if !p.Manifest.Full() {
		chain, err := Chain(all, p.Manifest.Base)
		if ok = ok && err == nil && !b.o.Full; ok {
			b.base = chain[len(chain)-1]
		}
	}
	if ok {
		err = b.takeOver(ctx)
	}
	if err == nil && ok {
		b.resumed = true
		b.cells, b.bytes, _ = b.m.Totals()
		return true, nil
	}
	var gone *txn.SafepointError
	if ok && !errors.Is(err, txn.ErrHoldEnded) && !errors.As(err, &gone) {
		return false, err
	}
	b.base, b.hold = nil, nil
	return false, errors.Join(b.o.Source.DropHold(ctx, p.Manifest.Hold),
		remove(ctx, b.o.To, name))
}

// takeOver goes on under a hold of its own. The run that had the old one, if it is not over, can
// neither renew that nor finish (ErrTakenOver).
func (b *backing) takeOver(ctx context.Context) error {
	old, err := b.o.Source.TakeHold(ctx, b.m.Hold, b.o.Hold)
	if err != nil {
		return err
	}
	if b.hold, err = b.o.Source.NewHold(ctx, b.o.Hold); err != nil {
		return err
	}
	oldest := b.m.At
	if b.base != nil {
		oldest = b.base.At
	}
	if err := b.hold.Keep(ctx, oldest, b.m.At); err != nil {
		return err
	}
	if b.tx, err = b.o.Source.Begin(ctx, txn.BeginOptions{ReadOnly: true,
		StartTS: b.m.At}); err != nil {
		return errors.Join(err, b.hold.Release(ctx))
	}
	b.m.Hold = b.hold.ID()
	if err := b.save(ctx); err != nil {
		return err
	}
	return errors.Join(old.Release(ctx), held(b.hold.Renew(ctx)))
}

// start begins a backup: first the hold, then the timestamp, then the file that names the hold, so
// that only then may the hold outlive this process for long.
func (b *backing) start(ctx context.Context, own []byte) (err error) {
	if b.hold, err = b.o.Source.NewHold(ctx, b.o.Hold); err != nil {
		return fmt.Errorf("hold the state of the store: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.hold.Release(context.WithoutCancel(ctx)))
		}
	}()
	if b.tx, err = b.o.Source.Begin(ctx, txn.BeginOptions{ReadOnly: true}); err != nil {
		return err
	}
	at := b.tx.StartTS()
	b.p = progress{Phase: Versions, Manifest: Manifest{Format: manifestFormat, Store: own, At: at,
		Hold: b.hold.ID()}}
	b.m = &b.p.Manifest
	kind, oldest := "full", at
	if b.base != nil {
		if err := b.unbroken(ctx); errors.Is(err, errGap) {
			b.whyFull = fmt.Sprintf("the store has not kept what was committed since %s, which %s "+
				"ends with", b.base.At.Moment(), b.base.Name)
			b.base = nil
		} else if err != nil {
			return err
		}
	}
	if b.base != nil {
		kind, oldest = "incremental", b.base.At
		b.m.Since, b.m.Base = b.base.At, b.base.Name
	}
	b.m.Name = fmt.Sprintf("%s.%d-%s", b.m.Time().UTC().Format("20060102T150405.000Z"),
		at.Logical(), kind)
	if err := held(b.hold.Keep(ctx, oldest, at)); err != nil {
		return err
	}
	if b.base != nil {
		if b.m.Replaced, err = b.loadedBefore(ctx); err != nil {
			return err
		}
	}
	if err := b.save(ctx); err != nil {
		return err
	}
	return held(b.hold.Renew(ctx))
}

// loadedBefore lists the spans that were being loaded at Since. Their records may have timestamps
// below it, and come later.
func (b *backing) loadedBefore(ctx context.Context) (spans []kv.Span, err error) {
	t, err := b.o.Source.Begin(ctx, txn.BeginOptions{ReadOnly: true, StartTS: b.base.At})
	var gone *txn.SafepointError
	if errors.As(err, &gone) {
		return nil, errGap
	}
	if err != nil {
		return nil, err
	}
	spans, err = t.Loading(ctx)
	return spans, errors.Join(err, t.Rollback(ctx))
}

// remove removes all files of a backup, the manifest first.
func remove(ctx context.Context, p Place, name string) error {
	if err := p.Remove(ctx, name+"/"+manifestName); err != nil {
		return err
	}
	names, err := p.Names(ctx)
	for _, n := range names {
		if strings.HasPrefix(n, name+"/") {
			err = errors.Join(err, p.Remove(ctx, n))
		}
	}
	return err
}
