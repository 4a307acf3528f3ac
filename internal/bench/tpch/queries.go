package tpch

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
)

//go:embed queries/*.sql
var queries embed.FS

// Count is how many queries there are.
const Count = 22

// Query returns the text of a query, 1 to Count. The share of query 11 goes down as the scale goes
// up.
func (g Generator) Query(n int) (string, error) {
	b, err := queries.ReadFile(fmt.Sprintf("queries/%02d.sql", n))
	share := strconv.FormatFloat(0.0001/g.Scale, 'f', -1, 64)
	return strings.ReplaceAll(string(b), "$SHARE", share), err
}
