package plpgsql

// Scope is the names that a query may use: a list, the last declared one first, that ends with the
// program's own block.
type Scope struct {
	outer    *Scope
	kind     scopeKind
	name     string
	variable *Variable
	conflict Conflict
}

type scopeKind uint8

const (
	variableName scopeKind = iota
	blockLabel
	loopLabel
)

// Conflict is what a name means that is a variable's and a column's: #variable_conflict.
type Conflict uint8

// The answers to a conflict.
const (
	ConflictIsError Conflict = iota
	UseVariable
	UseColumn
)

// Conflict returns what a name of both kinds means.
func (s *Scope) Conflict() Conflict { return s.conflict }

// Find returns the variable that a name of one to three parts means, and how many parts name it:
// what is left is a field. It returns nil if there is none. A label before the name selects the
// block.
func (s *Scope) Find(names ...string) (v *Variable, parts int) {
	for s != nil {
		at := s
		for ; at.kind == variableName; at = at.outer {
			if at.name == names[0] && (len(names) == 1 || at.variable.IsRow()) {
				return at.variable, 1
			}
		}
		if len(names) > 1 && at.name != "" && at.name == names[0] {
			for in := s; in != at; in = in.outer {
				if in.name == names[1] && (len(names) == 2 || in.variable.IsRow()) {
					return in.variable, 2
				}
			}
		}
		s = at.outer
	}
	return nil, 0
}

// inBlock reports whether a variable of the name is declared in the innermost block.
func (s *Scope) inBlock(name string) bool {
	for ; s.kind == variableName; s = s.outer {
		if s.name == name {
			return true
		}
	}
	return false
}

// label returns the level that has a label, or nil.
func (s *Scope) label(name string) *Scope {
	for ; s != nil; s = s.outer {
		if s.kind != variableName && s.name == name {
			return s
		}
	}
	return nil
}

// inLoop reports whether a statement is within a loop.
func (s *Scope) inLoop() bool {
	for ; s != nil; s = s.outer {
		if s.kind == loopLabel {
			return true
		}
	}
	return false
}
