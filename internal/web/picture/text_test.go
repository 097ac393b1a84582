package picture

import (
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestFittedTextFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyText().Draw(t, "text")
		room := rapid.Float64Range(20, 300).Draw(t, "room")
		for name, f := range map[string]func(string, float64, float64) string{"end": fit, "middle": fitMiddle} {
			got := f(s, room, sizeText)
			if w := textWidth(got, sizeText); w > room {
				t.Fatalf("%s: %q is %.1f wide in %.1f", name, got, w, room)
			}
			if !utf8.ValidString(got) {
				t.Fatalf("%s: %q is broken", name, got)
			}
		}
	})
}

func TestFitMiddleKeepsBothEnds(t *testing.T) {
	if got := fitMiddle("render-frame-0381", 90, sizeText); got != "render…-0381" {
		t.Errorf("got %q", got)
	}
	if got := fitMiddle("short", 90, sizeText); got != "short" {
		t.Errorf("got %q", got)
	}
}

func TestWideLettersCountTwice(t *testing.T) {
	if latin, korean := textWidth("ab", 10), textWidth("한국", 10); korean < 1.5*latin {
		t.Errorf("Korean %.1f, Latin %.1f", korean, latin)
	}
	if textWidth("e\u0301", 10) != textWidth("e", 10) {
		t.Error("an accent has a width of its own")
	}
}

func TestDurations(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s", 0: "0 s", 900 * time.Nanosecond: "0 µs", 12 * time.Millisecond: "12 ms", 1234 * time.Millisecond: "1.2 s", 9999 * time.Millisecond: "9.9 s",
		59 * time.Second: "59 s", 61 * time.Second: "1 min 1 s", 12*time.Minute + time.Second: "12 min", 26 * time.Hour: "1 d 2 h", 400 * 24 * time.Hour: "400 d",
	} {
		if got := duration(lang, d); got != want {
			t.Errorf("%d ns: %q, want %q", d, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.25: "0.25", 1.5: "1.5", 99.96: "100", 1234: "1,234", 59410: "59.4 k", 2e6: "2 M"} {
		if got := short(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
	for v, want := range map[float64]string{-0.04: "0", 1.25: "1.3", -2.5: "-2.5", 1e300: "0"} {
		if got := num(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}

func TestHrefs(t *testing.T) {
	for href, want := range map[string]bool{
		"/tasks/1": true, "?state=failed": true, "#x": true, "https://example.org/": true,
		"": false, "//evil.example": false, "javascript:alert(1)": false, "JaVaScRiPt:x": false, "/\\evil.example": false, "data:text/html,x": false, " javascript:x": false, "/a\nb": false,
	} {
		if safeHref(href) != want {
			t.Errorf("%q: safe is %v", href, !want)
		}
	}
}
