package catalog

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// Temporary is the schema of one session's temporary objects: pg_temp_3, say. Its keys lie in the
// companion of the store (package txn), under IDs that no other session sees, so nothing of it
// moves the catalog's version or conflicts with anything. They have the form of all others:
//
//	T c n {schema}{name}         → relation or index of that name
//	T c d {relation}             → descriptor
//	T c v {schema}               → version: a number that was never there before
//	T c p {schema}{relation}{view} → nothing: the temporary view reads the relation
//	T s, T r, T t, T a           → positions, row IDs, rows, statistics
//
// Each change writes the version, so a rollback, to a savepoint too, brings the earlier one back
// and with it what was remembered of it. It belongs to the session's goroutine.
type Temporary struct {
	Schema Schema
	c      *Catalog
	ids    idBlocks

	// version is the committed one, if known.
	version uint64
	known   bool
	state   *state // of the version seen last
	listed  *listed
	dropped []*table.Desc // by the running transaction
	// descs are decoded descriptors by their encoded form.
	descs map[table.ID]ownDesc
}

// TemporaryAlias is the name by which a session knows its temporary schema.
const TemporaryAlias = "pg_temp"

// listed is what a list of all temporary relations at one version says.
type listed struct {
	version   uint64
	relations []*table.Desc
}

// NewTemporary makes the temporary schema of a session in a database. number is that of no other
// session. The caller ends it.
func (c *Catalog) NewTemporary(db table.ID, number int) (*Temporary, error) {
	if _, err := c.store.Companion(); err != nil {
		if errors.Is(err, txn.ErrNoCompanion) {
			return nil, sqlerr.Unsupported(-1, "a temporary object in this store")
		}
		return nil, err
	}
	t := &Temporary{c: c, ids: idBlocks{of: &c.temporaryIDs, swept: math.MaxUint32},
		descs: map[table.ID]ownDesc{}}
	id, err := t.ids.draw()
	if err != nil {
		return nil, err
	}
	t.version, t.known = 0, true // nothing was made yet
	t.Schema = Schema{ID: id, Database: db, Name: fmt.Sprintf("pg_temp_%d", number)}
	return t, nil
}

// End drops all that is left in the schema, and gives its IDs back. Requires: the session has no
// transaction.
func (t *Temporary) End(ctx context.Context) error {
	err := t.clear(ctx)
	if err == nil || errors.Is(err, txn.ErrClosed) || errors.Is(err, kv.ErrFailed) {
		t.Trim()
		t.ids.release(0) // what could not be dropped is never reached again
	}
	return err
}

func (t *Temporary) clear(ctx context.Context) (err error) {
	tx, err := t.c.store.Begin(ctx, txn.BeginOptions{})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback(ctx))
		}
	}()
	v := t.c.ViewWith(tx, t)
	all, err := v.temporaryRelations(ctx)
	if err != nil {
		return err
	}
	for _, d := range all {
		if err := v.DropRelation(ctx, d); err != nil {
			return err
		}
	}
	if err := tx.Delete(temporaryVersionKey(t.Schema.ID)); err != nil {
		return err
	}
	if err := v.SweepTemporary(); err != nil {
		return err
	}
	if err = tx.Commit(ctx); err == nil {
		t.Ended(true)
	}
	return err
}

// Ended is called when a transaction of the session has ended.
func (t *Temporary) Ended(committed bool) {
	if committed {
		for _, d := range t.dropped {
			t.c.rowIDs.Delete(d.ID)
			if s := d.Sequence; s != nil {
				t.c.sequences.Delete(sequenceID{d.ID, s.Epoch})
			}
		}
	}
	t.dropped = nil
}

// SweepTemporary drops what transactions that were rolled back may have left under the session's
// IDs: positions of sequences and row IDs, which are drawn by transactions of their own. Requires:
// the session has no temporary object any more.
func (v *View) SweepTemporary() error {
	for _, block := range v.temporary.ids.blocks {
		if block == v.temporary.ids.swept {
			continue
		}
		first := firstOf(block)
		for _, prefix := range []byte{table.PrefixSequence, table.PrefixRowID} {
			span := kv.Span{Start: table.KeyPrefix(first, prefix),
				End: kv.PrefixEnd(table.KeyPrefix(first+idBlock-1, prefix))}
			if err := v.tx.DropSpan(span); err != nil {
				return err
			}
		}
	}
	return nil
}

