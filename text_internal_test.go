package weir

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCleanJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"a": 1}`:                `{"a": 1}`,
		`"\u0000"`:                `"\ufffd"`,
		`"\\u0000"`:               `"\\u0000"`,
		`"\\\u0000"`:              `"\\\ufffd"`,
		`"\ud800"`:                `"\ufffd"`,
		`"\uDC00x"`:               `"\ufffdx"`,
		`"\ud83d\ude00"`:          `"\ud83d\ude00"`,
		`"\ud83d\ud83d\ude00"`:    `"\ufffd\ud83d\ude00"`,
		"\"a\xffb\"":              "\"a\uFFFDb\"",
		`"\u00e9 \ud800 \n \" x"`: `"\u00e9 \ufffd \n \" x"`,
	} {
		if got := string(cleanJSON([]byte(in))); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func FuzzCleanJSON(f *testing.F) {
	f.Add(`"\u0000\ud800\\u0000"`)
	f.Fuzz(func(t *testing.T, text string) {
		valid := json.Valid([]byte(text))
		got := cleanJSON([]byte(text))
		if !utf8.Valid(got) || valid && !json.Valid(got) {
			t.Errorf("%q became %q", text, got)
		}
	})
}

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
