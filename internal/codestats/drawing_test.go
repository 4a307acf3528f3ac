package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheDrawingIsCurrent fails when the imports have changed since docs/packages.svg was made.
func TestTheDrawingIsCurrent(t *testing.T) {
	packages, err := goList("../../...")
	require.NoError(t, err)
	want, err := os.ReadFile("../../docs/packages.svg")
	require.NoError(t, err)
	require.Equal(t, string(want), string(drawing(packages)),
		"the imports have changed: go run ./internal/codestats -draw docs/packages.svg")
}
