package command

import (
	"strings"
	"testing"
	"time"
	"unicode"
)

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                               "plain",
		"한국어 árvíz":                           "한국어 árvíz",
		"two\nlines\ttab\r":                   "two lines tab ",
		"\x1b[31mred\x1b[0m":                  "red",
		"\x1b]0;title\x07after":               "after",
		"\x1b]8;;http://x\x1b\\link\x1b]8;;":  "link",
		"\x1bP1$r\x1b\\dcs":                   "dcs",
		"\u009b31mred":                        "red",
		"\x1b":                                "",
		"\x1b[":                               "",
		"nul\x00bell\x07del\x7f":              "nulbelldel",
		"right\u202eto left\u200b":            "rightto left",
		"broken \xff\xfe utf-8":               "broken  utf-8",
		"\x1b[2J\x1b[H\x1b]52;c;aGk=\x07wipe": "wipe",
	} {
		if got := Clean(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// Whatever comes from elsewhere, nothing reaches a terminal that it would obey.
func FuzzClean(f *testing.F) {
	f.Add("\x1b[31mred\x1b]0;t\x07")
	f.Add("\u009d\u009b\u0085")
	f.Fuzz(func(t *testing.T, s string) {
		got := Clean(s)
		if i := strings.IndexFunc(got, func(r rune) bool { return unicode.IsControl(r) || r >= 0x202a && r <= 0x202e }); i >= 0 {
			t.Errorf("%q became %q", s, got)
		}
	})
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{
		{"short", 10, "short"}, {"exactly", 7, "exactly"}, {"too long", 4, "too…"}, {"한국어", 5, "한국…"}, {"한국어", 4, "한…"}, {"any", 0, "any"},
	} {
		if got := Cut(c.text, c.limit); got != c.want {
			t.Errorf("%q to %d: got %q, want %q", c.text, c.limit, got, c.want)
		}
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0ms", 12 * time.Millisecond: "12ms", 1250 * time.Millisecond: "1.2s", 9990 * time.Millisecond: "9.9s", 42 * time.Second: "42s",
		time.Minute: "1m", 90 * time.Second: "1m30s", 2*time.Hour + 3*time.Minute: "2h3m", 49 * time.Hour: "2d1h", -5 * time.Second: "5.0s",
	} {
		if got := Span(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}
