// Package cases prints the cases of a Go program.
package cases

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

// Run prints the header of a case and runs it. An error is printed by its SQLSTATE and message.
func Run(name string, body func() error) {
	fmt.Println("==", name)
	err := body()
	if err == nil {
		return
	}
	text := strings.Split(err.Error(), "\n")[0]
	var coded interface{ SQLState() string }
	if errors.As(err, &coded) {
		text = coded.SQLState() + " " + text
	}
	// Connections and times differ from run to run.
	text = strings.ReplaceAll(text, os.Getenv("PGPORT"), "PORT")
	fmt.Println(text)
}

// Show prints values as JSON.
func Show(values ...any) {
	for i, v := range values {
		if i > 0 {
			fmt.Print(" ")
		}
		b, err := json.Marshal(v)
		if err != nil {
			b = []byte(err.Error())
		}
		fmt.Printf("%s", b)
	}
	fmt.Println()
}

// URL is the database of the program.
func URL() string { return os.Getenv("DATABASE_URL") }
