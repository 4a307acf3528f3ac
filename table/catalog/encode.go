package catalog

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// A descriptor's value is one byte of format, its version (so that a cached copy can be recognised
// without decoding the rest), and JSON. Types are kept by OID: their families and names are the
// program's, not the store's.
const descFormat = 1

type wireDesc struct {
	table.Desc
	Columns []wireColumn
	States  []wireDesc `json:",omitempty"` // of an incremental view
}

type wireColumn struct {
	table.Column
	Type wireType
}

type wireType struct {
	OID types.OID
	Mod int32
}

func wireOf(d *table.Desc) wireDesc {
	w := wireDesc{Desc: *d, Columns: make([]wireColumn, len(d.Columns))}
	for i, c := range d.Columns {
		w.Columns[i] = wireColumn{Column: c, Type: wireType{OID: c.Type.OID, Mod: c.Type.Mod}}
	}
	for _, s := range d.States() {
		w.States = append(w.States, wireOf(s))
	}
	return w
}

func encodeDesc(d *table.Desc) ([]byte, error) {
	w := wireOf(d)
	js, err := json.Marshal(&w)
	if err != nil {
		return nil, fmt.Errorf("catalog: relation %q: %w", d.Name, err)
	}
	out := binary.AppendUvarint([]byte{descFormat}, d.Version)
	return append(out, js...), nil
}

// descVersion reads the version alone.
func descVersion(b []byte) (version uint64, rest []byte, err error) {
	if len(b) == 0 || b[0] != descFormat {
		return 0, nil, fmt.Errorf("catalog: unknown format of a descriptor: %w", kv.ErrCorruption)
	}
	v, n := binary.Uvarint(b[1:])
	if n <= 0 {
		return 0, nil, fmt.Errorf("catalog: descriptor: %w", kv.ErrCorruption)
	}
	return v, b[1+n:], nil
}

func decodeDesc(b []byte) (*table.Desc, error) {
	d, err := parseDesc(b)
	if err != nil {
		return nil, err
	}
	if err := d.Prepare(); err != nil {
		return nil, err
	}
	return d, nil
}

// parseDesc is decodeDesc before the encodings of rows and entries are worked out.
func parseDesc(b []byte) (*table.Desc, error) {
	_, js, err := descVersion(b)
	if err != nil {
		return nil, err
	}
	var w wireDesc
	if err := json.Unmarshal(js, &w); err != nil {
		return nil, fmt.Errorf("catalog: descriptor: %w: %w", kv.ErrCorruption, err)
	}
	d, err := w.desc()
	if err != nil {
		return nil, err
	}
	for i := range d.ForeignKeys {
		// of a store from before they were numbered: far above all numbers
		if fk := &d.ForeignKeys[i]; fk.OID == 0 {
			fk.OID = 1<<31 + d.ID<<8 + table.ID(i)
		}
	}
	return d, nil
}

// desc returns the descriptor that was encoded.
func (w *wireDesc) desc() (*table.Desc, error) {
	d := &w.Desc
	d.Columns = make([]table.Column, len(w.Columns))
	for i, c := range w.Columns {
		t, ok := types.ByOID(c.Type.OID)
		if !ok {
			return nil, fmt.Errorf("catalog: relation %q: unknown type %d: %w", d.Name, c.Type.OID,
				kv.ErrCorruption)
		}
		d.Columns[i] = c.Column
		d.Columns[i].Type = t.Apply(c.Type.Mod)
	}
	for i := range w.States {
		s, err := w.States[i].desc()
		if err != nil {
			return nil, err
		}
		d.View.Incremental.States = append(d.View.Incremental.States, s)
	}
	return d, nil
}

// Database is a database.
type Database struct {
	ID      table.ID
	Name    string
	Comment string
	// Settings are what its sessions begin with, "name=value" each.
	Settings []string `json:",omitempty"`
}

// Schema is a schema of a database.
type Schema struct {
	ID       table.ID
	Database table.ID
	Name     string
	Comment  string
}

func encodeJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain structs of strings and numbers: cannot fail
	}
	return b
}

func decodeJSON(b []byte, v any) error {
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("catalog: %w: %w", kv.ErrCorruption, err)
	}
	return nil
}