// Trim gives back the IDs of objects that are gone. Requires: there are none, SweepTemporary is
// committed, and the session has no transaction.
func (t *Temporary) Trim() {
	for _, block := range t.ids.blocks {
		for id := firstOf(block); id < firstOf(block)+idBlock; id++ {
			t.c.rowIDs.Delete(id)
			t.c.sequences.Delete(sequenceID{id: id})
		}
	}
	t.ids.release(1) // the first has the schema's own
	t.ids.swept = t.ids.blocks[0]
	clear(t.descs)
}

// ViewWith is View for a session that has temporary objects, or with nil for one that has none.
func (c *Catalog) ViewWith(tx *txn.Txn, own *Temporary) *View {
	return &View{c: c, tx: tx, temporary: own}
}

// ShowTemporary makes the View show a session's temporary schema that was just made.
func (v *View) ShowTemporary(own *Temporary) { v.temporary = own }

// Clear removes the rows and index entries of a temporary table that was empty when the transaction
// began.
func (v *View) Clear(ctx context.Context, d *table.Desc) error {
	if v.tx.CompanionStreams() {
		return v.Truncate(ctx, d)
	}
	span := d.Span()
	for {
		keys, err := someKeys(ctx, v.tx, span, keysPerClear)
		if err != nil || len(keys) == 0 {
			return err
		}
		for _, k := range keys {
			if err := v.tx.Delete(k); err != nil {
				return err
			}
		}
		span.Start = kv.Successor(keys[len(keys)-1])
	}
}

// keysPerClear is how many keys Clear reads at a time.
const keysPerClear = 4096

// TemporaryVersion names the state of the session's temporary objects that the transaction sees,
// its own changes included; zero when there are none.
func (v *View) TemporaryVersion(ctx context.Context) (uint64, error) {
	if v.temporary == nil {
		return 0, nil
	}
	all, err := v.temporaryRelations(ctx)
	if err != nil || len(all) == 0 {
		return 0, err
	}
	return v.temporary.listed.version, nil
}

// HasTemporary reports whether the transaction sees the session's temporary schema: something was
// made in it.
func (v *View) HasTemporary(ctx context.Context) (bool, error) {
	if v.temporary == nil {
		return false, nil
	}
	version, err := v.temporaryVersion(ctx)
	return version != 0, err
}

// OnCommit lists the temporary tables for which a commit is to do something.
func (v *View) OnCommit(ctx context.Context) (tables []*table.Desc, err error) {
	if v.temporary == nil {
		return nil, nil
	}
	all, err := v.temporaryRelations(ctx)
	for _, d := range all {
		if d.OnCommit != table.OnCommitPreserve {
			tables = append(tables, d)
		}
	}
	return tables, err
}

func (v *View) temporaryVersion(ctx context.Context) (uint64, error) {
	t := v.temporary
	if t.known && !v.tx.CompanionDirty() {
		return t.version, nil
	}
	b, err := v.tx.Get(ctx, temporaryVersionKey(t.Schema.ID))
	if err != nil {
		return 0, err
	}
	var version uint64
	if len(b) == 8 {
		version = binary.BigEndian.Uint64(b)
	}
	if !v.tx.CompanionDirty() {
		t.version, t.known = version, true
	}
	return version, nil
}

// touchTemporary notes that the transaction changes a temporary object.
func (v *View) touchTemporary() error {
	t := v.temporary
	t.known = false
	return v.tx.Set(temporaryVersionKey(t.Schema.ID),
		binary.BigEndian.AppendUint64(nil, v.c.newVersion(0)))
}

// temporaryState is what is remembered of the version that the transaction sees.
func (v *View) temporaryState(ctx context.Context) (*state, error) {
	version, err := v.temporaryVersion(ctx)
	if err != nil {
		return nil, err
	}
	if t := v.temporary; t.state == nil || t.state.version != version {
		t.state = newState(version)
	}
	return v.temporary.state, nil
}

// temporaryRelation finds a temporary relation of this session by ID.
func (v *View) temporaryRelation(ctx context.Context, id table.ID) (*table.Desc, error) {
	if v.temporary == nil {
		return nil, nil
	}
	st, err := v.temporaryState(ctx)
	if err != nil {
		return nil, err
	}
	return memo(st, func(s *state) map[table.ID]*table.Desc { return s.descs }, id,
		func() (*table.Desc, error) {
			b, err := v.tx.Get(ctx, table.DescKey(id))
			if err != nil || b == nil {
				return nil, err
			}
			defer delete(v.begun, id)
			d, err := v.temporary.desc(id, b, v.temporaryType(ctx), v.begin)
			if err != nil || d.SchemaID != v.temporary.Schema.ID {
				return nil, err // another session's
			}
			return d, nil
		})
}

