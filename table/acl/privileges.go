package acl

import "strings"

// Privileges is a set of privileges.
type Privileges uint16

// The privileges. Their order is that of the letters in the text of an item.
const (
	Insert Privileges = 1 << iota
	Select
	Update
	Delete
	Truncate
	References
	Trigger
	Execute
	Usage
	Create
	Temporary
	Connect
	Set
	AlterSystem
)

// letters are those of the privileges, in the order of their bits.
const letters = "arwdDxtXUCTcsA"

// words are the names of the privileges, in the order of their bits.
var words = [...]string{"INSERT", "SELECT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER",
	"EXECUTE", "USAGE", "CREATE", "TEMPORARY", "CONNECT", "SET", "ALTER SYSTEM"}

// Named returns the privilege of a name, in any case; 0 when there is none.
func Named(name string) Privileges {
	if strings.EqualFold(name, "temp") {
		return Temporary
	}
	for i, w := range words {
		if strings.EqualFold(w, name) {
			return 1 << i
		}
	}
	return 0
}

// Each calls f for each privilege of the set.
func (p Privileges) Each(f func(one Privileges)) {
	for i := range words {
		if one := Privileges(1) << i; p&one != 0 {
			f(one)
		}
	}
}

// String returns the names, comma separated.
func (p Privileges) String() string {
	var out []string
	p.Each(func(one Privileges) { out = append(out, one.word()) })
	return strings.Join(out, ", ")
}

func (p Privileges) word() string {
	for i, w := range words {
		if p == 1<<i {
			return w
		}
	}
	return ""
}

// Class is a class of objects by which privileges there are on them.
type Class uint8

// The classes.
const (
	Relation Class = iota // table or view
	Column
	Sequence
	Database
	Schema
	Type
	Function
	Language
	Tablespace
	LargeObject
	ForeignServer
	ForeignDataWrapper
	Parameter
)

// classes are what a class's objects are called in messages, all their privileges, and what PUBLIC
// has of them by default.
var classes = [...]struct {
	noun        string
	all, public Privileges
}{
	Relation: {noun: "relation",
		all: Insert | Select | Update | Delete | Truncate | References | Trigger},
	Column:   {noun: "column", all: Insert | Select | Update | References},
	Sequence: {noun: "sequence", all: Usage | Select | Update},
	Database: {noun: "database", all: Create | Temporary | Connect, public: Temporary | Connect},
	Schema:   {noun: "schema", all: Usage | Create},
	Type:     {noun: "type", all: Usage, public: Usage},
	Function: {noun: "function", all: Execute, public: Execute},
	Language: {noun: "language", all: Usage, public: Usage},
	// The last five have no objects that a user makes.
	Tablespace:         {noun: "tablespace", all: Create},
	LargeObject:        {noun: "large object", all: Select | Update},
	ForeignServer:      {noun: "foreign server", all: Usage},
	ForeignDataWrapper: {noun: "foreign-data wrapper", all: Usage},
	Parameter:          {noun: "parameter", all: Set | AlterSystem},
}

// Noun is what messages call an object of the class.
func (c Class) Noun() string { return classes[c].noun }

// All are the privileges that there are on an object of the class.
func (c Class) All() Privileges { return classes[c].all }
