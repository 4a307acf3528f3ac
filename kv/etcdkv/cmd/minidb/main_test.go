package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/minidb/minidb/cmd/minidb/cli"
)

// childRole is the environment variable that makes the test's program another one: a member of an
// etcd cluster, minidb, or a gateway that runs observers.
const childRole = "MINIDB_TEST_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childRole) {
	case "":
		os.Exit(m.Run())
	case "member":
		if err := runMember(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "minidb":
		cli.Main(engines)
	case "observing":
		if err := runObserving(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
