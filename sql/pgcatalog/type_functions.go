package pgcatalog

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"

	"github.com/minidb/minidb/table/types"
)

var (
	//go:embed types.tsv
	typesFile string
	//go:embed functions.tsv
	functionsFile string
)

// typeFunctions are the object IDs of the functions that PostgreSQL has for a type.
type typeFunctions struct {
	input, output, receive, send, modIn, modOut, subscript, analyze, elem types.OID
}

// functionsOfType returns the functions of the types that are here too.
var functionsOfType = sync.OnceValue(func() map[types.OID]typeFunctions {
	out := map[types.OID]typeFunctions{}
	for _, fields := range records(typesFile) {
		var n [10]types.OID
		for i := range n {
			n[i] = parseOID(fields[i+1])
		}
		out[n[0]] = typeFunctions{n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9]}
	}
	return out
})

// function is a function of PostgreSQL's by its object ID: the name, and the types of its
// arguments.
type function struct {
	oid       types.OID
	name      string
	arguments string
}

// functions returns those that functionsOfType names, in order of their IDs.
var functions = sync.OnceValue(func() (out []function) {
	for _, fields := range records(functionsFile) {
		out = append(out, function{parseOID(fields[0]), fields[1], fields[2]})
	}
	return out
})

// records splits a file into lines and their fields; lines that begin with # are comments.
func records(file string) (out [][]string) {
	for line := range strings.Lines(file) {
		if !strings.HasPrefix(line, "#") {
			out = append(out, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
		}
	}
	return out
}

func parseOID(s string) types.OID {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		panic("pgcatalog: " + err.Error())
	}
	return types.OID(n)
}
