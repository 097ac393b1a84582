//go:build chaos

package enginetest

import (
	"fmt"
	"testing"
)

// TestLongOnEveryPostgreSQL runs all tests of the engine on every version that
// Weir supports.
func TestLongOnEveryPostgreSQL(t *testing.T) {
	for major := 15; major <= newest; major++ {
		t.Run(fmt.Sprint(major), func(t *testing.T) { onMajor(t, major, ".") })
	}
}
