package pgtext

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// replacement stands for what cannot be kept.
const replacement = "\uFFFD"

// Text is valid UTF-8 without NUL.
func Text(s string) string {
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", replacement)
	}
	return strings.ToValidUTF8(s, replacement)
}

// Cut keeps the first bytes of text that is too long, up to a character's end,
// and says how many it left out.
func Cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%s … (%d bytes cut)", s[:cut], len(s)-cut)
}

// JSON replaces what JSON allows and jsonb does not: the escape of NUL,
// half of a surrogate pair, bytes that are not UTF-8. Most texts have none of
// these and are returned as they are.
func JSON(text []byte) []byte {
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte(replacement))
	}
	if !bytes.Contains(text, []byte(`\u0000`)) && !bytes.Contains(text, []byte(`\ud`)) && !bytes.Contains(text, []byte(`\uD`)) {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		if text[i] != '\\' || i+1 == len(text) {
			out = append(out, text[i])
			i++
			continue
		}
		if text[i+1] != 'u' { // also an escaped backslash, after which u0000 is plain text
			out = append(out, text[i], text[i+1])
			i += 2
			continue
		}
		one, two := hexRune(text[i:]), rune(-1)
		if i+6 <= len(text) {
			two = hexRune(text[i+6:])
		}
		switch {
		case one >= 0xD800 && one < 0xDC00 && two >= 0xDC00 && two < 0xE000:
			out = append(out, text[i:i+12]...)
			i += 12
		case one == 0 || one >= 0xD800 && one < 0xE000:
			out = append(out, `\ufffd`...)
			i += 6
		default:
			out = append(out, text[i], text[i+1])
			i += 2
		}
	}
	return out
}

// hexRune reads \uXXXX at the start of text, or returns -1.
func hexRune(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range text[2:6] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return -1
		}
	}
	return r
}
