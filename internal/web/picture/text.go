package picture

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Sizes of text, in units of the picture. The stylesheet sets the same ones:
// what is measured here must be what is drawn there.
const (
	sizeName  = 13 * boldWider // class pic-name
	sizeText  = 12.0           // class pic-text
	sizeSmall = 11.0           // class pic-small
	sizeTiny  = 10 * boldWider // class pic-tiny
	boldWider = 1.12           // bold text is measured as larger text
)

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")

// plain says that s needs no escaping: most texts are names and numbers, and a
// picture has tens of thousands of them.
func plain(s string) bool {
	for i := range len(s) {
		if b := s[i]; b < 0x20 || b >= 0x7f || b == '&' || b == '<' || b == '>' || b == '"' || b == '\'' {
			return false
		}
	}
	return true
}

// escape makes one line of text safe in an attribute or an element.
func escape(s string) string { return escaper.Replace(clean(s, false)) }

// escapeLines is escape for tooltips, which may have several lines.
func escapeLines(s string) string { return escaper.Replace(clean(s, true)) }

// clean drops what XML forbids and what turns the reading direction of the
// text around it.
func clean(s string, lines bool) string {
	if plain(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' && lines:
			return r
		case r == '\n', r == '\r', r == '\t':
			return ' '
		case r < 0x20, r == 0x7f, r == 0xfffe, r == 0xffff, r >= 0x80 && r < 0xa0:
			return -1
		case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c:
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// textWidth estimates how wide s is at a size. It errs on the wide side: text
// that ends early looks fine, text that runs out of its box does not.
func textWidth(s string, size float64) float64 {
	w := 0.0
	for _, r := range s {
		w += runeWidth(r)
	}
	return w * size
}

// runeWidth is the advance of a rune in ems of a sans-serif face.
func runeWidth(r rune) float64 {
	switch {
	case r < 0x80:
		return asciiWidths[r]
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 1.02
	}
	if r == '…' {
		return 1
	}
	if unicode.IsUpper(r) {
		return 0.74
	}
	return 0.64
}

// asciiWidths is what DejaVu Sans and its wide kin need; other faces are narrower.
var asciiWidths = func() (w [0x80]float64) {
	for r := range w {
		switch c := rune(r); {
		case strings.ContainsRune("ijl'|!.,:; ", c):
			w[r] = 0.33
		case strings.ContainsRune("frt-()[]/\\I\"", c):
			w[r] = 0.42
		case strings.ContainsRune("mwMW%@", c):
			w[r] = 0.96
		case c >= 'A' && c <= 'Z', strings.ContainsRune("#&+=<>~", c):
			w[r] = 0.72
		default:
			w[r] = 0.62
		}
	}
	return w
}()

const ellipsis = "…"

// fit shortens s at its end until it fits into max.
func fit(s string, max, size float64) string {
	s = clean(s, false)
	if textWidth(s, size) <= max {
		return s
	}
	room := max - textWidth(ellipsis, size)
	cut, w := 0, 0.0
	for i, r := range s {
		w += runeWidth(r) * size
		if w > room {
			break
		}
		cut = i + utf8.RuneLen(r)
	}
	return strings.TrimRight(s[:cut], " ") + ellipsis
}

// fitMiddle shortens s in its middle. Keys of siblings differ at their end:
// render-frame-0381 must not become render-fra….
func fitMiddle(s string, max, size float64) string {
	s = clean(s, false)
	if textWidth(s, size) <= max {
		return s
	}
	room := max - textWidth(ellipsis, size)
	runes := []rune(s)
	head, tail := 0, len(runes)
	for w := 0.0; head < tail; {
		next := head
		if head > len(runes)-tail {
			next = tail - 1
		}
		if w += runeWidth(runes[next]) * size; w > room {
			break
		}
		if next == head {
			head++
		} else {
			tail--
		}
	}
	// A mark belongs to the rune before it; without that it would stand on the ellipsis.
	for tail < len(runes) && unicode.In(runes[tail], unicode.Mn, unicode.Me, unicode.Cf) {
		tail++
	}
	return string(runes[:head]) + ellipsis + string(runes[tail:])
}
