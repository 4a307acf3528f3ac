package settings

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
)

// Layer is the source of the value that RESET sets a parameter to. A later layer wins over an
// earlier one, as in PostgreSQL; what the session sets wins over all.
type Layer int

// The layers.
const (
	BySystem         Layer = iota // ALTER SYSTEM
	ByServer                      // the options with which the server or the handle was opened
	ByAllRoles                    // ALTER ROLE ALL
	ByDatabase                    // ALTER DATABASE
	ByRole                        // ALTER ROLE
	ByRoleInDatabase              // ALTER ROLE … IN DATABASE
	ByClient                      // the options of the connection
	layers

	bySession = layers // SET, SET LOCAL
)

// layerNames are what pg_settings.source says.
var layerNames = [layers]string{"configuration file", "command line", "global",
	"database", "user", "database user", "client"}

// Entry is "name=value", as the catalog keeps what ALTER DATABASE and ALTER SYSTEM set.
func Entry(name, value string) string { return name + "=" + value }

// SetEntry replaces the value of a parameter among entries, or adds it.
func SetEntry(entries []string, name, value string) []string {
	for i, e := range entries {
		if n, _, _ := strings.Cut(e, "="); strings.EqualFold(n, name) {
			out := slices.Clone(entries)
			out[i] = Entry(name, value)
			return out
		}
	}
	return append(entries[:len(entries):len(entries)], Entry(name, value))
}

// DropEntry removes a parameter from entries.
func DropEntry(entries []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(entries), func(e string) bool {
		n, _, _ := strings.Cut(e, "=")
		return strings.EqualFold(n, name)
	})
}

// Entries reads entries as names and values.
func Entries(entries []string) map[string]string {
	out := make(map[string]string, len(entries))
	for _, e := range entries {
		name, value, _ := strings.Cut(e, "=")
		out[name] = value
	}
	return out
}

// SetLayer replaces what a layer says. Values that a session could not set are left out, and joined
// in the error.
func (v *Values) SetLayer(l Layer, values map[string]string) error {
	if len(values) == 0 && len(v.layers[l]) == 0 {
		return nil // as most layers are
	}
	before := maps.Clone(v.base)
	v.layers[l] = nil
	v.merge()
	var errs []error
	set := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value, err := v.check(name, values[name], l)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		set[key(name)] = value
	}
	v.layers[l] = set
	v.merge()
	v.announce(before)
	return errors.Join(errs...)
}

// SetServer replaces one of the values that New was given.
func (v *Values) SetServer(name, value string) {
	k := key(name)
	if old, set := v.layers[ByServer][k]; set && old == value {
		return
	}
	before := maps.Clone(v.base)
	v.layers[ByServer][k] = value
	v.merge()
	v.announce(before)
}

// check returns the value as it is kept, if it may be set in a layer.
func (v *Values) check(name, value string, in Layer) (string, error) {
	d := Lookup(name)
	if d == nil {
		if !Custom(name) {
			return "", Unknown(name)
		}
		return value, nil
	}
	if err := d.settable(in); err != nil {
		return "", err
	}
	value, err := d.Canonical(value)
	if err == nil && d.Name == "DateStyle" {
		present, _ := v.raw(key(name))
		value = completeDateStyle(value, present)
	}
	return value, err
}

// Check reports why name = value cannot be what sessions begin with by a layer; nil if it can.
func (v *Values) Check(name, value string, in Layer) error {
	if err := v.changeable(name, in); err != nil {
		return err
	}
	_, err := v.check(name, value, in)
	return err
}

// changeable refuses names that are not parameters, and the modes of one transaction.
func (v *Values) changeable(name string, in Layer) error {
	d := Lookup(name)
	switch {
	case d == nil && !Custom(name):
		return Unknown(name)
	case d == nil:
		return nil
	case strings.HasPrefix(d.Name, "transaction_"):
		return sqlerr.New(sqlerr.CantChangeRuntimeParam, "parameter \"%s\" cannot be changed",
			d.Name)
	}
	return d.settable(in)
}

// CheckReset reports why a name cannot be given to RESET for the sessions to come; nil if it can.
func (v *Values) CheckReset(name string, in Layer) error { return v.changeable(name, in) }

// merge makes base of the layers.
func (v *Values) merge() {
	v.base, v.from = map[string]string{}, map[string]Layer{}
	for l, m := range v.layers {
		for k, s := range m {
			v.base[k], v.from[k] = s, Layer(l)
		}
	}
	v.computed = false
}

// announce notes which reported parameters have another value than with the base before.
func (v *Values) announce(before map[string]string) {
	for _, d := range reported() {
		k := d.key
		if _, set := v.session[k]; set {
			continue
		}
		old, ok := before[k]
		if !ok {
			old = d.Default
		}
		if _, noted := v.changed[k]; !noted {
			v.changed[k] = old
		}
	}
}

// Source returns where a parameter's value comes from, as pg_settings.source does.
func (v *Values) Source(name string) string {
	k := key(name)
	if _, ok := v.local[k]; ok {
		return "session"
	}
	if _, ok := v.session[k]; ok {
		return "session"
	}
	if l, ok := v.from[k]; ok {
		return layerNames[l]
	}
	return "default"
}
