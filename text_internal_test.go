package weir

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCleanText(t *testing.T) {
	if got := cleanText("a\x00b\xffc"); got != "a\uFFFDb\uFFFDc" {
		t.Errorf("%q", got)
	}
	long := cleanText(strings.Repeat("é", textLimit))
	if len(long) > textLimit || !utf8.ValidString(long) || !strings.Contains(long, "bytes cut") {
		t.Errorf("%d bytes, %q", len(long), long[len(long)-40:])
	}
}

func TestID(t *testing.T) {
	id := newToken()
	if back, err := ParseID(id.String()); err != nil || back != id {
		t.Errorf("%s came back as %s, %v", id, back, err)
	}
	for _, bad := range []string{"", "x", strings.Repeat("-", 36), id.String() + "0", strings.Replace(id.String(), "-", "_", 1)} {
		if _, err := ParseID(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
	if text, err := json.Marshal(struct{ ID ID }{id}); err != nil || string(text) != `{"ID":"`+id.String()+`"}` {
		t.Errorf("%s, %v", text, err)
	}
}