// desc decodes a descriptor, or finds it decoded.
func (t *Temporary) desc(id table.ID, b []byte, types resolveType,
	known func(*table.Desc)) (*table.Desc, error) {
	if o, ok := t.descs[id]; ok && bytes.Equal(o.encoded, b) && len(UserTypes(o.desc)) == 0 {
		return o.desc, nil
	}
	encoded := bytes.Clone(b)
	d, err := t.c.decodeDesc(encoded, types, known)
	if err != nil {
		return nil, err
	}
	if len(t.descs) >= stateKept {
		clear(t.descs)
	}
	t.descs[id] = ownDesc{encoded: encoded, desc: d}
	return d, nil
}

// temporaryType resolves the types of temporary relations. One that another session has dropped is
// what holds its values: no other session knows of the relation.
func (v *View) temporaryType(ctx context.Context) resolveType {
	return func(w WireType) (*types.Type, error) {
		t, err := v.TypeByOID(ctx, w.OID)
		switch {
		case err != nil:
			return nil, err
		case t == nil:
			return heldType(w)
		}
		return t.Apply(w.Mod), nil
	}
}

// temporaryRelations lists the session's temporary relations by name.
func (v *View) temporaryRelations(ctx context.Context) ([]*table.Desc, error) {
	t := v.temporary
	if t == nil {
		return nil, nil
	}
	version, err := v.temporaryVersion(ctx)
	if err != nil || version == 0 {
		return nil, err
	}
	if t.listed != nil && t.listed.version == version {
		return t.listed.relations, nil
	}
	ids, err := v.named(ctx, namesPrefix(t.Schema.Database, t.Schema.ID))
	if err != nil {
		return nil, err
	}
	all, err := v.descsOf(ctx, ids)
	if err == nil {
		t.listed = &listed{version, all}
	}
	return all, err
}

// idBlock is how many IDs of temporary objects a session takes at a time.
const idBlock = 32

// temporaryIDs gives out the IDs of temporary objects in blocks. When it has come to the end it
// begins again, past the blocks that sessions hold.
type temporaryIDs struct {
	sync.Mutex
	next uint32 // number of a block
	held map[uint32]struct{}
}

const temporaryBlocks = (1<<32 - uint64(table.FirstTemporaryID)) / idBlock

func (s *temporaryIDs) take() (block uint32, err error) {
	s.Lock()
	defer s.Unlock()
	if s.held == nil {
		s.held = map[uint32]struct{}{}
	}
	if uint64(len(s.held)) >= temporaryBlocks-1 {
		return 0, sqlerr.New(sqlerr.ProgramLimitExceeded, "out of temporary object identifiers").
			WithHint("DISCARD TEMP gives back those of a session.")
	}
	for {
		block = s.next
		s.next = uint32((uint64(s.next) + 1) % temporaryBlocks)
		if _, ok := s.held[block]; !ok {
			s.held[block] = struct{}{}
			return block, nil
		}
	}
}

// idBlocks are the blocks of one session.
type idBlocks struct {
	of     *temporaryIDs
	blocks []uint32
	used   table.ID // of the last block
	swept  uint32   // nothing is left under the IDs of this one
}

func firstOf(block uint32) table.ID {
	return table.FirstTemporaryID + table.ID(block)*idBlock
}

func (b *idBlocks) draw() (table.ID, error) { return b.drawSeveral(1) }

// drawSeveral returns the first of n IDs in a row. What is left of a block that has not so many is
// not used.
func (b *idBlocks) drawSeveral(n table.ID) (table.ID, error) {
	if len(b.blocks) == 0 || b.used+n > idBlock {
		block, err := b.of.take()
		if err != nil {
			return 0, err
		}
		b.blocks, b.used = append(b.blocks, block), 0
	}
	last := b.blocks[len(b.blocks)-1]
	b.used += n
	return firstOf(last) + b.used - n, nil
}

// release gives back all blocks but the first n.
func (b *idBlocks) release(n int) {
	if len(b.blocks) <= n {
		return
	}
	b.of.Lock()
	defer b.of.Unlock()
	for _, block := range b.blocks[n:] {
		delete(b.of.held, block)
	}
	b.blocks, b.used = b.blocks[:n], idBlock
}
