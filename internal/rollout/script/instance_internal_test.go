package script

import (
	"strings"
	"testing"
)

// TestTrapSpoilsNothing: a text that overflows the parser's stack does not take
// later ones with it. Split refuses such texts before (tooDeep); this is for the
// one that nobody thought of.
func TestTrapSpoilsNothing(t *testing.T) {
	_, deep, err := parseJSON("select " + strings.Repeat("(select ", 300) + "1" + strings.Repeat(")", 300))
	if !deep {
		t.Fatalf("the stack held it (%v): look whether maxDepth can be more", err)
	}
	if _, deep, err := parseJSON("select 1"); deep || err != nil {
		t.Errorf("deep %t, %v", deep, err)
	}
}
