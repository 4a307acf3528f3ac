package builtin

import (
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/types"
)

// displayName returns a type's name for messages: SQL's spelling, without the modifier.
func displayName(t *types.Type) string {
	if isPolymorphic(t) || isAny(t) {
		return t.Name
	}
	return t.SQLName()
}

// typeWithoutMod is format_type with a NULL modifier, where char(n) is "character". It is "bpchar"
// only with an explicit -1.
func typeWithoutMod(oid types.OID) string {
	switch oid {
	case types.OIDBPChar:
		return "character"
	case types.TBPChar.ArrayOID():
		return "character[]"
	}
	return types.TypeName(oid)
}

// Signature returns a function call as messages show it: "f(integer, text)".
func Signature(name string, args []*types.Type) string {
	shown := make([]string, len(args))
	for i, a := range args {
		shown[i] = displayName(a)
	}
	return name + "(" + strings.Join(shown, ", ") + ")"
}

func functionError(name string, args []*types.Type, o outcome) error {
	if o == ambiguous {
		return sqlerr.New(sqlerr.AmbiguousFunction, "function %s is not unique",
			Signature(name, args)).
			WithHint("Could not choose a best candidate function. You might need to add explicit " +
				"type casts.")
	}
	return noFunction(Signature(name, args))
}

// noFunction returns the error that there is no function with a signature: 0A000 if PostgreSQL has
// functions of the name.
func noFunction(signature string) error {
	if name, _, _ := strings.Cut(signature, "("); absent()[name] {
		return sqlerr.Unsupported(0, "function "+name)
	}
	return sqlerr.New(sqlerr.UndefinedFunction, "function %s does not exist", signature).
		WithHint("No function matches the given name and argument types. You might need to add " +
			"explicit type casts.")
}

func operatorError(op string, left, right *types.Type, o outcome) error {
	text := op + " " + displayName(right)
	if left != nil {
		text = displayName(left) + " " + text
	}
	if o == ambiguous {
		return sqlerr.New(sqlerr.AmbiguousFunction, "operator is not unique: %s", text).
			WithHint("Could not choose a best candidate operator. You might need to add explicit " +
				"type casts.")
	}
	e := sqlerr.New(sqlerr.UndefinedFunction, "operator does not exist: %s", text)
	if left == nil {
		return e.WithHint("No operator matches the given name and argument type. You might need " +
			"to add an explicit type cast.")
	}
	return e.WithHint("No operator matches the given name and argument types. You might need to " +
		"add explicit type casts.")
}

type outcome int

const (
	chosen outcome = iota
	nothingFits
	ambiguous
)
