package pgtext

import (
	"encoding/json"
	"testing"
	"unicode/utf8"
)

func TestJSON(t *testing.T) {
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
		if got := string(JSON([]byte(in))); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func FuzzJSON(f *testing.F) {
	f.Add(`"\u0000\ud800\\u0000"`)
	f.Fuzz(func(t *testing.T, text string) {
		valid := json.Valid([]byte(text))
		got := JSON([]byte(text))
		if !utf8.Valid(got) || valid && !json.Valid(got) {
			t.Errorf("%q became %q", text, got)
		}
	})
}

func TestText(t *testing.T) {
	if got := Text("a\x00b\xffc"); got != "a\uFFFDb\uFFFDc" {
		t.Errorf("got %q", got)
	}
	for text, want := range map[string]string{"abc": "abc", "éé": "é … (2 bytes cut)"} {
		if got := Cut(text, 3); got != want {
			t.Errorf("%s is cut to %q, want %q", text, got, want)
		}
	}
}
